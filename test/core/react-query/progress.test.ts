import { mutationOptions, retry, type SteadyJson } from 'steadfetch';
import { expect, test } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createRig, type Rig } from './rig.tsx';

// The deadline says that no attempt starts later than that: after the start or, of what reads, its last progress.

const pages = Array.from({ length: 12 }, (_, page) => page);
const pathOf = (page: number): string => `/pages/${page}`;

/** Each page takes 9 s, and page 10 fails at first: that is 99 s after the start, and the deadline is 90 s. */
function planHiccup(rig: Rig): void {
  for (const page of pages) {
    const plan = { afterMs: 9000 };
    const failing = page === 10 ? [{ ...plan, status: 503 }] : [];
    rig.server.plan(pathOf(page), ...failing, ...Array.from({ length: 9 }, () => plan));
  }
}

type Send = (page: number, json: SteadyJson, signal: AbortSignal | null) => Promise<unknown>;

const get: Send = (page, json, signal) => json(pathOf(page), { signal });

const allPages = async (json: SteadyJson, signal: AbortSignal | null): Promise<number> => {
  for (const page of pages) await get(page, json, signal);
  return pages.length;
};

const infinite = (rig: Rig, send: Send = get): Promise<unknown> =>
  rig.client.fetchInfiniteQuery({
    queryKey: ['pages'],
    queryFn: ({ pageParam, signal }) => send(pageParam, rig.steady.json, signal),
    initialPageParam: 0,
    getNextPageParam: (_last, _all, page) => page + 1,
    pages: pages.length,
  });

/** What makes requests one after the other, and how many of them it sends in the end. */
const makers: readonly (readonly [
  name: string,
  run: (rig: Rig) => Promise<unknown>,
  sent: number,
])[] = [
  ['an infinite query goes on at the page that has failed', (rig) => infinite(rig), 13],
  [
    'an infinite query whose requests do not have its signal, too',
    (rig) => infinite(rig, (page, json) => json(pathOf(page))),
    13,
  ],
  [
    'an infinite query of another client, too',
    (rig) =>
      infinite(rig, async (page) => {
        const response = await rig.server.fetch(pathOf(page));
        if (!response.ok) throw new Error(`status ${response.status}`);
        return response.json();
      }),
    13,
  ],
  [
    'a query that makes twelve requests begins anew',
    (rig) =>
      rig.client.fetchQuery({
        queryKey: ['all'],
        queryFn: ({ signal }) => allPages(rig.steady.json, signal),
      }),
    23,
  ],
  [
    'retry begins anew',
    (rig) => retry(rig.steady, ({ signal }) => allPages(rig.steady.json, signal)),
    23,
  ],
];

test.each(makers)('a hiccup after 99 s of progress is retried: %s', async (_, run, sent) => {
  const rig = createRig();
  planHiccup(rig);
  const result = observe(run(rig));
  await rig.time.advance(400_000);
  expect(result.state).toBe('resolved');
  expect(rig.server.sent).toHaveLength(sent);
});

test('a mutation is not sent again after its deadline, whatever it has done before', async () => {
  const rig = createRig();
  planHiccup(rig);
  const options = mutationOptions(rig.steady, {
    mutationFn: (_: undefined, { json }) => allPages(json, null),
  });
  const result = observe(
    rig.client.getMutationCache().build(rig.client, options).execute(undefined),
  );
  await rig.time.advance(400_000);
  expect(result.error).toMatchObject({ decision: { kind: 'stop', reason: 'deadline' } });
  expect(rig.server.sent).toHaveLength(11);
});

test('the deadline of a page that does not come is counted from the page before it', async () => {
  const rig = createRig({ policy: { maxRetries: Infinity } });
  rig.server.plan('/pages/0', { afterMs: 60_000, status: 200 });
  rig.server.plan('/pages/1', ...Array.from({ length: 99 }, () => 503));
  const result = observe(
    infinite(rig, (page, json, signal) => json(pathOf(page), { signal, timeout: 100_000 })),
  );
  await rig.time.advance(400_000);
  expect(result.error).toMatchObject({ decision: { reason: 'deadline' } });
  // After waits of 0.5, 1, 2, 4, 8 and 15 s: the next one would end after 60 + 90 s.
  expect(rig.server.times('/pages/1').at(-1)).toBe(60_000 + 90_000 - 14_500);
});

test('pages that have one URL are told apart by what is posted', async () => {
  const rig = createRig({ apis: [{ match: '/graphql', idempotent: true }] });
  for (const page of pages)
    rig.server.plan('/graphql', ...(page === 10 ? [{ status: 503, afterMs: 9000 }] : []), {
      afterMs: 9000,
    });
  const result = observe(
    infinite(rig, (page, json, signal) =>
      json('/graphql', { method: 'POST', json: { page }, signal }),
    ),
  );
  await rig.time.advance(400_000);
  expect(result.state).toBe('resolved');
  expect(rig.server.sent).toHaveLength(13);
});

test.each([true, false])(
  'what each attempt asks for anew is no progress: the retries end (linked: %s)',
  async (isLinked) => {
    const rig = createRig();
    rig.server.plan('/pages/1', ...Array.from({ length: 99 }, () => 503));
    const result = observe(
      infinite(rig, async (page, json, signal) => {
        const link = isLinked ? { signal } : {};
        await json('/token', link);
        return json(pathOf(page), link);
      }),
    );
    await rig.time.advance(400_000);
    expect(result.error).toMatchObject({ decision: { reason: 'max-retries' } });
    expect(rig.server.times('/pages/1')).toHaveLength(4);
  },
);

test('time paused before the last progress does not lengthen the deadline after it', async () => {
  const rig = createRig({ health: {}, policy: { maxRetries: Infinity, timeout: Infinity } });
  // Another request to page 0 has failed, so it waits for a probe.
  rig.server.plan('/pages/0', 'network', 'network', 'network', 'network');
  rig.server.plan('/pages/1', ...Array.from({ length: 99 }, () => 429));
  const result = observe(infinite(rig));
  await rig.time.advance(800_000);
  expect(result.error).toMatchObject({ decision: { reason: 'deadline' } });
  const [first = 0] = rig.server.times('/pages/1');
  expect(rig.server.times('/pages/1').at(-1)).toBeLessThanOrEqual(first + 90_000);
});
