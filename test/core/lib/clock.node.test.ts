import { expect, onTestFinished, test, vi } from 'vitest';
import { createSteadyClock, systemClock } from '../../../src/core/lib/clock.ts';
import { createVirtualClock, epochMs } from '../origin/virtual-clock.ts';

test('it goes on where the wall clock is set back, and says by how much that was', () => {
  const wall = createVirtualClock();
  const steady = createSteadyClock(wall);
  wall.advance(1000);
  expect(steady.now()).toBe(epochMs + 1000);
  wall.jump(-3_600_000);
  expect(steady.now()).toBe(epochMs + 1000);
  wall.advance(500);
  expect(steady.now()).toBe(epochMs + 1500);
  expect(steady.now() - steady.setBackMs()).toBe(wall.now());
});

test('a timer says what has passed since the last look, also when the clock was set back since', () => {
  const wall = createVirtualClock();
  const steady = createSteadyClock(wall);
  const rang: number[] = [];
  steady.setTimeout(() => rang.push(steady.now() - epochMs), 60_000);
  wall.advance(20_000);
  wall.jump(-86_400_000);
  wall.advance(40_000);
  expect(rang).toEqual([60_000]);
  expect(steady.setBackMs()).toBe(86_400_000);
});

test('where elapsed time is known, none is lost between two looks though the clock was set back', () => {
  const wall = createVirtualClock();
  let elapsedMs = 5000;
  const steady = createSteadyClock({ ...wall, now: wall.now, elapsedMs: () => elapsedMs });
  wall.advance(20_000);
  elapsedMs += 20_000;
  wall.jump(-86_400_000);
  expect(steady.now()).toBe(epochMs + 20_000);
});

test('elapsed time is asked for once in a millisecond of the wall clock, however often that is read', () => {
  const wall = createVirtualClock();
  let looks = 0;
  const steady = createSteadyClock({ ...wall, now: wall.now, elapsedMs: () => ++looks });
  for (let reading = 0; reading < 14; reading++) steady.now();
  expect(looks).toBe(1);
  wall.advance(1);
  for (let reading = 0; reading < 14; reading++) steady.now();
  expect(looks).toBe(2);
});

test('the time asleep counts, and a clock that was set forward ends waits early', () => {
  const wall = createVirtualClock();
  const steady = createSteadyClock(wall);
  wall.sleep(7_200_000);
  expect(steady.now()).toBe(epochMs + 7_200_000);
  wall.jump(3_600_000);
  expect(steady.now()).toBe(epochMs + 10_800_000);
  wall.jump(-3_600_000);
  expect(steady.now()).toBe(epochMs + 10_800_000);
});

test('a delay that no timer can hold fires at once, and is not taken for time that has passed', () => {
  const wall = createVirtualClock();
  const steady = createSteadyClock(wall);
  let rang = 0;
  steady.setTimeout(() => (rang += 1), 2 ** 31);
  wall.advance(0);
  expect(rang).toBe(1);
  expect(steady.now()).toBe(epochMs);
});

test('a clock may be an instance of a class, whose methods need it', () => {
  class Wall {
    readonly #clock = createVirtualClock();
    now() {
      return this.#clock.now();
    }
    setTimeout(callback: () => void, delayMs: number) {
      return this.#clock.setTimeout(callback, delayMs);
    }
    clearTimeout(timer: unknown) {
      this.#clock.clearTimeout(timer);
    }
    pending() {
      return this.#clock.pending();
    }
  }
  const wall = new Wall();
  const steady = createSteadyClock(wall);
  const timer = steady.setTimeout(() => {}, 1000);
  steady.unref?.(timer);
  expect([steady.now(), steady.elapsedMs?.(), wall.pending()]).toEqual([epochMs, 0, 1]);
  steady.clearTimeout(timer);
  expect(wall.pending()).toBe(0);
});

test('a reading of the system clock is one function of ours, and fake timers count that come later', () => {
  const steady = createSteadyClock(systemClock);
  const read = vi.spyOn(systemClock, 'now');
  const readElapsed = vi.spyOn(systemClock, 'elapsedMs');
  vi.useFakeTimers({ now: epochMs });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  steady.now();
  vi.setSystemTime(epochMs + 5000);
  expect(steady.now() - steady.setBackMs()).toBe(epochMs + 5000);
  expect([read.mock.calls, readElapsed.mock.calls]).toEqual([[], []]);
});

test('a process may end before a timer, also where a test has replaced setTimeout by one that returns nothing', () => {
  expect(() => systemClock.unref?.(undefined)).not.toThrow();
});
