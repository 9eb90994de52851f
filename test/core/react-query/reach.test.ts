import { type QueryFunction, QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';
import { watchConnectivity } from 'steadfetch';

const url = 'http://api.example/items/1';
const json = { headers: { 'content-type': 'application/json' } };

const cutOff = (): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"a":'));
        controller.error(new TypeError('terminated'));
      },
    }),
    json,
  );

/** When a component of the query has its data, within 20 s. */
async function whenShown(
  rig: Rig,
  queryFn: QueryFunction<string> = ({ signal }) => rig.steady.json<string>(url, { signal }),
  options: object = {},
): Promise<number | undefined> {
  let shownAt: number | undefined;
  const query = { queryKey: ['item'], queryFn, ...options };
  new QueryObserver(rig.client, query).subscribe(({ data, isError }) => {
    expect(isError).toBe(false);
    if (data) shownAt ??= rig.elapsed();
  });
  await rig.time.advance(20_000);
  return shownAt;
}

/** Failures that are no sign of an outage, so nothing is paused after them, and no probe finds their end. */
const failures: Record<string, () => Response> = {
  'a 408': () => new Response('', { status: 408 }),
  'the 511 of a portal': () => new Response('', { status: 511 }),
  'a 404 that the app retries': () => new Response('', { status: 404 }),
  'a 423 that the app retries': () => new Response('', { status: 423 }),
  'a page in the place of JSON': () =>
    new Response('<p>', { headers: { 'content-type': 'text/html' } }),
  'JSON that is broken': () => new Response('{"a":', json),
  'a body that breaks off': cutOff,
  'what the queryFn itself refuses': () => new Response('{"a":"refused"}', json),
};

/** React Query alone sends after 0, 1, 3 and 7 s. So it has its data by then. */
test.each(
  Object.entries(failures).flatMap(([what, fail]) =>
    [900, 2900, 6900].map((forMs) => [what, forMs, fail] as const),
  ),
)('%s for %i ms is outlived, as by React Query alone', async (_what, forMs, fail) => {
  const rig = createRig({
    health: {},
    policy: {
      shouldRetry: (failure) =>
        failure.kind === 'http' && [404, 423].includes(failure.status) ? true : undefined,
    },
    fetch: async () => (rig.elapsed() < forMs ? fail() : new Response('{"a":"data"}', json)),
  });
  const queryFn = async ({ signal }: { readonly signal: AbortSignal }) => {
    const { a } = await rig.steady.json<{ a: string }>(url, { signal });
    if (a === 'refused') throw new Error('refused');
    return a;
  };
  const shownAt = await whenShown(rig, queryFn);
  const sentAt = [0, 1025, 3075, 7175];
  expect(shownAt).toBe(sentAt.find((at) => at >= forMs));
});

test.each([500, 503, 507, 525, 561, 599])(
  'a %i for 6.9 s is outlived, as by React Query alone',
  async (status) => {
    const rig = createRig({
      health: {},
      fetch: async () =>
        rig.elapsed() < 6900 ? new Response('', { status }) : new Response('"data"', json),
    });
    expect(await whenShown(rig)).toBe(7150);
  },
);

test('answers that the page may not read for 6.9 s are outlived, as by React Query alone', async () => {
  const rig = createRig({
    health: {},
    connectivity: watchConnectivity({ check: 'http://api.example/ping' }),
    async fetch(input) {
      if ((input as string).endsWith('/ping') || rig.elapsed() >= 6900)
        return new Response('"data"', json);
      throw new TypeError('Failed to fetch');
    },
  });
  expect(await whenShown(rig)).toBe(7100);
});

test.each([
  ['retry: 1 of its own', { retry: 1 }],
  ['maxRetries: 1', {}, { maxRetries: 1 }],
] as const)('a 503 for 900 ms is outlived by a query with %s', async (_, options, policy?) => {
  const rig = createRig({
    fetch: async () =>
      new Response(
        rig.elapsed() < 900 ? '' : '"data"',
        rig.elapsed() < 900 ? { status: 503 } : json,
      ),
  });
  const own = { ...options, ...(policy && rig.steady.queryPolicy(policy)) };
  expect(await whenShown(rig, undefined, own)).toBe(1025);
});
