import { expect, test } from 'vitest';
import { createSleepDetector } from '../../../src/core/lib/timer.ts';
import { createVirtualClock, type VirtualClock } from '../origin/virtual-clock.ts';

/** Two that may wait, and what they were told: who, how long it was, and when. */
function rig() {
  const clock: VirtualClock = createVirtualClock();
  const sleepDetector = createSleepDetector(clock);
  const told: string[] = [];
  const join = (name: string) =>
    sleepDetector.watch((asleepMs) => void told.push(`${name} ${asleepMs} at ${clock.elapsed()}`));
  return { clock, sleepDetector, told, a: join('a'), b: join('b') };
}

test('while nothing waits there is no timer', () => {
  const { clock, a, b } = rig();
  expect(clock.pending()).toBe(0);
  a(Infinity);
  b(Infinity);
  a(0);
  expect(clock.pending()).toBe(1);
  b(0);
  expect(clock.pending()).toBe(0);
});

test('one timer serves all, and tells nobody while the machine is awake', () => {
  const { clock, a, b, told } = rig();
  a(Infinity);
  b(Infinity);
  a(Infinity);
  expect(clock.pending()).toBe(1);
  clock.advance(3_600_000);
  expect(clock.fired()).toBe(1800);
  expect(told).toEqual([]);
});

test('within two seconds of waking it tells those that wait how long that was', () => {
  const { clock, a, b, told } = rig();
  a(Infinity);
  b(Infinity);
  b(0);
  clock.advance(500);
  clock.sleep(3_600_000);
  expect(told).toEqual([]);
  clock.advance(1500);
  expect(told).toEqual(['a 3600000 at 3602000']);
  clock.advance(60_000);
  expect(told.length).toBe(1);
});

test('asked, it tells at once, and once', () => {
  const { clock, sleepDetector, a, told } = rig();
  a(Infinity);
  clock.advance(500);
  clock.sleep(3_600_000);
  sleepDetector.check();
  sleepDetector.check();
  clock.advance(60_000);
  expect(told).toEqual(['a 3598500 at 3600500']);
});

test('a beat up to a second late is in time', () => {
  const { clock, a, told } = rig();
  a(Infinity);
  clock.jump(1000);
  clock.advance(2000);
  expect(told).toEqual([]);
});

test('a beat as late as those of a hidden tab is a look, but no sleep', () => {
  const { clock, a, told } = rig();
  a(Infinity);
  clock.jump(61_000);
  clock.advance(2000);
  expect(told).toEqual(['a 0 at 63000']);
});

test('what was not waited through is no sleep', () => {
  const { clock, a, told } = rig();
  a(Infinity);
  a(0);
  clock.sleep(3_600_000);
  a(Infinity);
  clock.advance(10_000);
  expect(told).toEqual([]);
});

test('a clock that is set back is no sleep', () => {
  const { clock, a, told } = rig();
  a(Infinity);
  clock.jump(-3_600_000);
  clock.advance(10_000);
  expect(told).toEqual([]);
});

test('what waits until a known time is told of a sleep that it ended in, and needs no timer after it', () => {
  const { clock, a, told } = rig();
  a(clock.now() + 5000);
  clock.advance(1000);
  clock.sleep(3_600_000);
  clock.advance(1000);
  expect(told).toEqual(['a 3600000 at 3602000']);
  expect(clock.pending()).toBe(0);
});

test('it beats until then, and no longer', () => {
  const { clock, a, told } = rig();
  a(clock.now() + 5000);
  clock.advance(60_000);
  expect([clock.fired(), clock.pending(), told]).toEqual([3, 0, []]);
});
