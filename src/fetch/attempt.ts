import type { PageLife } from '../connectivity/page-life.ts';
import { type Clock, maxTimerMs } from '../policy/clock.ts';

/** Puts a new time limit in the place of the old one; none lifts it. */
type Limit = (limitMs?: number) => void;

/** The abort signal and the time limits of one attempt, from its start to the end of its body. */
export interface Attempt {
  readonly signal: AbortSignal;
  /** Whether a limit of ours, not the caller, aborted it. */
  readonly isLate: () => boolean;
  /** The limit of the attempt itself. */
  readonly limit: Limit;
  /** Makes a limit of its own, for a silence within a body. */
  readonly createLimit: () => Limit;
  /** All of it is in, or nothing more is wanted. */
  readonly settle: () => void;
}

/** What an attempt stands on. */
export interface AttemptContext {
  readonly clock: Clock;
  /** Undefined where there is no page. */
  readonly page?: PageLife | undefined;
}

/** A timer that is later than this was asleep with its tab, and an answer may have come meanwhile. */
const latestMs = 1000;

/** Those of a hidden tab that is awake are no later: they fire once a minute. */
const throttledMs = 61_000;

/**
 * Starts an attempt: one timer at most, and one listener on the caller's signal. `onAsleep` is told
 * from when on it took longer than its limit allows, because the tab or the machine was asleep.
 */
export function startAttempt(
  { clock, page }: AttemptContext,
  limitMs: number,
  caller: AbortSignal | undefined,
  onAsleep: (sinceMs: number) => void,
): Attempt {
  const controller = new AbortController();
  let late = false;

  const createLimit = (): Limit => {
    let timer: unknown;
    let dueAt = Infinity;
    const set = (ms: number, wasAsleep = false): void => {
      const setAt = clock.now();
      dueAt = setAt + ms;
      timer = clock.setTimeout(() => {
        const lateMs = account();
        // Time that the tab was frozen does not count. Where it may only be hidden, with timers that
        // are late each time, that is believed once.
        const isAsleep = !wasAsleep || lateMs > throttledMs || page?.wasAsleep(setAt);
        if (lateMs > latestMs && isAsleep) return set(ms, true);
        late = true;
        settle();
        controller.abort();
      }, ms);
      // An answer whose body nobody reads must not keep a Node process alive.
      clock.unref?.(timer);
    };
    const account = (): number => {
      const lateMs = clock.now() - dueAt;
      if (lateMs > latestMs) onAsleep(dueAt + latestMs);
      dueAt = Infinity;
      return lateMs;
    };
    return (nextMs = Infinity) => {
      clock.clearTimeout(timer);
      account();
      // No timer holds a longer limit: it would fire at once.
      if (nextMs <= maxTimerMs) set(nextMs);
    };
  };
  const limit = createLimit();
  const onAbort = (): void => {
    settle();
    controller.abort(caller?.reason);
  };
  const settle = (): void => {
    limit();
    caller?.removeEventListener('abort', onAbort);
  };

  caller?.addEventListener('abort', onAbort);
  limit(limitMs);
  return { signal: controller.signal, isLate: () => late, limit, createLimit, settle };
}
