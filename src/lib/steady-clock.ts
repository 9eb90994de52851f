import { type Clock, maxTimerMs } from '../policy/clock.ts';

/** A clock that is never set back: what durations are measured with. */
export interface SteadyClock extends Clock {
  /**
   * How far the wall clock was set back since the beginning, in milliseconds: `now()` minus this is the
   * time on the wall.
   */
  readonly setBackMs: () => number;
}

/**
 * Makes a clock whose time only goes forward, from one that a user may set. The time asleep counts,
 * because the wall clock shows it. Where that was set back, the time since the last look is known from
 * `elapsedMs`, which need not count sleep, and from timers: one that fires says that its delay has passed. A wall clock that was set forward is
 * not told from sleep, so waits end early and never late.
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
      // What no timer can hold fires at once.
      const dueAt = delayMs <= maxTimerMs ? now() + delayMs : -Infinity;
      return clock.setTimeout(() => {
        const lackMs = dueAt - now();
        if (lackMs > 0) setBackMs += lackMs;
        callback();
      }, delayMs);
    },
  };
}
