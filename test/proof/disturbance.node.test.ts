import { expect, test } from 'vitest';
import { disturbanceOf, sharesPercent } from './disturbance.ts';

const all = Array.from({ length: 20_000 }, (_, index) =>
  disturbanceOf(1, index % 10_000, 1 + Math.floor(index / 10_000)),
);

test('45 % of the arrivals are disturbed, each kind as often as it says', () => {
  expect(Object.values(sharesPercent).reduce((sum, share) => sum + share, 0)).toBe(45);
  const seen = Object.keys(sharesPercent).map((kind) => [
    kind,
    Math.round((100 * all.filter((one) => one.kind === kind).length) / all.length),
  ]);
  expect(Object.fromEntries(seen)).toEqual(sharesPercent);
});

test('the same order meets the same, and the next arrival something else', () => {
  expect(disturbanceOf(7, 42, 1)).toEqual(disturbanceOf(7, 42, 1));
  const draws = [1, 2, 3].map((arrival) => disturbanceOf(7, 42, arrival).delayMs);
  expect(new Set([...draws, disturbanceOf(8, 42, 1).delayMs]).size).toBe(4);
});
