import { firstOf } from '../lib/abort.ts';
import { readPassed } from '../operation/error-info.ts';
import type { Operation } from '../operation/operation.ts';
import type { Signals } from '../operation/operations.ts';
import type { Submission } from '../operation/parts/submission.ts';
import type { RawFetch, SteadyFetch } from './fetch.ts';
import { createJson, type SteadyJson } from './json.ts';
import { keepReferrer, readInit, requestOf, signalOf, type SteadyInit } from './init.ts';

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
    const own = signalOf(input, members) ?? signal;
    const both = own === signal ? own : firstOf([signal, own]);
    if (operation) signals.set(both, operation);
    return { ...keepReferrer(requestOf(input), members), signal: both };
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

/** The sender behind an operation. */
interface Sender extends Fetches {
  readonly signals: Signals;
}

/** Makes fetches whose requests are part of an operation, and end with `signal`, which is a link to it from now on. */
export function bindFetch(
  { fetch, rawFetch, signals }: Sender,
  operation: Operation,
  signal: AbortSignal,
): BoundFetch {
  let open = 0;
  signals.set(signal, operation);
  return {
    fetchNow() {
      const { attempt } = operation;
      const bind =
        (send: SteadyFetch): RawFetch =>
        async (input, init) => {
          // Too late for its attempt: the next one sends it.
          if (operation.attempt !== attempt) throw operation.errors.lastError;
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
      operation.phase.kind === 'sending' ||
      open > operation.pauses.list.length ||
      (operation.phase.kind === 'paused' && operation.attempt === 1 && operation.effects.hasAny()),
    isIdle: () => open === 0,
    // While nothing of ours is open, it may be another client that is.
    isReading: () => open > 0 && !operation.effects.hasAny(),
  };
}

/** The context of a mutationFn about its attempt. */
interface AttemptContext extends Fetches {
  readonly json: SteadyJson;
  readonly idempotencyKey: string;
  readonly takeKey: () => string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** Makes what a mutationFn is told of its attempt, beside `given`. What it sends with `fetch` has the key of the submission. */
export function attemptContext<Given extends object>(
  given: Given,
  fetches: Fetches,
  submission: Submission,
  attempt: number,
  signal: AbortSignal,
): Given & AttemptContext {
  return {
    ...given,
    ...fetches,
    json: createJson(fetches.fetch),
    idempotencyKey: submission.key,
    // Plain reading proves nothing: a context is logged, copied and spread.
    takeKey() {
      submission.recordTaken();
      return submission.key;
    },
    attempt,
    signal,
  };
}
