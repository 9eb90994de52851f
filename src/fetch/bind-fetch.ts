import { firstOf } from '../lib/wait.ts';
import { readPassed } from '../operation/error-info.ts';
import type { Operation, Signals } from '../operation/operation.ts';
import type { RawFetch, SteadyFetch } from './fetch.ts';
import { keepReferrer, readInit, readParts, type SteadyInit } from './attempt/request.ts';

/** The two ways to send: for the app, and for another client. */
export interface Fetches {
  readonly fetch: SteadyFetch;
  readonly rawFetch: RawFetch;
}

/**
 * A request as part of an operation, which it also ends with: whatever signal it has come with, that of a
 * `Request` or of a client's own.
 */
export function joinOperation(
  signals: Signals,
  operation: Operation | undefined,
  signal: AbortSignal,
  input: RequestInfo | URL,
  init: Parameters<RawFetch>[1],
): SteadyInit {
  return readPassed(() => {
    const members: SteadyInit = readInit('steady.fetch', init as SteadyInit);
    const { request, signal: own = signal } = readParts(input, members);
    const both = own === signal ? own : firstOf([signal, own]);
    if (operation) signals.set(both, operation);
    return { ...keepReferrer(request, members), signal: both };
  });
}

/** The fetches of one operation, and what is known of all that went through them. */
export interface BoundFetch {
  /**
   * Makes those of the present attempt: whatever they send is part of the operation, also after an
   * await, and ends with its signal.
   */
  readonly fetchNow: () => Fetches;
  /** Whether something of the present attempt may have reached a server, and has not failed. */
  readonly isOut: () => boolean;
  /** Whether nothing of it is under way at the moment. */
  readonly isIdle: () => boolean;
  /** Whether a read is under way, and nothing can have been done. */
  readonly isReading: () => boolean;
}

/** Makes fetches whose requests are part of an operation, and end with `signal`. */
export function bindFetch(
  { fetch, rawFetch }: Fetches,
  operation: Operation,
  signal: AbortSignal,
  signals: Signals,
): BoundFetch {
  let open = 0;
  return {
    fetchNow() {
      const { attempt } = operation;
      const bind =
        (send: SteadyFetch): RawFetch =>
        async (input, init) => {
          // Too late for its attempt: the next one sends it.
          if (operation.attempt !== attempt) throw operation.lastError;
          const sent = joinOperation(signals, operation, signal, input, init);
          open++;
          try {
            return await send(input, sent);
          } finally {
            open--;
          }
        };
      return { fetch: bind(fetch), rawFetch: bind(rawFetch) };
    },
    isOut: () =>
      operation.phase === 'sending' ||
      open > operation.pauses.list.length ||
      (operation.phase === 'paused' && operation.attempt === 1 && operation.effects.hasAny()),
    isIdle: () => open === 0,
    // While nothing of ours is open, it may be another client that is.
    isReading: () => open > 0 && !operation.effects.hasAny(),
  };
}
