import { expect, test } from 'vitest';
import { type Figures, readFigures } from '../../sim/figures/figures.ts';
import { defaultScenario, type OutageKind, type Scenario } from '../../sim/model/scenario.ts';
import { policies, type PolicyName } from '../../sim/policies/by-name.ts';
import { runCell } from '../../sim/run/run-cell.ts';

/** A smaller storm under a time limit of 2 s: half the tabs, and less time before and after. */
async function storm(policy: PolicyName, changes: Partial<Scenario> = {}): Promise<Figures> {
  const scenario = {
    ...defaultScenario,
    timeoutS: 2,
    tabs: 500,
    warmUpS: 20,
    afterS: 40,
    ...changes,
  };
  return readFigures(scenario, await runCell(scenario, policies[policy]));
}

test('without retries, what is sent is what is needed, and recovery is immediate', async () => {
  const figures = await storm('none');
  expect(figures.requests).toBeLessThanOrEqual(figures.operations);
  expect(figures.endWellFromS).toBe(0);
  expect(figures.failedAfterRecovery).toBe(0);
});

test("React Query's default holds a server down after its outage, under a limit of 2 s", async () => {
  const figures = await storm('react-query');
  expect(figures.outageRatio).toBeGreaterThan(3.4);
  expect(figures.endWellFromS).toBeNull();
  expect(figures.failedAfterRecovery).toBeGreaterThan(0.9);
});

test('under a limit of 10 s, no answer comes too late: the same server comes back', async () => {
  const figures = await storm('react-query', { timeoutS: 10, afterS: 60 });
  expect(figures.outageRatio).toBeGreaterThan(3.4);
  expect(figures.endWellFromS).toBe(0);
});

test('three retries with full jitter let a server come back from 503, but not from a hang', async () => {
  expect(await storm('full-jitter')).toMatchObject({ endWellFromS: 0, failedAfterRecovery: 0 });
  expect(await storm('full-jitter', { kind: 'hang' })).toMatchObject({ endWellFromS: null });
});

// A hang loses one of 1,545: the limit of a second attempt is twice as long, for servers that are slow by nature.
test.each([
  ['503', 4758, 1],
  ['hang', 3184, 0.999_352_960_207_052_8],
] as const)(
  'under its default limit, Steadfetch answers what was asked in an outage, and new requests at once (%s)',
  async (kind, outageRequests, askedInOutageOk) => {
    const figures = await storm('steadfetch', { kind, timeoutS: 10, warmUpS: 30, afterS: 60 });
    expect(figures).toMatchObject({
      outageRequests,
      stillWaiting: 3091,
      askedInOutageOk,
      failedAfterRecovery: 0,
      endWellFromS: 0,
    });
  },
);

test.each([
  ['503', 177],
  ['hang', 154],
] as const)(
  'in an outage, declared background work asks little more than once for what is needed (%s)',
  async (kind, outageRequests) => {
    const changes = { kind, background: 1, rate: 0.01, timeoutS: 10, warmUpS: 30 } as const;
    expect(await storm('steadfetch', changes)).toMatchObject({ outageRequests });
  },
);

test('a page load is a fresh page: it asks for all at once, and for nothing once its user has left', async () => {
  const changes = { pageSize: 6, leaveS: 20, endpoints: 6, kind: 'hang', outageS: 30 } as const;
  const scenario = { ...defaultScenario, ...changes, tabs: 60, warmUpS: 5, afterS: 20 };
  const { operations } = await runCell(scenario, policies.none);
  const moments = new Map<number, number>();
  for (const { askedMs } of operations) moments.set(askedMs, (moments.get(askedMs) ?? 0) + 1);
  expect(new Set(moments.values())).toEqual(new Set([6]));
  expect(operations.some(({ leftMs }) => leftMs !== undefined)).toBe(true);
  expect(operations.every(({ leftMs, isOk }) => leftMs === undefined || isOk === undefined)).toBe(
    true,
  );
});

test('an endpoint that is always broken is not counted, and fails no other one', async () => {
  const changes = { kind: 'none', endpoints: 20, brokenEndpoints: 1, tabs: 50 } as const;
  const figures = await storm('none', changes);
  expect(figures).toMatchObject({ failed: 0, wholeRatio: 1 });
});

test('Steadfetch fails nothing in a blip of 2 s', async () => {
  expect(await storm('steadfetch', { outageS: 2 })).toMatchObject({ failed: 0 });
});

test.each([
  [0.5, 1],
  [0.7, 2],
  [0.85, 3],
])(
  'connections that break are the same storm as fast 503, to the last digit (load %s)',
  async (load, seed) => {
    const scenario = { ...defaultScenario, timeoutS: 2, load, seed, tabs: 100, afterS: 70 };
    const run = (kind: OutageKind) => runCell({ ...scenario, kind }, policies.steadfetch);
    expect(await run('drop')).toEqual(await run('503'));
  },
);

test('the same seed gives the same storm, and another seed another one', async () => {
  const small = { tabs: 50, outageS: 5, afterS: 10 };
  const first = await storm('steadfetch', small);
  expect(await storm('steadfetch', small)).toEqual(first);
  expect(await storm('steadfetch', { ...small, seed: 2 })).not.toEqual(first);
});
