import { expect, test } from 'vitest';
import { pagePolicies } from '../../sim/page/page-policies.ts';
import { runUser } from '../../sim/user/run-user.ts';
import { readUserFigures, wellFromMs } from '../../sim/user/user-figures.ts';
import type { UserScenario } from '../../sim/user/user-scenario.ts';

const scenario: UserScenario = {
  kind: '503',
  queries: 1,
  order: 'at once',
  page: 'fresh',
  timeoutMs: 10_000,
  outageS: 2,
  seed: 1,
};

test("React Query's default asks at 0, 1 and 3 s: so it answers 1.17 s after an outage of 2 s", async () => {
  // Each request takes 50 ms on its way and, where the server is well, 20 ms there.
  expect(await runUser(scenario, pagePolicies['react-query'])).toEqual({
    queries: [{ askedMs: 0, settledMs: 3170, isOk: true }],
    requests: 3,
  });
});

test("React Query's default gives up after 7 s of an outage", async () => {
  const record = await runUser({ ...scenario, outageS: 10 }, pagePolicies['react-query']);
  expect(record).toEqual({ queries: [{ askedMs: 0, settledMs: 7200, isOk: false }], requests: 4 });
});

test('a request that hangs is lost: it is answered after its time limit, or never without one', async () => {
  const hang = { ...scenario, kind: 'hang' } as const;
  const limited = await runUser(hang, pagePolicies['react-query']);
  expect(limited).toEqual({
    queries: [{ askedMs: 0, settledMs: 11_070, isOk: true }],
    requests: 2,
  });
  const bare = await runUser({ ...hang, timeoutMs: Infinity }, pagePolicies['react-query']);
  expect(bare).toEqual({ queries: [{ askedMs: 0 }], requests: 1 });
});

test('plain jitter obeys Retry-After, in whole seconds, and a page is up right after it', async () => {
  const told = { ...scenario, kind: 'retry-after', queries: 2, outageS: 1.5 } as const;
  const { queries, requests } = await runUser(told, pagePolicies['full-jitter-8']);
  expect(queries.map(({ settledMs }) => settledMs)).toEqual([2120, 2120]);
  expect(requests).toBe(4);
});

test('a staggered page asks within half of a short outage, and first at its start', async () => {
  const staggered = { ...scenario, queries: 6, order: 'staggered' } as const;
  const { queries } = await runUser(staggered, pagePolicies['react-query']);
  const asked = queries.map(({ askedMs }) => askedMs);
  expect(asked[0]).toBe(0);
  expect(asked).toEqual(asked.toSorted((a, b) => a - b));
  expect(asked.at(-1)).toBeLessThanOrEqual(1000);
});

test('figures are those of all runs: the first answer from when the server is well, and the last from the first', () => {
  const ok = (askedMs: number, settledMs: number) => ({ askedMs, settledMs, isOk: true });
  const records = [
    { queries: [ok(0, 3000), ok(0, 4000)], requests: 4 },
    { queries: [ok(0, 6000), ok(0, 2500)], requests: 6 },
    { queries: [ok(0, 5000), { askedMs: 0, settledMs: 7000, isOk: false }], requests: 8 },
  ];
  expect(readUserFigures(records, [2000, 2000, 2000])).toEqual({
    answered: 5 / 6,
    firstMedianMs: 1000,
    firstP95Ms: 3000,
    firstMeanMs: 4500 / 3,
    wholeMedianMs: 3500,
    wholeP95Ms: Infinity,
    inOrder: 2 / 3,
    requests: 6,
  });
});

test('nothing can know that a server is well before the time limit of what hangs', () => {
  expect(wellFromMs({ ...scenario, kind: 'hang' }, 2)).toBe(10_000);
  expect(wellFromMs({ ...scenario, kind: 'hang' }, 20)).toBe(20_000);
  expect(wellFromMs(scenario, 2)).toBe(2000);
});

test('Steadfetch answers a page of six after an outage of 5 s, and twice with the same seed alike', async () => {
  const page = { ...scenario, queries: 6, outageS: 5 };
  const record = await runUser(page, pagePolicies.steadfetch);
  expect(record.queries.map(({ isOk }) => isOk)).toEqual(Array.from({ length: 6 }, () => true));
  expect(await runUser(page, pagePolicies.steadfetch)).toEqual(record);
});

test.each([
  [1, { steadfetch: 10, 'react-query': 10 }],
  [2, { steadfetch: 10, 'react-query': 10 }],
  [5, { steadfetch: 10, 'react-query': 10 }],
  [10, { steadfetch: 3, 'react-query': 0 }],
])(
  'a lone page whose server answers 500 for %d s has its answer in as many of ten runs as with React Query alone, or more, and its error within 10 s',
  async (outageS, answered) => {
    const told = { steadfetch: 0, 'react-query': 0 };
    const failedAfterMs: number[] = [];
    for (const policy of ['steadfetch', 'react-query'] as const) {
      for (let seed = 1; seed <= 10; seed++) {
        const outage = { ...scenario, kind: '500', outageS, seed } as const;
        const { queries } = await runUser(outage, pagePolicies[policy]);
        for (const { isOk, settledMs = Infinity } of queries) {
          if (isOk) told[policy]++;
          else failedAfterMs.push(settledMs);
        }
      }
    }
    expect(Math.max(0, ...failedAfterMs)).toBeLessThanOrEqual(10_000);
    expect(told).toEqual(answered);
  },
);

test('a probe that hung while its server came back is sent again at once: its user need not wait for a backoff as well', async () => {
  const page = { kind: 'hang', queries: 2, order: 'staggered', page: 'fresh' } as const;
  // In these the server is back after 50 s, and the other query is answered first.
  for (const seed of [2, 24, 77]) {
    const hang = { ...page, timeoutMs: 10_000, outageS: 50, seed };
    const { queries } = await runUser(hang, pagePolicies.steadfetch);
    for (const { isOk, askedMs, settledMs = Infinity } of queries) {
      expect(isOk).toBe(true);
      expect(settledMs - askedMs).toBeLessThanOrEqual(60_000);
    }
  }
});

test('a fresh page of 30 whose server takes 1.2 s for each answer is whole within 9 s: nobody knows that it is slow', async () => {
  const page = { kind: '503', queries: 30, order: 'at once', page: 'fresh' } as const;
  const slow = { ...page, timeoutMs: 10_000, answerMs: 1200 };
  const record = await runUser({ ...slow, outageS: 20, seed: 1 }, pagePolicies.steadfetch);
  const { answered, wholeP95Ms } = readUserFigures([record], [20_000]);
  expect(answered).toBe(1);
  expect(wholeP95Ms).toBeLessThan(9000);
});

test('in a page, a client has its own retries and React Query has none: ky asks three times', async () => {
  const requests = async (
    policy: 'ky' | 'axios-retry' | 'cockatiel' | 'none',
  ): Promise<number[]> => {
    const record = await runUser({ ...scenario, queries: 6, outageS: 20 }, pagePolicies[policy]);
    return [record.requests, record.queries.filter(({ isOk }) => isOk === false).length];
  };
  // An open breaker of cockatiel lets nothing through; it opens after five of the six.
  expect(await requests('none')).toEqual([6, 6]);
  expect(await requests('ky')).toEqual([18, 6]);
  expect(await requests('axios-retry')).toEqual([24, 6]);
  expect(await requests('cockatiel')).toEqual([6, 6]);
});
