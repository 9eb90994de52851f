import { type Clock, maxTimerMs } from './clock.ts';

/** How long after waking a wait that is over is noticed, at the most. */
const stepMs = 2000;

/**
 * Resolves after a delay, or as soon as it is skipped; rejects with the signal's own reason as soon
 * as it is aborted. `onStart` is handed what skips it. Timers stand still while a machine sleeps, and
 * the wall clock does not: it is over by whichever is first.
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
    let ms = 0;
    let timer: unknown;
    const end = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(reasonOf(signal));
      else resolve();
    };
    const pass = (): void => {
      leftMs = Math.min(leftMs - ms, dueAt - clock.now());
      if (leftMs > 0) wait();
      else end();
    };
    const wait = (): void => {
      ms = Math.min(leftMs, stepMs);
      timer = clock.setTimeout(pass, ms);
    };
    wait();
    signal?.addEventListener('abort', end);
    onStart?.(end);
  });
}

/**
 * Settles as what was begun does, or rejects with the reason of the signal as soon as that is
 * aborted: also where what was begun does not heed its signal.
 */
export function untilAborted<T>(
  signal: AbortSignal | undefined,
  begun: T | Promise<T>,
): Promise<T> {
  if (!signal) return Promise.resolve(begun);
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(reasonOf(signal));
    const over = (): void => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    Promise.resolve(begun).then(resolve, reject).finally(over);
  });
}

/** Sets the one timer of an alarm to a time, in epoch milliseconds. A new time replaces the old; `Infinity` is none. */
export type Alarm = (at: number) => void;

/** @param ring - Called at the time, or early for a time that is far away. It then sets the alarm again. */
export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let timer: unknown;
  let due = Infinity;
  return (at) => {
    if (at === due) return;
    clock.clearTimeout(timer);
    due = at;
    if (at === Infinity) return;
    timer = clock.setTimeout(
      () => {
        due = Infinity;
        ring();
      },
      // A timer cannot hold a longer wait: it rings early.
      Math.min(Math.max(0, at - clock.now()), maxTimerMs),
    );
  };
}

/** How long a function of the app is waited for. */
const appLimitMs = 30_000;

/** Settles as a function of the app does, or rejects after 30 s: it may never settle. `name` is for the message. */
export async function withLimit<T>(clock: Clock, name: string, work: () => T): Promise<Awaited<T>> {
  let timer: unknown;
  const late = new Promise<never>((_, giveUp) => {
    timer = clock.setTimeout(
      () => giveUp(new Error(`${name} has not settled for 30 s.`)),
      appLimitMs,
    );
    clock.unref?.(timer);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Looked at so often: after the machine has slept, one late look is not enough. */
const looks = 6;

/** The wait for something to have stood still for too long. */
interface Stillness {
  /** Resolves then. */
  readonly promise: Promise<void>;
  readonly stop: () => void;
}

/**
 * Waits until something has stood still for so long. `stillSince` says since when it does; undefined while
 * it does not.
 */
export function waitForStillness(
  clock: Clock,
  limitMs: number,
  stillSince: () => number | undefined,
): Stillness {
  let timer: unknown;
  const promise = new Promise<void>((resolve) => {
    let last = stillSince();
    let count = 0;
    const plan = (): void => {
      if (limitMs === Infinity) return;
      timer = clock.setTimeout(() => {
        const since = stillSince();
        count = since !== undefined && since === last ? count + 1 : 0;
        last = since;
        if (count === looks) resolve();
        else plan();
      }, limitMs / looks);
      clock.unref?.(timer);
    };
    plan();
  });
  return { promise, stop: () => clock.clearTimeout(timer) };
}

/**
 * Why a signal was aborted: an `AbortError` where it does not say. The signals of React Native have no reason,
 * and it has no `DOMException`.
 */
export const reasonOf = ({ reason = abortError() }: { readonly reason?: unknown }): unknown =>
  reason;

function abortError(): Error {
  const text = 'This operation was aborted';
  const name = 'AbortError';
  return typeof DOMException === 'undefined'
    ? Object.assign(new Error(text), { name })
    : new DOMException(text, name);
}

/** A signal that is aborted with the first of these: `AbortSignal.any`, also where there is none. */
export function firstOf(signals: AbortSignal[]): AbortSignal {
  if ('any' in AbortSignal) return AbortSignal.any(signals);
  const first = new AbortController();
  for (const signal of signals) {
    const abort = (): void => first.abort(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
  }
  return first.signal;
}
