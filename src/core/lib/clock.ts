import { inDevelopment } from './development.ts';

/** The source of time. Every part of Steadfetch takes it as an argument. */
export interface Clock {
  /**
   * The time, in epoch milliseconds. Deadlines and countdowns compare times, because timers are throttled
   * in hidden tabs and stop while a laptop sleeps.
   */
  now(): number;
  /** Calls back once, after the delay in milliseconds. */
  setTimeout(callback: () => void, delayMs: number): unknown;
  /** Cancels a timer. Does nothing for a handle that is unknown or undefined. */
  clearTimeout(handle: unknown): void;
  /** How far `now` is ahead of the wall clock, in milliseconds, after the wall clock was set back. @default 0 */
  setBackMs?(): number;
  /**
   * Milliseconds since any start. Setting the wall clock does not change it: `performance.now`.
   * Without it, only timers show how much time passed while the wall clock was set back.
   */
  elapsedMs?(): number;
  /** Where timers keep a process alive: lets the process end without waiting for this one. */
  unref?(handle: unknown): void;
}

/** A source of randomness: a number in [0, 1), as `Math.random` returns. */
export type Random = () => number;

/** The longest delay of a timer, 2^31 - 1 ms or 24.8 days: a longer one fires at once. */
export const maxTimerMs = 2_147_483_647;

/** Reads the global at every call, as the clock does. */
export const systemNow = (): number => Date.now();

/**
 * The clock of this environment. It reads the globals at every call, so a test may install fake timers
 * at any time.
 */
export const systemClock: Clock & Required<Pick<Clock, 'elapsedMs'>> = {
  now: systemNow,
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
  elapsedMs: () => performance.now(),
  // A test may replace `setTimeout` by one that returns nothing.
  unref: (handle) => (handle as { unref?: () => void } | undefined)?.unref?.(),
};

/** Sends a request, as `fetch` does. */
export type Transport = typeof fetch;

/** The `fetch` of this environment. It is looked up at every call, so a test may mock it at any time. */
export const systemTransport: Transport = (input, init) =>
  fetch(input, inDevelopment(() => withoutRefusedSignal(init)) ?? init);

/**
 * Only in tests: the init without its signal, if fetch refuses it. An app that passes no signal is answered there, so it is
 * answered with ours, too. Only the server does not see an abort.
 */
const withoutRefusedSignal = (init: RequestInit | undefined): RequestInit | undefined =>
  refusesSignals() ? { ...init, signal: null } : init;

/** Whether fetch refuses the signals of its own environment, as Node's refuses those of jsdom. */
export function refusesSignals(): boolean {
  const { Request } = globalThis as Partial<typeof globalThis>;
  try {
    if (Request) void new Request('http://localhost', { signal: new AbortController().signal });
    return false;
  } catch {
    return true;
  }
}

/** The randomness of this environment. */
export const systemRandom: Random = () => Math.random();

/** Strong randomness: the part of `crypto` that creates keys. */
export interface KeySource {
  readonly randomUUID?: () => string;
  // Before TypeScript 5.7, no array of numbers has a type parameter.
  readonly getRandomValues?: (words: ReturnType<Uint32Array['slice']>) => unknown;
}

/** The `crypto` of this environment. Insecure contexts have no `randomUUID`. */
export const systemKeySource = (): KeySource | undefined => globalThis.crypto;

/** A time as ISO 8601 text in UTC, `2026-11-21T00:00:00.000Z`; null when a Date cannot hold it. */
export function toIso(epochMs: number): string | null {
  return new Date(epochMs).toJSON();
}

/** The time of an ISO 8601 text, in epoch milliseconds; NaN when it is not one. */
export function fromIso(text: string): number {
  return Date.parse(text);
}

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
  // Read hundreds of times for one request, so the system clock is called directly.
  const isSystem = clock === systemClock;
  const readElapsedMs = (): number => clock.elapsedMs?.() ?? 0;
  let setBackMs = 0;
  let wallMs = clock.now();
  let elapsedMs = readElapsedMs();

  const now = (): number => {
    const nextMs = isSystem ? Date.now() : clock.now();
    // Most readings fall within the same millisecond, and `performance.now` is the slower half.
    if (nextMs !== wallMs) {
      const nextElapsedMs = isSystem ? performance.now() : readElapsedMs();
      if (nextMs < wallMs) setBackMs += wallMs - nextMs + Math.max(0, nextElapsedMs - elapsedMs);
      wallMs = nextMs;
      elapsedMs = nextElapsedMs;
    }
    return nextMs + setBackMs;
  };
  return {
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
    // Called on the clock itself: it may be an instance of a class.
    clearTimeout: (handle) => clock.clearTimeout(handle),
    elapsedMs: readElapsedMs,
    unref: (handle) => clock.unref?.(handle),
  };
}

/** A uniformly random number between two numbers. */
export function between(random: Random, least: number, most: number): number {
  return least + (most - least) * random();
}
