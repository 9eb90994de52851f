import { systemClock } from '../core/lib/clock.ts';

/** The methods that show virtual time. Those that an environment lacks are skipped. */
export const virtualMethods = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'Date',
  'Intl',
  'performance',
  'requestAnimationFrame',
  'cancelAnimationFrame',
  'requestIdleCallback',
  'cancelIdleCallback',
] as const;

/** The methods that stay real, named for Jest, which replaces everything else. */
export const realMethods = [
  'hrtime',
  'nextTick',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
] as const;

/**
 * The part of Vitest's `vi`, or of Jest's `jest`, that virtual time uses. It is an argument, so that the
 * package imports neither.
 */
export interface FakeTimers {
  useFakeTimers(config: {
    now: number;
    /** Read by Vitest. */
    toFake: (typeof virtualMethods)[number][];
    /** Read by Vitest. */
    shouldClearNativeTimers: boolean;
    /** Read by Jest. */
    doNotFake: (typeof realMethods)[number][];
  }): unknown;
  useRealTimers(): unknown;
  /** Jest has none. */
  isFakeTimers?(): boolean;
  advanceTimersByTime(ms: number): unknown;
  advanceTimersToNextTimer(): unknown;
  getTimerCount(): number;
}

/** Whether timers are already fake. Those of both runners carry their clock. */
export function areFake(vi: FakeTimers): boolean {
  return vi.isFakeTimers?.() ?? 'clock' in setTimeout;
}

/**
 * Moves the time to the next timer that is due, by `maxMs` at most, and fires all timers that are due then.
 * Neither runner says when the next timer is due, so an extra timer marks the latest point.
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
 * Returns a function that tells whether timers were set, cleared or fired since its last call, which is the
 * sign of work. It compares the number of timers, so one set and one fired in between cancel out.
 */
export function watchTimers(vi: FakeTimers): () => boolean {
  let last = vi.getTimerCount();
  return () => {
    const before = last;
    last = vi.getTimerCount();
    return last !== before;
  };
}

/**
 * How often Testing Library must ask for time, after a sign of work, before time passes. One turn of the
 * event loop goes by each time (in React's `act`): this is twice what a request that MSW answers takes.
 */
const patience = 4;

/**
 * Makes `findBy*`, `waitFor` and user-event work on virtual time. They know fake timers only by the
 * global `jest`, and hang without it. Under Jest they see the runner's own, and never this one.
 *
 * The helpers advance in steps of 50 ms, and wait neither for promises nor for requests in between: work due in
 * the middle of a step would see a later time. So here time passes only after some quiet turns (the
 * number of timers is the sign of work), and never beyond the next timer.
 *
 * @returns A function that removes the global again.
 */
export function installJest(vi: FakeTimers): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'jest');
  const haveTimersChanged = watchTimers(vi);
  let pauses = patience;

  const advanceTimersByTime = (ms: number): void => {
    // The start of a `waitFor` is a sign of work, too: its timeout is a timer.
    if (haveTimersChanged()) pauses = patience;
    if (pauses > 0) {
      pauses -= 1;
      vi.advanceTimersByTime(0);
    } else {
      stepToNextTimer(vi, ms);
    }
    if (haveTimersChanged()) pauses = patience;
  };

  Object.defineProperty(globalThis, 'jest', {
    value: { advanceTimersByTime },
    configurable: true,
    writable: true,
  });
  return () => {
    if (before) Object.defineProperty(globalThis, 'jest', before);
    else Reflect.deleteProperty(globalThis, 'jest');
  };
}
