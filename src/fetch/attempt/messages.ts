import type { PauseReason } from '../../policy/outcome.ts';

// Apps show `error.message` to their users: method and URL are in `error.operation`.

/** Of a request that was rejected. */
export const noAnswerText = (isUnreadable: boolean | undefined): string =>
  isUnreadable
    ? 'The server answers, but its answer may not be read: the login may have expired, a browser extension may block it, or its CORS headers are missing'
    : 'The server did not answer';

/** Of a request that was late: before its headers, or within its body. */
export const lateText = (hasHeaders: boolean): string =>
  hasHeaders ? 'The answer did not arrive in time' : 'The server did not answer in time';

/** Why a request was not sent. */
export const pausedText: Readonly<Record<PauseReason, string>> = {
  offline: 'There is no connection to the network',
  'server-down': 'The server cannot be reached',
  'rate-limited': 'The server takes no more requests for a while',
  queued: 'Too many requests are waiting',
};
