import { expect, test } from 'vitest';
import {
  estimateMs,
  firstSettings,
  toScenario,
  toUserScenario,
  usualMsPerCost,
} from '../../demo/src/storm/lab/settings.ts';
import { defaultScenario } from '../../sim/model/scenario.ts';

test('the lab begins with the storm of the home', () => {
  expect(toScenario(firstSettings)).toEqual(defaultScenario);
});

test('people who open pages leave after a while, and their pages ask for six things at once', () => {
  expect(toScenario({ ...firstSettings, behaviour: 'load' })).toEqual({
    ...defaultScenario,
    pageSize: 6,
    leaveS: 20,
    endpoints: 6,
  });
});

test('half of the endpoints are half of several', () => {
  expect(toScenario({ ...firstSettings, kind: 'half-endpoints' })).toEqual({
    ...defaultScenario,
    kind: 'half-endpoints',
    endpoints: 4,
  });
});

test('no answer costs a server more than 50 ms, however few ask', () => {
  const loadOf = (tabs: number) => toScenario({ ...firstSettings, tabs }).load;
  expect([25, 50, 100, 5000].map(loadOf)).toEqual([0.25, 0.5, 0.7, 0.7]);
});

test('near its limit a server is watched for longer', () => {
  const afterOf = (loadPercent: number) => toScenario({ ...firstSettings, loadPercent }).afterS;
  expect([50, 80, 81, 95].map(afterOf)).toEqual([80, 80, 110, 110]);
});

test('one user has a page that is down as the fleet has it, but for an outage of a half', () => {
  const kindOf = (kind: typeof firstSettings.kind) =>
    toUserScenario({ ...firstSettings, kind })?.kind;
  expect((['503', 'hang', 'drop', 'half-endpoints'] as const).map(kindOf)).toEqual([
    '503',
    'hang',
    'reset',
    undefined,
  ]);
});

test('a run takes as long as its tabs and what they ask for', () => {
  expect(estimateMs(firstSettings, usualMsPerCost)).toBeCloseTo(3680, 0);
  expect(estimateMs({ ...firstSettings, tabs: 5000, everyS: 1 }, usualMsPerCost)).toBe(88_800);
});
