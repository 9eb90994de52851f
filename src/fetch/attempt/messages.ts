import type { PauseReason } from '../../policy/outcome.ts';

// Apps show `error.message` to their users: method and URL are in `error.operation`.

const unreadable =
  'The server answers, but its answer may not be read: the login may have expired, a browser extension may block it, or its CORS headers are missing';

/** What platforms say of every request without an answer. */
const standard =
  /^(|Failed to fetch|fetch failed|Load failed|Network request failed|NetworkError when .*)$/;

/** Of a request that was rejected. Where the cause says more than "failed", so does the message. */
export function noAnswerText(cause: unknown, isUnreadable: boolean | undefined): string {
  if (isUnreadable) return unreadable;
  const { message, cause: root } = Object(cause) as { message?: unknown; cause?: unknown };
  const said = [message, (Object(root) as { message?: unknown }).message].find(
    (text) => typeof text === 'string' && !standard.test(text),
  );
  const more = typeof said === 'string' ? `: ${said.replace(/\.$/, '')}` : '';
  return `The server did not answer${more}`;
}

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
