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
  /** Whether all that was sent only reads, so that nothing can have been done. */
  readonly isReading: () => boolean;
}

export function bindFetch(
  fetch: SteadyFetch,
  live: LiveOperation,
  signal: AbortSignal,
  signals: Signals,
): BoundFetch {
  let open = 0;
  let hasRead = false;
  let hasWritten = false;
  let doneIn = 0;
  return {
    async fetch(input, init) {
      const { method, signal: own } = readParts(input, init ?? {});
      const isSafe = isSafeMethod(method);
      if (isSafe) hasRead = true;
      else hasWritten = true;
      const both = own && own !== signal ? AbortSignal.any([signal, own]) : signal;
      signals.set(both, live);
      open++;
      try {
        const response = await fetch(input, { ...init, signal: both });
        if (!isSafe) doneIn = live.attempt;
        return response;
      } finally {
        open--;
      }
    },
    isOut: () =>
      live.phase === 'sending' ||
      open > live.holds.length ||
      (live.phase === 'held' && doneIn === live.attempt),
    isReading: () => hasRead && !hasWritten,
  };
}
