import { systemClock } from '../lib/clock.ts';

/**
 * The part of Vitest's `vi` that virtual time is made of. It is passed in, so that nothing here
 * imports Vitest.
 */
export interface FakeTimers {
  useFakeTimers(config: {
    now: number;
    toNotFake: ('nextTick' | 'queueMicrotask' | 'setImmediate' | 'clearImmediate')[];
    shouldClearNativeTimers: boolean;
  }): unknown;
  useRealTimers(): unknown;
  isFakeTimers(): boolean;
  advanceTimersByTime(ms: number): unknown;
  advanceTimersToNextTimer(): unknown;
  getTimerCount(): number;
}

/**
 * Moves the time to the next instant at which a timer is due, but by `maxMs` at most, and fires all
 * that is due there. Vitest does not tell when that is: a timer of our own marks the furthest point.
 */
export function stepToNextTimer(vi: FakeTimers, maxMs: number): void {
  const limit = systemClock.setTimeout(() => {}, maxMs);
  try {
    vi.advanceTimersToNextTimer();
  } finally {
    systemClock.clearTimeout(limit);
  }
}

/**
 * Tells whether timers were set, cleared or fired since it was last asked: the sign that something
 * is going on. (As many set as fired in between look like none.)
 */
export function watchTimers(vi: FakeTimers): () => boolean {
  let last = vi.getTimerCount();
  return () => {
    const before = last;
    last = vi.getTimerCount();
    return last !== before;
  };
}
