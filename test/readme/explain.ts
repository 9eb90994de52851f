import { isSteadfetchError, outcomeOf } from 'steadfetch';

export function explain(error: unknown): string {
  // Works for any error: also your own, or that of axios.
  if (outcomeOf(error).processed !== 'no') return 'It may have been done. Please check.';
  return isSteadfetchError(error) && error.retryAt
    ? `Not done. Try again at ${new Date(error.retryAt).toLocaleTimeString()}.`
    : 'Not done.';
}
