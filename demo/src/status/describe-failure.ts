import { isHttpError, isNetworkError, isTimeoutError } from 'steadfetch';

/** What went wrong, in the words of the user in front of the screen. */
export function describeFailure(error: unknown): string {
  if (isHttpError(error)) return `${describeStatus(error.status)} (${error.status})`;
  if (isTimeoutError(error)) return 'The server did not answer in time';
  if (isNetworkError(error)) {
    return error.response ? 'The answer broke off half-way' : 'The server could not be reached';
  }
  return 'No answer yet';
}

function describeStatus(status: number): string {
  if (status === 404) return 'There is nothing at this address';
  if (status === 429) return 'The server asks for a pause';
  if (status === 503) return 'The server is overloaded';
  return status >= 500 ? 'Something broke on the server' : 'The server refused';
}
