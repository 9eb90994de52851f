import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

const api = 'http://api.example';

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

type Read = (path: string) => Promise<string>;

const pages: Readonly<Record<string, (read: Read) => Promise<unknown>>> = {
  'reads it': (read) => read('/a'),
  'makes do without it': (read) => read('/a').catch(() => 'nothing'),
  'reads two of them, and throws an error of its own': async (read) => {
    const all = await Promise.allSettled([read('/a'), read('/b')]);
    if (all.some(({ status }) => status === 'rejected')) throw new Error('No page');
    return 'here';
  },
  'reads it for as long as it takes by itself': (read) =>
    Promise.race([
      read('/a'),
      new Promise((_, reject) => {
        setTimeout(() => reject(new Error('Too late')), 60_000);
      }),
    ]),
};

async function load(quietMs: number, page: (read: Read) => Promise<unknown>, own: object = {}) {
  const sent: number[] = [];
  const send = async (): Promise<Response> => {
    sent.push(rig.elapsed());
    return quietFor(quietMs);
  };
  const rig: Rig = createRig({ health: {}, fetch: send });
  const seen: unknown[] = [];
  new QueryObserver(rig.client, {
    queryKey: ['page'],
    queryFn: ({ signal }) => page((path) => rig.steady.json(api + path, { signal })),
    ...own,
  }).subscribe(({ data, isError }) => {
    if (seen.length === 0 && (data !== undefined || isError)) seen.push(data, rig.elapsed());
  });
  await rig.time.advance(150_000);
  rig.end();
  return { seen, sent };
}

// React Query alone waits for any body.
test.each(Object.entries(pages))(
  'a query that %s has a body that was quiet for 12 s after 12 s, as with React Query alone',
  async (_, page) => {
    expect((await load(12_000, page)).seen).toEqual(['here', 12_000]);
    expect((await load(12_000, page, { retry: false })).seen).toEqual(['here', 12_000]);
  },
);

test('the next attempt waits twice as long', async () => {
  const { seen, sent } = await load(35_000, (read) => read('/a'));
  expect([seen, sent]).toEqual([
    ['here', 55_500],
    [0, 20_500],
  ]);
});

test('a body that never goes on fails after four attempts', async () => {
  const { seen, sent } = await load(1_000_000, (read) => read('/a'));
  expect([seen, sent]).toEqual([
    [undefined, 143_500],
    [0, 20_500, 61_500, 103_500],
  ]);
});
