import { systemClock } from '../lib/clock.ts';
import type { Failure } from '../policy/outcome.ts';
import { isSteadfetchError } from './errors.ts';
import { reportOf } from './failure-report.ts';

/**
 * What is known of a failure, whoever's error it is: an error of Steadfetch, what `response.json()`
 * of ours threw, the reason of an abort, or the error of another client. Where nothing is known, it is
 * `{ kind: 'error', processed: 'unknown' }`.
 *
 * @example
 * ```ts
 * import { MutationCache } from '@tanstack/react-query';
 * import { outcomeOf } from 'steadfetch';
 *
 * export const mutationCache = new MutationCache({
 *   onError(error) {
 *     const isSurelyNotDone = outcomeOf(error).processed === 'no';
 *     alert(isSurelyNotDone ? 'Not done.' : 'It may have been done. Please look first.');
 *   },
 * });
 * ```
 */
export function outcomeOf(error: unknown): Failure {
  try {
    if (isSteadfetchError(error)) return error.outcome;
  } catch {
    // A proxy of somebody else's.
  }
  return reportOf(error, systemClock.now()).failure;
}
