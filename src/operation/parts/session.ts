import type { Operation as OperationView } from '../../policy/operation.ts';
import type { Failure, Processed } from '../../policy/outcome.ts';
import { reportFailure } from '../error-info.ts';
import { NotSentError, SteadfetchError } from '../errors.ts';
import type { RequestFacts } from '../facts.ts';

/** From one log-in to the next: what was begun in it sends nothing once it is over. */
export class Session {
  isOver = false;

  end(): void {
    this.isOver = true;
  }
}

/** What a session ends that is under way in it. */
export interface Live {
  endSession(): void;
}

/** The operation that has ended. */
interface Ended {
  readonly errors: { readonly lastError: unknown };
  readonly view: (request?: RequestFacts) => OperationView;
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
  const init = { operation: operation.view(request), outcome, cause: operation.errors.lastError };
  const error = isOut
    ? new SteadfetchError(
        processed === 'no'
          ? 'A log-out, or the clearing of its cache, has ended this while it was under way.'
          : 'A log-out, or the clearing of its cache, has ended this while it was under way. Whether it was done is not known.',
        init,
      )
    : new NotSentError(
        'A log-out, or the clearing of its cache, has ended this before it was sent.',
        init,
      );
  // It is tried again by no loop.
  reportFailure(error, { request, operation, failure: outcome, unsent: 'dropped' });
  return error;
}
