import { describe, expect, test } from 'vitest';
import { createRatioRule, createStreakRule, type TripRule } from '../../src/origin/trip-rule.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** How many failures in a row it takes; the rule is as new afterwards, but for what it knows. */
const failuresToTrip = (rule: TripRule, weight = 1): number => {
  let count = 1;
  while (!rule.fail(weight)) count++;
  rule.clear();
  return count;
};

/** An origin that fails every nth call, for so long that the rule knows it. */
const usedTo = (every: number): TripRule => {
  const rule = createStreakRule();
  for (let call = 1; call < 100 * every; call++) {
    if (call % every === 0) rule.fail(1);
    else rule.succeed();
  }
  rule.succeed();
  rule.succeed();
  return rule;
};

describe('consecutive failures', () => {
  test('two are an outage of a healthy origin', () => {
    expect(failuresToTrip(createStreakRule())).toBe(2);
  });

  test('one time-out weighs two, and is one by itself', () => {
    expect(failuresToTrip(createStreakRule(), 2)).toBe(1);
  });

  test('a success in between starts the count anew, and the failure before it is remembered', () => {
    const rule = createStreakRule();
    expect(rule.fail(1)).toBe(false);
    rule.succeed();
    expect([rule.fail(1), rule.fail(1), rule.fail(1)]).toEqual([false, false, true]);
  });

  test('more are needed where more fails anyway, as what fails is forgotten slowly', () => {
    expect([20, 10, 5, 2].map((every) => failuresToTrip(usedTo(every)))).toEqual([3, 5, 7, 19]);
  });

  test('a lower chance needs more of them', () => {
    expect(failuresToTrip(createStreakRule({ maxChance: 0.04 }))).toBe(1);
    expect(failuresToTrip(createStreakRule({ maxChance: 0.0016 }))).toBe(2);
    expect(failuresToTrip(createStreakRule({ maxChance: 0.00001 }))).toBe(4);
  });

  test('the usual rate is a moving average, in which a streak counts when it has ended', () => {
    const rule = createStreakRule();
    rule.fail(1);
    expect(rule.usualRate()).toBe(0);
    rule.succeed();
    expect(rule.usualRate()).toBeCloseTo(0.097, 15);
    rule.succeed();
    expect(rule.usualRate()).toBeCloseTo(0.09409, 15);
  });

  test('a streak that led to a trip is no part of the usual rate', () => {
    const rule = createStreakRule();
    rule.fail(1);
    rule.fail(1);
    rule.clear();
    rule.succeed();
    expect(rule.usualRate()).toBe(0);
  });

  test('an origin that fails always is still taken for down in the end', () => {
    const rule = usedTo(2);
    expect(failuresToTrip(rule)).toBeLessThan(20);
  });
});

describe('a ratio over a window', () => {
  const options = { failureRatio: 0.5, samplingDurationMs: 10_000, minimumCalls: 4 };

  test('it trips at the ratio, and not with fewer calls than the least', () => {
    const rule = createRatioRule(createVirtualClock(), options);
    expect([rule.fail(1), rule.fail(1), rule.fail(1), rule.fail(1)]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  test('it does not trip below the ratio', () => {
    const rule = createRatioRule(createVirtualClock(), options);
    for (let call = 0; call < 3; call++) rule.succeed();
    expect(rule.fail(1)).toBe(false);
    expect(rule.fail(1)).toBe(false);
    expect(rule.fail(1)).toBe(true);
  });

  test('what is as old as the window counts no more', () => {
    const clock = createVirtualClock();
    const rule = createRatioRule(clock, options);
    for (let call = 0; call < 3; call++) rule.fail(1);
    clock.advance(9999);
    expect(rule.fail(1)).toBe(true);
    clock.advance(1);
    expect(rule.fail(1)).toBe(false);
  });

  test('a time-out is one call as any other', () => {
    const rule = createRatioRule(createVirtualClock(), { ...options, minimumCalls: 2 });
    expect([rule.fail(2), rule.fail(2)]).toEqual([false, true]);
  });

  test('a trip is the end of what was counted', () => {
    const rule = createRatioRule(createVirtualClock(), options);
    for (let call = 0; call < 3; call++) rule.fail(1);
    rule.clear();
    expect(rule.fail(1)).toBe(false);
  });

  test('a clock that is set back by an hour does not keep old calls in the window', () => {
    const clock = createVirtualClock();
    const rule = createRatioRule(clock, options);
    for (let call = 0; call < 3; call++) rule.fail(1);
    clock.jump(-3_600_000);
    clock.advance(20_000);
    expect(rule.fail(1)).toBe(false);
  });
});
