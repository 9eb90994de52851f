import { seededRandom } from 'steadfetch/testing';
import { expect, test } from 'vitest';

const take = (count: number, random: () => number) => Array.from({ length: count }, random);

test('the numbers are those of the reference implementation in C', () => {
  expect(take(3, seededRandom(0))).toEqual([
    1_144_304_738 / 2 ** 32,
    1_416_247 / 2 ** 32,
    958_946_056 / 2 ** 32,
  ]);
  expect(seededRandom(2 ** 32 - 1)()).toBe(3_850_105_811 / 2 ** 32);
  expect(take(1_000_000, seededRandom(12_345)).at(-1)).toBe(1_596_565_394 / 2 ** 32);
});

test('seeds next to each other differ from the first number on', () => {
  expect([1, 2, 3].map((seed) => seededRandom(seed)())).toEqual([
    0.6270739405881613, 0.7342509443406016, 0.7202267837710679,
  ]);
});

test('the same seed gives the same numbers, and two generators do not disturb each other', () => {
  const one = seededRandom(42);
  const other = seededRandom(42);
  const interleaved = Array.from({ length: 50 }, () => [one(), other()]);
  expect(interleaved.every(([a, b]) => a === b)).toBe(true);
});

test('the numbers fill [0, 1) evenly', () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (const number of take(100_000, seededRandom(1))) {
    const tenth = Math.floor(number * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  // Again counted with the reference implementation in C.
  expect(tenths).toEqual([
    10_044, 10_036, 10_001, 10_116, 9_906, 10_052, 10_076, 9_896, 10_006, 9_867,
  ]);
});
