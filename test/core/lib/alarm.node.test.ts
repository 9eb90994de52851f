import { expect, test } from 'vitest';
import { createAlarm } from '../../../src/core/lib/timer.ts';
import { maxTimerMs } from '../../../src/core/lib/clock.ts';
import { createVirtualClock, epochMs, type VirtualClock } from '../origin/virtual-clock.ts';

/** An alarm that is not set again when it has rung. */
function rig(): {
  readonly clock: VirtualClock;
  readonly set: (atMs: number) => void;
  readonly rung: readonly number[];
} {
  const clock = createVirtualClock();
  const rung: number[] = [];
  const alarm = createAlarm(clock, () => void rung.push(clock.elapsed()));
  return { clock, rung, set: (atMs) => alarm(epochMs + atMs) };
}

test('it rings once, at its time', () => {
  const { clock, set, rung } = rig();
  set(1000);
  clock.advance(999);
  expect(rung).toEqual([]);
  clock.advance(10_000);
  expect(rung).toEqual([1000]);
});

test('set anew, it forgets the time before, sooner or later', () => {
  const { clock, set, rung } = rig();
  set(1000);
  set(3000);
  set(2000);
  expect(clock.pending()).toBe(1);
  clock.advance(10_000);
  expect(rung).toEqual([2000]);
});

test('set to the same time again it goes on, also after it has rung', () => {
  const { clock, set, rung } = rig();
  set(1000);
  set(1000);
  clock.advance(1000);
  set(1000);
  clock.advance(0);
  expect(rung).toEqual([1000, 1000]);
});

test('a time that has passed rings at once, and not before it returns', () => {
  const { clock, set, rung } = rig();
  set(-1000);
  expect(rung).toEqual([]);
  clock.advance(0);
  expect(rung).toEqual([0]);
});

test('never is no timer', () => {
  const { clock, set, rung } = rig();
  set(1000);
  set(Infinity);
  expect(clock.pending()).toBe(0);
  clock.advance(10_000);
  expect(rung).toEqual([]);
});

test('for a time beyond what a timer holds it rings early, to be set again', () => {
  const { clock, set, rung } = rig();
  set(maxTimerMs + 1000);
  clock.advance(maxTimerMs);
  expect(rung).toEqual([maxTimerMs]);
  set(maxTimerMs + 1000);
  clock.advance(1000);
  expect(rung).toEqual([maxTimerMs, maxTimerMs + 1000]);
});
