/**
 * The time source that everything in Steadfetch takes as an argument.
 *
 * `now` is the wall clock, in epoch milliseconds: deadlines and countdowns compare wall clocks,
 * because timers are throttled in hidden tabs and stop while a laptop sleeps.
 */
export interface Clock {
  now(): number;
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(handle: unknown): void;
  /** How far `now` is ahead of the wall, in milliseconds, where that was set back. @default 0 */
  setBackMs?(): number;
  /**
   * Milliseconds from any beginning, which setting the wall clock does not change: `performance.now`.
   * Without it, only timers tell how much time has passed while the wall clock was set back.
   */
  elapsedMs?(): number;
  /** Where timers keep a process alive: lets it end without this one. */
  unref?(handle: unknown): void;
}

/** A source of randomness: a number in [0, 1), as `Math.random` returns. */
export type Random = () => number;

/** The longest delay that a timer can hold: a longer one fires at once (2^31 - 1 ms, 24.8 days). */
export const maxTimerMs = 2_147_483_647;

/**
 * The clock of this environment. The globals are read at every call, not once at import, so that
 * a test's fake timers are seen whenever they are installed.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
  elapsedMs: () => performance.now(),
  unref: (handle) => (handle as { unref?: () => void }).unref?.(),
};

/** What sends requests: fetch's own signature. */
export type Transport = typeof fetch;

/** The fetch of this environment, looked up at every call: a mock may be installed at any time. */
export const systemTransport: Transport = (input, init) => fetch(input, init);

/** The randomness of this environment. */
export const systemRandom: Random = () => Math.random();

/** Strong randomness, for what nobody else may have: the part of `crypto` that is needed. */
export interface KeySource {
  readonly randomUUID?: () => string;
  readonly getRandomValues?: (words: Uint32Array<ArrayBuffer>) => unknown;
}

/** That of this environment; a page that is not secure has no `randomUUID`. */
export const systemKeySource = (): KeySource | undefined => globalThis.crypto;

/** A time as UTC text, `2026-11-21T00:00:00.000Z`; null when it is none that a Date can hold. */
export function toIso(epochMs: number): string | null {
  return new Date(epochMs).toJSON();
}

/** The time of such a text, in epoch milliseconds; NaN when there is none. */
export function fromIso(text: string): number {
  return Date.parse(text);
}
