import { expect, test } from 'vitest';
import { type Hedging, runHedging, type Visit } from '../../sim/hedging/hedging.ts';
import type { Cause } from '../../sim/hedging/slow-worlds.ts';

const visit: Visit = { reads: 40, endpoints: 8, everyMs: 3000 };
const day: Visit = { reads: 2000, endpoints: 8, everyMs: 1000 };

/** What one seed shows: the time below which a part of the reads is answered, and how many more were sent. */
async function measure(cause: Cause, length: Visit, hedging: Hedging, part: number) {
  const { latenciesMs, hedges } = await runHedging(cause, length, hedging, 1);
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const quantileMs = sorted[Math.floor(part * sorted.length)] ?? 0;
  return { quantileMs, more: hedges / latenciesMs.length };
}

test('a run is the same for the same seed', async () => {
  const run = () => runHedging('replica', day, 'endpoint', 7);
  expect(await run()).toEqual(await run());
});

test('all reads are answered', async () => {
  for (const cause of ['replica', 'read', 'network'] as const)
    expect((await runHedging(cause, visit, 'fixed', 1)).latenciesMs).toHaveLength(40);
});

test('against a slow replica, a day of hedging halves the 99th percentile for a twentieth more reads', async () => {
  const without = await measure('replica', day, 'none', 0.99);
  const { quantileMs, more } = await measure('replica', day, 'endpoint', 0.99);
  expect(quantileMs).toBeLessThan(0.6 * without.quantileMs);
  expect(more).toBeLessThan(0.05);
});

test('against a read that is slow by itself it does nothing', async () => {
  const without = await measure('read', day, 'none', 0.99);
  const { quantileMs, more } = await measure('read', day, 'endpoint', 0.99);
  expect(Math.abs(quantileMs / without.quantileMs - 1)).toBeLessThan(0.05);
  expect(more).toBeGreaterThan(0.02);
});

test('in a visit no endpoint is known well enough to hedge by', async () => {
  const without = await measure('replica', visit, 'none', 0.99);
  expect(await measure('replica', visit, 'endpoint', 0.99)).toEqual(without);
});

test('a full server is made slower by it', async () => {
  const without = await measure('overload', day, 'none', 0.95);
  const { quantileMs, more } = await measure('overload', day, 'endpoint', 0.95);
  expect(quantileMs).toBeGreaterThan(1.4 * without.quantileMs);
  expect(more).toBeLessThan(0.02);
});
