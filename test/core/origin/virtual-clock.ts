import { type Clock, maxTimerMs } from '../../../src/core/lib/clock.ts';

/** When virtual time begins, in epoch milliseconds. */
export const epochMs = 1_800_000_000_000;

/** A clock that goes only when the test says so, and whose wall clock can be set apart from it. */
export interface VirtualClock extends Clock {
  /** Lets time pass, from one timer to the next. */
  readonly advance: (ms: number) => void;
  /** Sets the wall clock forwards or backwards; no timer is nearer for it. */
  readonly jump: (ms: number) => void;
  /** The machine sleeps: the wall clock goes on, timers do not; then those that are due fire. */
  readonly sleep: (ms: number) => void;
  /** Milliseconds on the wall clock since the beginning. */
  readonly elapsed: () => number;
  /** How many callbacks of timers have run. */
  readonly fired: () => number;
  readonly pending: () => number;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** More callbacks than this in one step are a loop. */
const maxCallbacks = 10_000;

export function createVirtualClock(): VirtualClock {
  const timers = new Set<Timer>();
  let ranMs = 0;
  let offsetMs = 0;
  let fired = 0;
  const now = (): number => epochMs + ranMs + offsetMs;

  const advance = (ms: number): void => {
    const end = ranMs + ms;
    for (let count = 0; ; count++) {
      let next: Timer | undefined;
      for (const timer of timers) {
        if (timer.at <= end && (!next || timer.at < next.at)) next = timer;
      }
      if (!next) break;
      if (count > maxCallbacks) throw new Error(`More than ${maxCallbacks} callbacks in ${ms} ms.`);
      timers.delete(next);
      ranMs = Math.max(ranMs, next.at);
      fired++;
      next.callback();
    }
    ranMs = end;
  };

  return {
    now,
    setTimeout(callback, delayMs) {
      // As browsers do: what no timer can hold fires at once.
      const isHeld = delayMs > 0 && delayMs <= maxTimerMs;
      const timer = { at: ranMs + (isHeld ? delayMs : 0), callback };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer) => void timers.delete(timer as Timer),
    advance,
    jump: (ms) => void (offsetMs += ms),
    sleep(ms) {
      offsetMs += ms;
      advance(0);
    },
    elapsed: () => now() - epochMs,
    fired: () => fired,
    pending: () => timers.size,
  };
}
