import { type Failure, failures } from '../../policy/outcome.ts';
import { isSteadfetchError } from '../errors.ts';

/**
 * Whether a signal was aborted because time was up, as that of `AbortSignal.timeout` is. By the name of the reason,
 * which is the same in another realm. An error of ours as the reason ends an attempt that is over.
 */
export function isTimeUp(reason: unknown): boolean {
  try {
    return (
      (Object(reason) as { readonly name?: unknown }).name === 'TimeoutError' &&
      !isSteadfetchError(reason)
    );
  } catch {
    // A getter of the app's threw.
    return false;
  }
}

/**
 * What the abort of a request by its caller shows: a time-out where time was up, and `late` is what that means at
 * this point. Whether it is final is for the owner of the operation to say.
 */
export const failureOfAbort = (reason: unknown, late: Failure): Failure =>
  isTimeUp(reason) ? late : failures.aborted;
