import { expect, test, vi } from 'vitest';
import { createLimit, type Limit } from '../../src/origin/limit.ts';
import { createVirtualClock, epochMs, type VirtualClock } from './virtual-clock.ts';

interface Rig {
  readonly limit: Limit;
  readonly clock: VirtualClock;
  readonly look: () => readonly [until: number, releaseAt: number];
}

function rig(draw = 0.5): Rig {
  const clock = createVirtualClock();
  const limit = createLimit(clock, () => draw);
  return {
    limit,
    clock,
    look: () => {
      const { until, releaseAt } = limit.getState();
      return [until - epochMs, releaseAt - epochMs];
    },
  };
}

test('nothing has been asked for: nothing is held', () => {
  expect(rig().limit.isHolding()).toBe(false);
});

test('a pause holds to the millisecond, and no longer', () => {
  const { limit, clock } = rig();
  limit.pause(5000);
  clock.advance(4999);
  expect(limit.isHolding()).toBe(true);
  clock.advance(1);
  expect(limit.isHolding()).toBe(false);
});

test.each([
  [1000, 0, 1000],
  [1000, 0.5, 2000],
  [1000, 1, 3000],
  [4000, 1, 6000],
  [60_000, 0.5, 75_000],
  [60_000, 1, 90_000],
])('after %d ms, with chance %d, what was held goes from %d ms on', (pauseMs, draw, releaseMs) => {
  const { limit, look } = rig(draw);
  limit.pause(pauseMs);
  expect(look()).toEqual([pauseMs, releaseMs]);
});

test('a shorter pause does not end a longer one, and a longer one prolongs it', () => {
  const { limit, look } = rig();
  limit.pause(10_000);
  limit.pause(3000);
  expect(look()[0]).toBe(10_000);
  limit.pause(20_000);
  expect(look()).toEqual([20_000, 25_000]);
});

test('a pause of 0 ms holds nothing new', () => {
  const { limit } = rig();
  limit.pause(0);
  expect(limit.isHolding()).toBe(false);
});

test('what is left is not exceeded before the reset', () => {
  const { limit, clock } = rig();
  limit.allow(2, epochMs + 10_000);
  limit.spend();
  expect(limit.isHolding()).toBe(false);
  limit.spend();
  expect(limit.isHolding()).toBe(true);
  clock.advance(9999);
  expect(limit.isHolding()).toBe(true);
  clock.advance(1);
  expect(limit.isHolding()).toBe(false);
});

test('nothing left holds at once', () => {
  const { limit, look } = rig();
  limit.allow(0, epochMs + 4000);
  expect(look()).toEqual([4000, 5000]);
});

test('less than nothing left, because more is under way, holds at once too', () => {
  const { limit } = rig();
  limit.allow(-3, epochMs + 4000);
  expect(limit.isHolding()).toBe(true);
});

test('after the reset the old number is void', () => {
  const { limit, clock } = rig();
  limit.allow(1, epochMs + 1000);
  clock.advance(1000);
  for (let request = 0; request < 5; request++) limit.spend();
  expect(limit.isHolding()).toBe(false);
  expect(limit.getState()).toEqual({ until: 0, releaseAt: 0 });
});

test('without a word from the server nothing is counted', () => {
  const { limit } = rig();
  for (let request = 0; request < 1000; request++) limit.spend();
  expect(limit.isHolding()).toBe(false);
});

test('a later answer brings a new number', () => {
  const { limit, clock } = rig();
  limit.allow(1, epochMs + 10_000);
  clock.advance(2000);
  limit.allow(2, epochMs + 12_000);
  limit.spend();
  expect(limit.isHolding()).toBe(false);
  limit.spend();
  expect(limit.isHolding()).toBe(true);
});

test('an answer that was overtaken gives nothing back', () => {
  const { limit } = rig();
  // The server has counted both, and the second answer is here first.
  limit.allow(1, epochMs + 10_000);
  limit.spend();
  limit.allow(2, epochMs + 10_000);
  expect(limit.isHolding()).toBe(true);
});

test('a pause of a day and a reset in a thousand years neither throw nor last for ever', () => {
  const { limit, clock } = rig(1);
  limit.pause(1e15);
  limit.allow(0, 1e18);
  expect(Number.isFinite(limit.getState().releaseAt)).toBe(true);
  // Who is wrong by so much, or means harm, must not shut out a tab until it is reloaded.
  clock.advance(24 * 3_600_000);
  expect(limit.isHolding()).toBe(false);
});

test('a clock that is set back by an hour does not make a pause of a second one of an hour', () => {
  const { limit, clock } = rig();
  limit.pause(1000);
  clock.jump(-3_600_000);
  clock.advance(3000);
  expect(limit.isHolding()).toBe(false);
});

test('a pause is over after a sleep of hours', () => {
  const { limit, clock } = rig();
  limit.pause(60_000);
  clock.sleep(8 * 3_600_000);
  expect(limit.isHolding()).toBe(false);
});

test('the state is the same object until a longer pause, and each change is told once', () => {
  const { limit } = rig();
  const listener = vi.fn<() => void>();
  limit.subscribe(listener);
  limit.pause(1000);
  const state = limit.getState();
  limit.pause(500);
  limit.allow(5, epochMs + 500);
  expect(limit.getState()).toBe(state);
  expect(listener).toHaveBeenCalledTimes(1);
});

test('it is paused until what was held is released, and eases twice by itself', () => {
  const { limit, clock } = rig();
  expect([limit.isPaused(), limit.easesAt()]).toEqual([false, Infinity]);
  limit.pause(4000);
  expect([limit.isPaused(), limit.easesAt()]).toEqual([true, epochMs + 4000]);
  clock.advance(4000);
  expect([limit.isSpreading(), limit.easesAt()]).toEqual([true, epochMs + 5000]);
  clock.advance(1000);
  expect([limit.isSpreading(), limit.easesAt()]).toEqual([false, Infinity]);
  expect(limit.isPaused()).toBe(true);
  limit.resume();
  expect(limit.isPaused()).toBe(false);
});

test('where nobody waits it is paused until what would have waited might go', () => {
  const { limit, clock } = rig();
  limit.pause(4000);
  clock.advance(4999);
  limit.rest();
  expect(limit.isPaused()).toBe(true);
  clock.advance(1);
  limit.rest();
  expect(limit.isPaused()).toBe(false);
});

test('whoever takes the last of what is left is told that it is paused', () => {
  const { limit } = rig();
  limit.allow(2, epochMs + 10_000);
  expect([limit.spend(), limit.spend(), limit.spend()]).toEqual([false, true, true]);
});

test('what goes out all the same, before its time, has it paused again', () => {
  const { limit } = rig();
  limit.pause(4000);
  limit.resume();
  expect(limit.isPaused()).toBe(false);
  limit.spend();
  expect(limit.isPaused()).toBe(true);
});
