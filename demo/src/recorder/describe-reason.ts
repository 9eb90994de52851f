import type { RetryReason, StopReason } from 'steadfetch';
import type { AnyPauseReason } from 'steadfetch/react';

/** Why an attempt is made again: the end of "It tries again in 3 s: ...". */
export const retryReasons: Readonly<Record<RetryReason, string>> = {
  network: 'no answer came, and a second request does no harm',
  timeout: 'the attempt took longer than its limit, and a second request does no harm',
  body: 'only a part of the answer arrived, and a second request does no harm',
  'request-timeout': 'the server did not get the whole request in time',
  'too-early': 'the server does not want it this early, so it is tried once more',
  'rate-limited': 'the server said when, and nothing is sent earlier',
  unavailable: 'an overload usually passes',
  'internal-error': 'a 500 may be a hiccup, so it is tried once more',
  'in-progress': 'the first request is still being worked on',
  error: 'an unknown error may pass',
  'should-retry': 'this app wants it',
};

/** Why an operation ended in its failure: the end of "Stopped: ...". */
export const stopReasons: Readonly<Record<StopReason, string>> = {
  'not-retryable': 'another attempt would get the same answer',
  'not-idempotent': 'it may have taken effect, and a second time could do harm',
  processed: 'the server has done it already',
  once: 'a failure of this kind is tried once more and not again',
  'max-retries': 'all retries are used up',
  deadline: 'the next wait would end after the deadline',
  'retry-after': 'the server asks for a longer wait than the policy allows',
  aborted: 'the request was aborted',
  'should-retry': 'this app wants it',
  'paused-too-long': 'the server did not come back in time',
  expired: 'it may have taken effect, and its key is too old to be sent again',
  cancelled: 'you pressed Cancel',
};

/** Why an attempt is paused before it is sent: the end of "Paused: ...". */
export const pauseReasons: Readonly<Record<AnyPauseReason, string>> = {
  'server-down': 'the server is down, and one request at a time finds out when it is back',
  'rate-limited': 'the server has asked for a pause, and nothing is sent here before its end',
  queued: 'others go first, so that not all are sent at once',
  offline: 'nothing is sent while the device is offline, and no retry is spent',
  hidden: 'nothing is sent while this tab is hidden, and no retry is spent',
};

/** The same, in a word or two. */
export const pauseNames: Readonly<Record<AnyPauseReason, string>> = {
  'server-down': 'server down',
  'rate-limited': 'pause',
  queued: 'queue',
  offline: 'offline',
  hidden: 'hidden tab',
};

/** Whether this is why something ended, rather than why it waits. */
export function isStopReason(reason: string | undefined): reason is StopReason {
  return reason !== undefined && reason in stopReasons;
}
