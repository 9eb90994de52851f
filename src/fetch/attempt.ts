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

/** A timer that is later than this was asleep with its tab, and an answer may have come meanwhile. */
const latestMs = 1000;

/** Starts an attempt: one timer at most, and one listener on the caller's signal. */
export function startAttempt(
  clock: Clock,
  limitMs: number,
  caller: AbortSignal | undefined,
): Attempt {
  const controller = new AbortController();
  let late = false;

  const createLimit = (): Limit => {
    let timer: unknown;
    const set = (ms: number, wasAsleep = false): void => {
      const dueAt = clock.now() + ms;
      timer = clock.setTimeout(() => {
        // Time that the tab was frozen does not count; a hidden tab's timers are late each time.
        if (!wasAsleep && clock.now() - dueAt > latestMs) return set(ms, true);
        late = true;
        settle();
        controller.abort();
      }, ms);
      // An answer whose body nobody reads must not keep a Node process alive.
      clock.unref?.(timer);
    };
    return (nextMs = Infinity) => {
      clock.clearTimeout(timer);
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
