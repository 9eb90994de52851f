import { expect, test } from 'vitest';
import { createDemand } from '../../src/origin/demand.ts';

test('what was just asked for counts in full', () => {
  const demand = createDemand(1000);
  for (let ask = 0; ask < 3; ask++) demand.add(5000);
  expect(demand.count(5000)).toBe(3);
  expect(demand.rate(5000)).toBe(0.003);
});

test('it is forgotten by a factor of e within its memory', () => {
  const demand = createDemand(1000);
  demand.add(0);
  expect(demand.rate(1000)).toBe(Math.exp(-1) / 1000);
  expect(demand.rate(3000)).toBeCloseTo(Math.exp(-3) / 1000, 15);
});

test('a steady rate is found', () => {
  const demand = createDemand(60_000);
  for (let now = 0; now <= 600_000; now += 5000) demand.add(now);
  // One in five seconds, and at the moment of an ask half a step more.
  expect(demand.rate(600_000) * 5000).toBeCloseTo(1 / (1 - Math.exp(-5 / 60)) / 12, 4);
});

test('looking forgets nothing that time has not', () => {
  const demand = createDemand(1000);
  demand.add(0);
  for (let now = 1; now <= 1000; now++) demand.rate(now);
  expect(demand.rate(1000)).toBeCloseTo(Math.exp(-1) / 1000, 15);
});

test('a clock that is set back adds nothing, and one far ahead forgets all', () => {
  const demand = createDemand(1000);
  demand.add(1e12);
  expect(demand.rate(0)).toBe(0.001);
  expect(demand.rate(1e12)).toBe(0);
});

test('nothing was asked for before the first ask', () => {
  const demand = createDemand(1000);
  expect(demand.count(0)).toBe(0);
  expect(demand.rate(1e15)).toBe(0);
});
