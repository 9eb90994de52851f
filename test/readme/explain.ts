import { isSteadfetchError } from 'steadfetch';

export function explain(error: unknown): string {
  if (!isSteadfetchError(error)) return 'Something went wrong.';
  if (error.outcome.processed === 'unknown') return 'It may have been done. Please check.';
  return error.retryAt
    ? `Try again at ${new Date(error.retryAt).toLocaleTimeString()}.`
    : error.message;
}
