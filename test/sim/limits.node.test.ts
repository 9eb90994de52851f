import { expect, test } from 'vitest';
import { shapes } from '../../sim/limits/limit-server.ts';
import { type LimitJob, runLimits } from '../../sim/limits/run-limits.ts';

/** What a run shows: lost, sent, refused before the first answer, refused later, and when the last answer was there. */
async function run(own: Partial<LimitJob>): Promise<readonly number[]> {
  const { lost, sent, refused, refusedAtFirst, lastMs } = await runLimits({
    policy: 'steadfetch',
    shape: 'token bucket',
    refusal: 'bare 429',
    requests: 60,
    tabs: 1,
    seed: 1,
    ...own,
  });
  return [lost, sent, refusedAtFirst, refused - refusedAtFirst, Math.round(lastMs)];
}

test('React Query loses 20 of 60 queries at once to 10 a second, and 80 of 120', async () => {
  expect(await run({ policy: 'react-query' })).toEqual([20, 180, 50, 90, 7220]);
  expect(await run({ policy: 'react-query', requests: 120 })).toEqual([80, 420, 110, 270, 7220]);
});

test('of 120 queries at once to 10 a second none is lost', async () => {
  expect(await run({ requests: 120 })).toEqual([0, 232, 110, 2, 12381]);
});

/** For each limit and each way to say so: in one tab, and in ten. */
const cells: Readonly<Record<string, readonly (readonly number[])[]>> = {
  'bare 429, token bucket': [
    [0, 113, 50, 3, 5090],
    [0, 112, 50, 2, 5306],
  ],
  'bare 429, fixed window': [
    [0, 115, 50, 5, 6487],
    [0, 117, 50, 7, 6861],
  ],
  'bare 429, sliding window': [
    [0, 83, 20, 3, 5983],
    [0, 83, 20, 3, 6374],
  ],
  'bare 429, concurrency': [
    [0, 118, 56, 2, 10301],
    [0, 120, 56, 4, 11467],
  ],
  'Retry-After, token bucket': [
    [0, 113, 50, 3, 6020],
    [0, 115, 50, 5, 5911],
  ],
  'Retry-After, fixed window': [
    [0, 113, 50, 3, 8919],
    [0, 115, 50, 5, 9415],
  ],
  'Retry-After, sliding window': [
    [0, 80, 20, 0, 5249],
    [0, 80, 20, 0, 4974],
  ],
  'Retry-After, concurrency': [
    [0, 117, 56, 1, 10907],
    [0, 119, 56, 3, 11230],
  ],
  'RateLimit, token bucket': [
    [0, 110, 50, 0, 6119],
    [0, 110, 50, 0, 7334],
  ],
  'RateLimit, fixed window': [
    [0, 110, 50, 0, 6119],
    [0, 111, 50, 1, 11488],
  ],
  'RateLimit, sliding window': [
    [0, 80, 20, 0, 4420],
    [0, 80, 20, 0, 5433],
  ],
  'RateLimit, concurrency': [
    [0, 129, 56, 13, 25305],
    [0, 117, 56, 1, 21436],
  ],
};

test.each(
  (['bare 429', 'Retry-After', 'RateLimit'] as const).flatMap((refusal) =>
    shapes.map((shape) => [refusal, shape] as const),
  ),
)('before a limit that says %s, by a %s, nothing is lost', async (refusal, shape) => {
  const own = [await run({ refusal, shape }), await run({ refusal, shape, tabs: 10 })];
  expect(own).toEqual(cells[`${refusal}, ${shape}`]);
  expect(own.map(([lost]) => lost)).toEqual([0, 0]);
});

test('of 120 queries at once before a limit that the page may not read none is lost: failures slow the release down', async () => {
  const own = await run({ requests: 120, shape: 'fixed window', refusal: 'hidden' });
  expect(own).toEqual([0, 425, 110, 195, 12_514]);
});
