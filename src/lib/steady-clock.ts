import { type Clock, maxTimerMs } from './clock.ts';

/** A clock that is never set back, for measuring durations. */
export interface SteadyClock extends Clock {
  /**
   * How far the wall clock was set back since the start, in milliseconds. `now()` minus this is the time
   * on the wall clock.
   */
  readonly setBackMs: () => number;
}

/**
 * Makes a clock whose time only goes forward, from a wall clock that the user may set. Sleep counts,
 * because the wall clock shows it. After the wall clock was set back, `elapsedMs` (which need not count
 * sleep) shows how much time has passed, and so do timers: when one fires, its delay has passed. A wall
 * clock that was set forward looks like sleep, so waits may end early, but never late.
 */
export function createSteadyClock(clock: Clock): SteadyClock {
  let setBackMs = 0;
  let wallMs = clock.now();
  let elapsedMs = clock.elapsedMs?.() ?? 0;

  const now = (): number => {
    const nextMs = clock.now();
    const nextElapsedMs = clock.elapsedMs?.() ?? 0;
    if (nextMs < wallMs) setBackMs += wallMs - nextMs + Math.max(0, nextElapsedMs - elapsedMs);
    wallMs = nextMs;
    elapsedMs = nextElapsedMs;
    return nextMs + setBackMs;
  };
  return {
    ...clock,
    now,
    setBackMs() {
      now();
      return setBackMs;
    },
    setTimeout(callback, delayMs) {
      // A delay that no timer can hold fires at once.
      const dueAt = delayMs <= maxTimerMs ? now() + delayMs : -Infinity;
      return clock.setTimeout(() => {
        const lackMs = dueAt - now();
        if (lackMs > 0) setBackMs += lackMs;
        callback();
      }, delayMs);
    },
  };
}
