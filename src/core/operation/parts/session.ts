import type { OperationFacts } from '../../policy/operation.ts';
import type { Failure, Processed } from '../../policy/outcome.ts';
import { createError, NotSentError, SteadfetchError } from '../errors.ts';
import type { RequestFacts } from '../facts.ts';

/** From one log-in to the next: what was begun in it sends nothing once it is over. */
export class Session {
  isOver = false;

  end(): void {
    this.isOver = true;
  }
}

/** A request or a run of `retry` that is under way. Its session ends it. */
export interface Live {
  endSession(): void;
}

/** The operation that has ended. */
interface Ended {
  readonly errors: { readonly lastError: unknown };
  readonly view: (request?: RequestFacts) => OperationFacts;
}

/**
 * The error of what ends with its session, which says whether it may have taken effect. `isOut`: a request of
 * it has gone, and its answer has not come.
 */
export function endedWithSession(
  operation: Ended,
  isOut: boolean,
  processed: Exclude<Processed, 'yes'>,
  request?: RequestFacts,
): SteadfetchError {
  const outcome: Failure = { kind: 'aborted', processed };
  const when = isOut ? 'while it was under way' : 'before it was sent';
  const what = isOut && processed !== 'no' ? ' Whether it was done is not known.' : '';
  return createError(
    isOut ? SteadfetchError : NotSentError,
    `A log-out, or the clearing of its cache, has ended this ${when}.${what}`,
    operation,
    outcome,
    operation.errors.lastError,
    // No loop retries an error with these facts.
    { request, unsent: 'dropped' },
  );
}
