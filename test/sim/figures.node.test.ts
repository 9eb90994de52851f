import { expect, test } from 'vitest';
import { readFigures } from '../../sim/figures/figures.ts';
import { firstLasting } from '../../sim/figures/first-lasting.ts';
import { medianFigures } from '../../sim/figures/median.ts';
import { spareCapacityBound } from '../../sim/figures/spare-capacity.ts';
import { defaultScenario } from '../../sim/model/scenario.ts';

const scenario = {
  ...defaultScenario,
  tabs: 10,
  rate: 1,
  warmUpS: 1,
  outageS: 2,
  afterS: 2,
};

test('spare capacity sets a bound on what was asked in an outage of 30 s', () => {
  const bounds = [0.5, 0.7, 0.85].map((load) => spareCapacityBound({ ...defaultScenario, load }));
  expect(bounds.map((bound) => bound.toFixed(3))).toEqual(['1.000', '0.857', '0.353']);
});

test('what stopped waiting before recovery is beyond any bound', () => {
  expect(spareCapacityBound({ ...defaultScenario, load: 0.3, outageS: 120 })).toBe(0.5);
});

test('the first lasting second is the one after the last bad one, and never if that is the last', () => {
  const inSecond = (second: number, isGood: boolean) => ({ second, isGood });
  const from = (...items: ReturnType<typeof inSecond>[]): number | null =>
    firstLasting(
      items,
      ({ second }) => second,
      3,
      ({ isGood }) => isGood,
    );
  expect(from(inSecond(0, true), inSecond(2, true))).toBe(0);
  expect(from(inSecond(0, true), inSecond(1, false), inSecond(2, true))).toBe(2);
  expect(from(inSecond(0, true), inSecond(2, false))).toBeNull();
});

test('figures count requests against what was asked, and who leaves as neither served nor let down', () => {
  const figures = readFigures(scenario, {
    operations: [
      { askedMs: 500, settledMs: 600, isOk: true },
      { askedMs: 1100, settledMs: 1200, isOk: false },
      { askedMs: 1500, settledMs: 3100, isOk: true },
      { askedMs: 2000, leftMs: 2500 },
      { askedMs: 3000, settledMs: 4500, isOk: true },
      { askedMs: 4500, settledMs: 4600, isOk: true },
    ],
    arrivalsMs: [525, 1125, 1525, 3025, 3030, 4525],
  });
  expect(figures).toMatchObject({
    operations: 6,
    requests: 6,
    outageRatio: 2 / 3,
    wholeRatio: 1,
    endWellFromS: 0,
    promptFromS: 1,
    askedInOutageOk: 1 / 2,
    stillWaiting: 1,
    stillWaitingOk: 1,
    peak100Ms: 2,
    failed: 1 / 5,
    failedAfterRecovery: 0,
  });
});

test('a median takes never for later than any time', () => {
  const base = readFigures(scenario, { operations: [], arrivalsMs: [] });
  const from = (...seconds: (number | null)[]): number | null =>
    medianFigures(seconds.map((endWellFromS) => ({ ...base, endWellFromS }))).endWellFromS;
  expect(from(null, 0, 3)).toBe(3);
  expect(from(null, 0, null)).toBeNull();
});
