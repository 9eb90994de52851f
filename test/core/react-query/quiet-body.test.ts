import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

/** An answer whose body begins at once, and goes on after this time. */
function quietFor(ms: number): Response {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setTimeout>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode('"he'));
      timer = setTimeout(() => {
        controller.enqueue(encoder.encode('re"'));
        controller.close();
      }, ms);
    },
    cancel: () => clearTimeout(timer),
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

async function load(quietMs: number, own: object = {}) {
  const sent: number[] = [];
  const send = async (): Promise<Response> => {
    sent.push(rig.elapsed());
    return quietFor(quietMs);
  };
  const rig: Rig = createRig({ health: {}, fetch: send });
  const seen: unknown[] = [];
  new QueryObserver(rig.client, {
    queryKey: ['page'],
    queryFn: ({ signal }) => rig.steady.json('http://api.example/a', { signal }),
    ...own,
  }).subscribe(({ data, isError }) => {
    if (seen.length === 0 && (data !== undefined || isError)) seen.push(data, rig.elapsed());
  });
  await rig.time.advance(150_000);
  rig.end();
  return { seen, sent };
}

// React Query alone waits for any body. The next attempt waits twice as long, up to 40 s; the last one 60 s.
test.each([
  [9000, {}, 9000],
  [12_000, {}, 22_500],
  [19_000, {}, 29_500],
  [35_000, {}, 66_500],
  [12_000, { retry: false }, 12_000],
  [59_000, { retry: false }, 59_000],
])('a query whose body is quiet for %i ms (%o) has it after %i ms', async (quietMs, own, at) => {
  expect((await load(quietMs, own)).seen).toEqual(['here', at]);
});

test('a body that never goes on fails at the deadline', async () => {
  const { seen, sent } = await load(1_000_000);
  expect([seen, sent]).toEqual([
    [undefined, 90_000],
    [0, 10_500, 31_500, 73_500],
  ]);
});
