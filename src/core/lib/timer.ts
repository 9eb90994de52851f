import { reasonOf } from './abort.ts';
import { type Clock, maxTimerMs } from './clock.ts';

/** Longest delay until a sleep of the device, or the end of a wait, is noticed after waking. */
const tickMs = 2000;

/** A timer later than this means that the device or the tab slept, or that the tab is hidden. */
const latestMs = 1000;

/** The timers of a hidden tab fire once a minute although it is awake: later ones mean sleep. */
const throttledMs = 61_000;

/** Sets the one timer of an alarm to a time in epoch milliseconds, in place of the earlier one; `Infinity` stops it. */
export type Alarm = (at: number) => void;

/**
 * @param ring - Called at the time, or early for a time beyond what a timer holds. It then sets the alarm again.
 * @param isBackground - Lets a Node process end without waiting for it.
 */
export function createAlarm(clock: Clock, ring: () => void, isBackground?: boolean): Alarm {
  let timer: unknown;
  let dueAt = Infinity;
  return (at) => {
    if (at === dueAt) return;
    clock.clearTimeout(timer);
    dueAt = at;
    if (at === Infinity) return;
    timer = clock.setTimeout(
      () => {
        dueAt = Infinity;
        ring();
      },
      Math.min(Math.max(0, at - clock.now()), maxTimerMs),
    );
    if (isBackground) clock.unref?.(timer);
  };
}

/** Starts a background alarm that rings once, after the delay. */
export function startAlarm(clock: Clock, delayMs: number, ring: () => void): Alarm {
  const alarm = createAlarm(clock, ring, true);
  alarm(clock.now() + delayMs);
  return alarm;
}

/**
 * Resolves after a delay, or as soon as it is skipped; rejects with the signal's reason as soon as that is
 * aborted. `onStart` receives the function that skips it. Timers stop while the device sleeps and the wall
 * clock does not: the delay is over by whichever is first.
 */
export function sleep(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal | undefined,
  onStart?: (skip: () => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(reasonOf(signal));
    const dueAt = clock.now() + delayMs;
    let leftMs = delayMs;
    let stepMs = 0;
    let timer: unknown;
    const end = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(reasonOf(signal));
      else resolve();
    };
    const endStep = (): void => {
      leftMs = Math.min(leftMs - stepMs, dueAt - clock.now());
      if (leftMs > 0) startStep();
      else end();
    };
    const startStep = (): void => {
      stepMs = Math.min(leftMs, tickMs);
      timer = clock.setTimeout(endStep, stepMs);
    };
    startStep();
    signal?.addEventListener('abort', end);
    onStart?.(end);
  });
}

/**
 * Whether a value must be awaited. Never `instanceof Promise`: zone.js, as of OpenTelemetry's `context-zone`, and polyfills
 * replace that class, and async functions return the platform's.
 */
export const isPromise = <T>(value: T | Promise<T>): value is Promise<T> => 'then' in Object(value);

/**
 * Settles as `begun` does, or rejects with the reason of the signal as soon as that is aborted: also where
 * `begun` ignores the signal. A value that comes too late is passed to `discardLate`.
 */
export function untilAborted<T>(
  signal: AbortSignal | undefined,
  begun: T | Promise<T>,
  discardLate?: (late: T) => void,
): Promise<T> {
  if (!signal) return Promise.resolve(begun);
  return new Promise((resolve, reject) => {
    let isStopped = false;
    const stop = (): void => {
      isStopped = true;
      reject(reasonOf(signal));
    };
    const over =
      <V>(act: (value: V) => void) =>
      (value: V): void => {
        signal.removeEventListener('abort', stop);
        act(value);
      };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    Promise.resolve(begun).then(
      over((value) => (isStopped ? discardLate?.(value) : resolve(value))),
      over(reject),
    );
  });
}

/** The dependencies of a time limit. */
export interface LimitContext {
  readonly clock: Clock;
  /** Tells whether the tab was frozen since a time; undefined without a page. */
  readonly page?: { readonly wasAsleep: (since: number) => boolean } | undefined;
}

/** The owner of a time limit. */
interface Limited {
  /** The limit is over. @returns the reason with which `race` rejects. */
  expire(): unknown;
}

/** Counts time that passed while the device or the tab slept. */
interface SleepCount {
  count(from: number, to: number): void;
}

/**
 * A time limit. It is not running before the first `restart`. It keeps no Node process alive: an answer whose
 * body is never read must not.
 *
 * Time that the device or the tab slept does not count: a timer that is late by more than a second starts the
 * limit again. The timers of a hidden tab are late each time, so only the first of these counts as sleep,
 * unless it is later than such timers are or the page knows that it was frozen.
 */
