import { expect, test } from 'vitest';
import { runReads } from '../../sim/latency-limit/run-reads.ts';
import { runUser } from '../../sim/user/run-user.ts';
import { pagePolicies } from '../../sim/page/page-policies.ts';

const short = { latencyLimit: { leastMs: 1000, attempts: 'all' } } as const;

test('a short limit brings the answer of a lost read sooner, once its endpoint is known', async () => {
  const run = async (config?: typeof short): Promise<number[]> => {
    const scenario = { kind: 'hang', queries: 1, order: 'at once', timeoutMs: 10_000 } as const;
    const record = await runUser(
      { ...scenario, page: 'used', outageS: 0.5, seed: 1 },
      pagePolicies.steadfetch,
      config,
    );
    return record.queries.map(({ settledMs = NaN }) => Math.floor(settledMs / 1000));
  };
  expect(await run()).toEqual([11]);
  expect(await run(short)).toEqual([2]);
});

test('a short limit sends reads again that are slow by themselves, and today none is', async () => {
  const job = { cause: 'read', lostShare: 0, reads: 300, everyMs: 1000, seed: 1 } as const;
  const run = async (config?: typeof short): Promise<number[]> => {
    const { failed, requests } = await runReads({ ...job, ...(config && { config }) });
    return [failed, requests];
  };
  expect(await run()).toEqual([0, 300]);
  expect(await run(short)).toEqual([0, 304]);
});
