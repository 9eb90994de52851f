import { firstOf } from '../lib/abort.ts';
import { readPassed } from '../operation/error-info.ts';
import type { Operation } from '../operation/operation.ts';
import type { Signals } from '../operation/operations.ts';
import type { Submission } from '../operation/parts/submission.ts';
import type { SteadyFetch } from './fetch.ts';
import { createJson, type SteadyJson } from './json.ts';
import { keepReferrer, readInit, requestOf, signalOf } from './init.ts';

/** A fetch for one operation, and what is known of all that went through it. */
export interface BoundFetch {
  /**
   * Makes that of the present attempt: whatever it sends is part of the operation, also after an
   * await, and ends with its signal.
   */
  readonly fetchNow: () => SteadyFetch;
  /** Whether something of the present attempt may have reached a server, and has not failed. */
  readonly isOut: () => boolean;
  /** Whether nothing of it is under way at the moment. */
  readonly isIdle: () => boolean;
  /** Whether a read is under way, and nothing can have been done. */
  readonly isReading: () => boolean;
}

/** What sends for an operation. */
interface Sender {
  readonly fetch: SteadyFetch;
  readonly signals: Signals;
}

/** Makes a fetch whose requests are part of an operation, and end with `signal`, which is a link to it from now on. */
export function bindFetch(
  { fetch, signals }: Sender,
  operation: Operation,
  signal: AbortSignal,
): BoundFetch {
  let open = 0;
  signals.set(signal, operation);
  return {
    fetchNow() {
      const { attempt } = operation;
      return async (input, init) => {
        // Too late for its attempt: the next one sends it.
        if (operation.attempt !== attempt) throw operation.lastError;
        const sent = readPassed(() => {
          const members = readInit('steady.fetch', init);
          const own = signalOf(input, members) ?? signal;
          const both = own === signal ? own : firstOf([signal, own]);
          signals.set(both, operation);
          return { ...keepReferrer(requestOf(input), members), signal: both };
        });
        open++;
        try {
          return await fetch(input, sent);
        } finally {
          open--;
        }
      };
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

/** What a mutationFn is told of its attempt. */
interface AttemptContext {
  readonly fetch: SteadyFetch;
  readonly json: SteadyJson;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** Makes what a mutationFn is told of its attempt, beside `given`. What it sends with `fetch` has the key of the submission. */
export function attemptContext<Given extends object>(
  given: Given,
  fetch: SteadyFetch,
  submission: Submission,
  attempt: number,
  signal: AbortSignal,
): Given & AttemptContext {
  return {
    ...given,
    fetch,
    json: createJson(fetch),
    get idempotencyKey() {
      // Where it is read, another client is given it.
      submission.isRepeatable = true;
      return submission.key;
    },
    attempt,
    signal,
  };
}