export class TimeLimit {
  readonly #context: LimitContext;
  readonly #limited: Limited;
  readonly #slept: SleepCount | undefined;
  #timer: unknown;
  #dueAt = Infinity;
  #reject: ((reason: unknown) => void) | undefined;

  /** @param slept - Given the time for which the limit was suspended. */
  constructor(context: LimitContext, limited: Limited, slept?: SleepCount) {
    this.#context = context;
    this.#limited = limited;
    this.#slept = slept;
  }

  /** When it is over, in epoch milliseconds; `Infinity` while it is not running. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** Starts it, in place of the running one. No timer holds a longer limit than 2^31 - 1 ms: that is none. */
  restart(limitMs: number = Infinity, now: number = this.#context.clock.now()): void {
    this.stop(now);
    if (limitMs <= maxTimerMs) this.#start(limitMs, now, false);
  }

  stop(now?: number): void {
    if (this.#dueAt === Infinity) return;
    const { clock } = this.#context;
    clock.clearTimeout(this.#timer);
    this.#end(now ?? clock.now());
  }

  /** Settles as `begun` does, or rejects once the limit is over. */
  race<T>(begun: T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      Promise.resolve(begun).then(resolve, reject);
    });
  }

  #start(limitMs: number, startedAt: number, wasAsleep: boolean): void {
    const { clock, page } = this.#context;
    this.#dueAt = startedAt + limitMs;
    this.#timer = clock.setTimeout(() => {
      const now = clock.now();
      const lateMs = this.#end(now);
      const isAsleep = !wasAsleep || lateMs > throttledMs || page?.wasAsleep(startedAt);
      if (lateMs > latestMs && isAsleep) return this.#start(limitMs, now, true);
      const reason = this.#limited.expire();
      this.#reject?.(reason);
    }, limitMs);
    clock.unref?.(this.#timer);
  }

  /** @returns how late it ends, in milliseconds. */
  #end(now: number): number {
    const lateMs = now - this.#dueAt;
    if (lateMs > latestMs) this.#slept?.count(this.#dueAt + latestMs, now);
    this.#dueAt = Infinity;
    return lateMs;
  }
}

/** The limit of an app's function, which may never settle. */
const appLimitMs = 30_000;

/** The error for an app's function that did not settle in time. */
export const unsettled = (name: string): Error =>
  new Error(`${name} has not settled for ${appLimitMs / 1000} s.`);

/** Settles as `work` does, or rejects with what `expire` returns once the limit is over. @default limitMs 30000 */
export async function withLimit<T>(
  context: LimitContext,
  work: () => T,
  expire: () => unknown,
  limitMs: number = appLimitMs,
  slept?: SleepCount,
): Promise<Awaited<T>> {
  const limit = new TimeLimit(context, { expire }, slept);
  limit.restart(limitMs);
  try {
    return await limit.race(work());
  } finally {
    limit.stop();
  }
}

/** Detects that the device or the page slept while something waited. */
export interface SleepDetector {
  /** Checks now: the first timer after a sleep must not take the sleep for waiting time. */
  readonly check: () => void;
  /**
   * Calls `onWake` after a sleep during which something waited, with the length of the sleep. The returned
   * function says until when something waits, in epoch milliseconds: `Infinity` if that is not known, 0 if
   * nothing waits.
   */
  readonly watch: (onWake: (asleepMs: number) => void) => (until: number) => void;
}

/**
 * While a device sleeps, its timers stand still and its wall clock does not. One slow tick serves
 * everything that waits.
 */
export function createSleepDetector(clock: Clock): SleepDetector {
  const waiting = new Map<(asleepMs: number) => void, number>();
  let tickedAt = 0;
  let timer: unknown;

  const check = (): void => {
    const now = clock.now();
    const lateMs = now - tickedAt - tickMs;
    if (lateMs <= latestMs) return;
    tickedAt = now;
    // The timers of a hidden tab may be so late although it is awake: then its waiting time counts.
    for (const onWake of waiting.keys()) onWake(lateMs > throttledMs ? lateMs : 0);
  };
  const scheduleTick = (): void => {
    tickedAt = clock.now();
    timer = clock.setTimeout(() => {
      check();
      for (const [onWake, until] of waiting) if (until < clock.now()) waiting.delete(onWake);
      if (waiting.size > 0) scheduleTick();
    }, tickMs);
    clock.unref?.(timer);
  };

  return {
    check,
    watch: (onWake) => (until) => {
      const hadAny = waiting.size > 0;
      if (until === 0 && !hadAny) return;
      if (until > 0) waiting.set(onWake, until);
      else waiting.delete(onWake);
      if (waiting.size === 0) clock.clearTimeout(timer);
      else if (!hadAny) scheduleTick();
    },
  };
}
