import type { Clock } from '../lib/clock.ts';
import type { Timeout } from '../policy/options.ts';

/** What does nothing for so long is given up. */
const leastMs = 60_000;
/** Looked at so often meanwhile: after the machine has slept, one late look is not enough. */
const looks = 6;

/** A handler has neither ended nor had a request under way for too long. */
export class IdleError extends Error {
  override readonly name = 'IdleError' as const;
  constructor(limitMs: number) {
    super(
      `The mutationFn of an outbox handler has not settled, and has sent nothing, for ${limitMs / 1000} s. ` +
        'It is tried again later. Let whatever it awaits end by itself, or give its policy a longer timeout.',
    );
  }
}

/** What a handler that never settles is raced against. */
export interface IdleRace {
  /** Rejects when it is given up or aborted; never resolves. */
  readonly promise: Promise<never>;
  readonly stop: () => void;
}

/** `idleSince` says since when nothing of it is under way; undefined while something is. */
export function raceIdle(
  clock: Clock,
  timeout: Timeout,
  signal: AbortSignal,
  idleSince: () => number | undefined,
): IdleRace {
  const timeoutMs = typeof timeout === 'object' ? timeout.headersMs : timeout;
  const limitMs = Math.max(leastMs, timeoutMs);
  let timer: unknown;
  let stop = (): void => {};
  const promise = new Promise<never>((_, reject) => {
    let last = idleSince();
    let count = 0;
    const look = (): void => {
      const since = idleSince();
      count = since !== undefined && since === last ? count + 1 : 0;
      last = since;
      if (count === looks) reject(new IdleError(limitMs));
      else plan();
    };
    const plan = (): void => {
      if (limitMs === Infinity) return;
      timer = clock.setTimeout(look, limitMs / looks);
      clock.unref?.(timer);
    };
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
    stop = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    plan();
  });
  return { promise, stop };
}
