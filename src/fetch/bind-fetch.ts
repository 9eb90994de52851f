import { isSafeMethod } from '../policy/operation.ts';
import type { SteadyFetch } from './create-fetch.ts';
import type { LiveOperation, Signals } from './live-operation.ts';
import { readParts } from './request-parts.ts';

/** A fetch for one operation, and what is known of all that went through it. */
export interface BoundFetch {
  /** Whatever it sends is part of the operation, also after an await, and ends with its signal. */
  readonly fetch: SteadyFetch;
  /** Whether something of the present attempt may have reached a server, and has not failed. */
  readonly isOut: () => boolean;
  /** Whether what is under way is a read, and all that was sent: then nothing can have been done. */
  readonly isReading: () => boolean;
}

export function bindFetch(
  fetch: SteadyFetch,
  live: LiveOperation,
  signal: AbortSignal,
  signals: Signals,
): BoundFetch {
  let open = 0;
  let hasWritten = false;
  return {
    async fetch(input, init) {
      const { method, signal: own } = readParts(input, init ?? {});
      hasWritten ||= !isSafeMethod(method);
      const both = own && own !== signal ? AbortSignal.any([signal, own]) : signal;
      signals.set(both, live);
      open++;
      try {
        return await fetch(input, { ...init, signal: both });
      } finally {
        open--;
      }
    },
    isOut: () =>
      live.phase === 'sending' ||
      open > live.holds.length ||
      (live.phase === 'held' && live.attempt === 1 && live.doubts > 0),
    // While nothing of ours is open, it may be another client that is.
    isReading: () => open > 0 && !hasWritten,
  };
}
