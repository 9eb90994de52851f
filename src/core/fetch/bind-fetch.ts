import { firstOf } from '../lib/abort.ts';
import { readPassed } from '../operation/error-info.ts';
import type { Operation } from '../operation/operation.ts';
import type { Signals } from '../operation/operations.ts';
import type { Submission } from '../operation/parts/submission.ts';
import type { RawFetch, SteadyFetch } from './send.ts';
import { createJson, type SteadyJson } from './json.ts';
import { keepReferrer, readInit, requestOf, signalOf, type SteadyInit } from './init.ts';

/** The two functions that send: for the app, and for another client. */
export interface Fetches {
  readonly fetch: SteadyFetch;
  readonly rawFetch: RawFetch;
}

/**
 * The init of a request that belongs to an operation. The request is also aborted with `signal`, whichever signal it has
 * itself: that of a `Request`, or of a client.
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
    const passed = requestOf(input);
    const own = signalOf(passed, members) ?? signal;
    const both = own === signal ? own : firstOf([signal, own]);
    if (operation) signals.set(both, operation);
    return { ...keepReferrer(passed, members), signal: both };
  });
}

/** The fetches of one operation, and the state of the requests that went through them. */
export interface BoundFetch {
  /**
   * Makes the fetches of the present attempt. All of their requests belong to the operation, also after an await, and are
   * aborted with its signal.
   */
  readonly fetchNow: () => Fetches;
  /** Whether a request of the present attempt may have reached a server, and has not failed. */
  readonly isOut: () => boolean;
  /** Whether no request is under way. */
  readonly isIdle: () => boolean;
  /** Whether only reads are under way, so that nothing can have been done. */
  readonly isReading: () => boolean;
}

/** The instance that sends for an operation. */
interface Sender extends Fetches {
  readonly signals: Signals;
}

/** Makes fetches whose requests belong to an operation. `signal` aborts them, and is linked to the operation from now on. */
export function bindFetch(
  { fetch, rawFetch, signals }: Sender,
  operation: Operation,
  signal: AbortSignal,
): BoundFetch {
  signals.set(signal, operation);
  return {
    fetchNow() {
      const { attempt } = operation;
      const bind =
        (send: SteadyFetch): RawFetch =>
        async (input, init) => {
          // A request of an attempt that is over is sent by the next attempt only.
          if (operation.attempt !== attempt) throw operation.errors.lastError;
          return send(input, joinOperation(signals, operation, signal, input, init));
        };
      return { fetch: bind(fetch), rawFetch: bind(rawFetch) };
    },
    isOut: () =>
      operation.phase.kind === 'sending' ||
      operation.open > operation.pauses.list.length ||
      (operation.phase.kind === 'paused' && operation.attempt === 1 && operation.effects.hasAny()),
    isIdle: () => operation.open === 0,
    // If no request of ours is open, one of another client may be.
    isReading: () => operation.open > 0 && !operation.effects.hasAny(),
  };
}

/** The additions to the context of a mutationFn. */
interface AttemptContext extends Fetches {
  readonly json: SteadyJson;
  readonly idempotencyKey: string;
  readonly takeKey: () => string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** Makes the context of a mutationFn for one attempt. Requests that are sent with its `fetch` carry the key of the submission. */
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
    // A function, because a plain property is also read when the context is logged, copied or spread.
    takeKey() {
      submission.recordTaken();
      return submission.key;
    },
    attempt,
    signal,
  };
}
