import { expect, test } from 'vitest';
import { type Figures, readFigures } from '../../sim/figures/figures.ts';
import { defaultScenario, type OutageKind, type Scenario } from '../../sim/model/scenario.ts';
import { policies, type PolicyName } from '../../sim/policies/by-name.ts';
import { runCell } from '../../sim/run/run-cell.ts';

/** A smaller storm: half the tabs, and less time before and after. */
async function storm(policy: PolicyName, changes: Partial<Scenario> = {}): Promise<Figures> {
  const scenario = { ...defaultScenario, tabs: 500, warmUpS: 20, afterS: 40, ...changes };
  return readFigures(scenario, await runCell(scenario, policies[policy]));
}

test('without retries, what is sent is what is needed, and recovery is immediate', async () => {
  const figures = await storm('none');
  expect(figures.requests).toBeLessThanOrEqual(figures.operations);
  expect(figures.endWellFromS).toBe(0);
  expect(figures.failedAfterRecovery).toBe(0);
});

test("React Query's default holds a server down after its outage has ended", async () => {
  const figures = await storm('react-query');
  expect(figures.outageRatio).toBeGreaterThan(3.4);
  expect(figures.endWellFromS).toBeNull();
  expect(figures.failedAfterRecovery).toBeGreaterThan(0.9);
});

test('three retries with full jitter let a server come back from 503, but not from a hang', async () => {
  expect(await storm('full-jitter')).toMatchObject({ endWellFromS: 0, failedAfterRecovery: 0 });
  expect(await storm('full-jitter', { kind: 'hang' })).toMatchObject({ endWellFromS: null });
});

test.each(['503', 'hang'] as const)(
  'Steadfetch neither adds to an outage (%s) nor fails what spare capacity can serve after it',
  async (kind) => {
    // The whole run: what an outage costs is spread over all of it.
    const figures = await storm('steadfetch', { kind, warmUpS: 30, afterS: 130 });
    expect(figures.outageRatio).toBeLessThanOrEqual(1.1);
    expect(figures.endWellFromS).toBeLessThanOrEqual(2);
    expect(figures.outageOkOfBound).toBeGreaterThanOrEqual(0.75);
  },
);

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
    const scenario = { ...defaultScenario, load, seed, tabs: 100, afterS: 70 };
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
