import { backoffDelay, type BackoffType } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { almostOne } from './samples.ts';

interface Shape {
  readonly backoff: BackoffType;
  readonly baseMs?: number;
  readonly factor?: number;
  readonly capMs?: number;
}

/** The waits before retry 1, 2, 3, ... when every draw is `u`. */
function expectDelays(shape: Shape, u: number, expected: readonly number[]): void {
  const series: number[] = [];
  for (let retry = 1; retry <= expected.length; retry++) {
    const input = { baseMs: 1000, factor: 2, capMs: 30_000, ...shape, retry };
    series.push(backoffDelay({ ...input, previousBackoffMs: series.at(-1) }, () => u));
  }
  expect(series, `${JSON.stringify(shape)} at ${u}: ${series.join(', ')}`).toEqual(expected);
}

describe('full: from 0 to the step', () => {
  const backoff = 'full';
  test.each([
    [0, [0, 0, 0, 0, 0, 0, 0]],
    [0.4, [400, 800, 1600, 3200, 6400, 12_000, 12_000]],
    [0.5, [500, 1000, 2000, 4000, 8000, 15_000, 15_000]],
    [0.6, [600, 1200, 2400, 4800, 9600, 18_000, 18_000]],
    [0.999, [999, 1998, 3996, 7992, 15_984, 29_970, 29_970]],
  ])('at %f', (u, delays) => expectDelays({ backoff }, u, delays));
});

describe('equal: from half the step to the step', () => {
  const backoff = 'equal';
  test.each([
    [0, [500, 1000, 2000, 4000, 8000, 15_000, 15_000]],
    [0.4, [700, 1400, 2800, 5600, 11_200, 21_000, 21_000]],
    [0.5, [750, 1500, 3000, 6000, 12_000, 22_500, 22_500]],
    [0.6, [800, 1600, 3200, 6400, 12_800, 24_000, 24_000]],
    [0.999, [999, 1999, 3998, 7996, 15_992, 29_985, 29_985]],
  ])('at %f', (u, delays) => expectDelays({ backoff }, u, delays));
});

describe('decorrelated: from the base to three times the wait before', () => {
  const backoff = 'decorrelated';
  test.each([
    [0, [1000, 1000, 1000, 1000, 1000, 1000, 1000]],
    [0.4, [1800, 2760, 3912, 5294, 6952, 8942, 11_330, 12_600, 12_600]],
    [0.5, [2000, 3500, 5750, 9125, 14_187, 15_500, 15_500]],
    [0.6, [2200, 4360, 8248, 15_246, 18_400, 18_400, 18_400]],
    [0.999, [2998, 8986, 26_932, 29_971, 29_971]],
  ])('at %f', (u, delays) => expectDelays({ backoff }, u, delays));
});

describe('proportional: the step, give or take a quarter', () => {
  const backoff = 'proportional';
  test.each([
    [0, [750, 1500, 3000, 6000, 12_000, 18_000, 18_000]],
    [0.4, [950, 1900, 3800, 7600, 15_200, 22_800, 22_800]],
    [0.5, [1000, 2000, 4000, 8000, 16_000, 24_000, 24_000]],
    [0.6, [1050, 2100, 4200, 8400, 16_800, 25_200, 25_200]],
    [0.999, [1249, 2499, 4998, 9996, 19_992, 29_988, 29_988]],
  ])('at %f', (u, delays) => expectDelays({ backoff }, u, delays));
});

describe('none: the step', () => {
  test.each([0, 0.4, 0.5, 0.6, 0.999])('at %f', (u) => {
    expectDelays({ backoff: 'none' }, u, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });
});

describe('the factor', () => {
  test('of 3 triples each step', () => {
    expectDelays({ backoff: 'none', factor: 3 }, 0, [1000, 3000, 9000, 27_000, 30_000]);
    expectDelays({ backoff: 'full', factor: 3 }, 0.5, [500, 1500, 4500, 13_500, 15_000]);
  });

  test('of 1 keeps the step', () => {
    expectDelays({ backoff: 'none', factor: 1 }, 0, [1000, 1000, 1000]);
    expectDelays({ backoff: 'equal', factor: 1 }, 0.5, [750, 750, 750]);
  });

  test('may be a fraction; the wait is in whole milliseconds, rounded down', () => {
    expectDelays({ backoff: 'none', factor: 1.5 }, 0, [1000, 1500, 2250, 3375, 5062, 7593]);
  });
});

const jittered = ['full', 'equal', 'decorrelated', 'proportional'] as const;
const shapes = [...jittered, 'none'] as const;

describe.each(shapes)('%s', (backoff) => {
  const far = { backoff, baseMs: 1000, factor: 2, capMs: 30_000, retry: 100_000 };

  test('a base of 0 is no wait, however many retries there have been', () => {
    expectDelays({ backoff, baseMs: 0 }, 0.5, [0, 0, 0]);
    expect(backoffDelay({ ...far, baseMs: 0, previousBackoffMs: 0 }, () => 0.5)).toBe(0);
  });

  test('a cap of 0 is no wait', () => {
    expectDelays({ backoff, baseMs: 0, capMs: 0 }, almostOne, [0, 0, 0]);
  });

  test('never passes a cap below the base, as policies laid over one another can make it', () => {
    const input = { ...far, baseMs: 5000, capMs: 2000, retry: 1 };
    for (const u of [0, 0.5, almostOne])
      expect(backoffDelay(input, () => u)).toBeLessThanOrEqual(2000);
  });

  test('never passes the cap, even when the step has long since been past all numbers', () => {
    const delayMs = backoffDelay({ ...far, previousBackoffMs: 30_000 }, () => almostOne);
    expect(delayMs).toBeLessThanOrEqual(30_000);
    expect(delayMs).toBeGreaterThanOrEqual(29_999);
  });
});

describe.each(jittered)('%s, when the step has long passed the cap', (backoff) => {
  const input = { backoff, baseMs: 1000, factor: 2, capMs: 30_000, previousBackoffMs: 30_000 };
  // A power of two, so that every draw and product is exact.
  const draws = 8192;
  const delays = Array.from({ length: draws }, (_, i) =>
    backoffDelay({ ...input, retry: 20 }, () => (i + 0.5) / draws),
  );

  test('no two of 8192 evenly spaced draws wait equally long, and none waits for the cap', () => {
    expect(new Set(delays).size).toBe(draws);
    expect(delays).not.toContain(30_000);
  });

  test('the waits are spread evenly: cap first, jitter after', () => {
    const steps = delays.slice(1).map((delayMs, i) => delayMs - (delays[i] ?? NaN));
    const low = Math.min(...steps);
    const high = Math.max(...steps);
    // Rounding to whole milliseconds makes neighbours differ by one at most.
    expect(high - low).toBeLessThanOrEqual(1);
    expect(low).toBeGreaterThan(0);
  });
});
