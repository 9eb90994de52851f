import { isSafeMethod } from '../../policy/operation.ts';
import { reportFailure } from '../error-info.ts';
import type { Effects } from './effects.ts';
import type { KnownErrors } from './known-errors.ts';

/** An operation whose function has resolved. */
interface Resolved {
  readonly errors: Pick<KnownErrors, 'raw'>;
  readonly effects: Pick<Effects, 'isAnyDone'>;
}

/**
 * Keeps a failed write from counting as a success where its client has handed out the failure as its result, as
 * openapi-fetch does with `{ error }`. An answer that an app may accept, such as a 409 of its own, counts as the app
 * says. Where a write was done, the app alone judges those beside it.
 *
 * @throws Error that is reported as the failure.
 */
export function refuseHandedOut({ errors, effects }: Resolved): void {
  const { raw } = errors;
  if (!raw || isSafeMethod(raw.request?.method ?? 'GET') || effects.isAnyDone()) return;
  const { failure } = raw;
  const mayPass =
    failure.processed === 'unknown' || (failure.kind === 'http' && failure.status === 429);
  if (!mayPass) return;
  const error = new Error('No answer says that it was done.');
  reportFailure(error, raw);
  throw error;
}
