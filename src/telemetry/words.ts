import type { Outcome, PauseReason, RetryReason, StopReason } from '../core/internal.ts';
import { toUrl } from '../core/lib/input/url.ts';

/** Why another attempt is made, or why none is, in words. */
export const reasons: Readonly<Record<RetryReason | StopReason, string>> = {
  network: 'no answer came',
  timeout: 'no answer came in time',
  body: 'the body broke off',
  'request-timeout': 'the server has not received all of the request',
  'too-early': 'the server asks for it again',
  'rate-limited': 'the server allows no more requests for now',
  unavailable: 'the server is unavailable',
  'internal-error': 'an internal error of the server, which may pass',
  'in-progress': 'the first request with this idempotency key is still running',
  error: 'an error of another client or of the app, in an operation that may be repeated',
  'should-retry': 'shouldRetry or the API decided it',
  'not-retryable': 'another attempt would get the same answer',
  'not-idempotent': 'it may have taken effect, and has no idempotency key',
  processed: 'the server has done it',
  'max-retries': 'all retries were made',
  deadline: 'the next attempt would start after the deadline',
  'retry-after': 'the server asks for a longer wait than maxRetryAfterMs',
  aborted: 'the caller aborted it',
  'paused-too-long': 'it was paused for longer than maxPauseMs',
  expired: 'it may have taken effect, and its idempotency key has expired',
  'age-unknown': 'it may have taken effect, and the age of its idempotency key is not known',
  superseded: 'a later write to its URL was sent, which another attempt would undo',
  cancelled: 'the user cancelled it',
};

/** Why an attempt waits before it is sent, in words. */
export const pauses: Readonly<Record<PauseReason, string>> = {
  offline: 'the device is offline',
  'server-down': 'the server is down',
  'rate-limited': 'the server allows no more requests for now',
  queued: 'others go first',
};

/**
 * The reason of a decision or a pause, in words. Events have only a code, which is short and can be counted.
 *
 * @example
 * ```ts
 * steady.subscribe((event) => {
 *   if (event.type === 'decision') console.log(describeReason(event.decision.reason));
 * });
 * ```
 */
export const describeReason = (reason: RetryReason | StopReason | PauseReason): string =>
  ({ ...reasons, ...pauses })[reason];

/** The outcomes without a detail, in a word or two. */
const plainOutcomes: Readonly<
  Record<Exclude<Outcome['kind'], 'ok' | 'http' | 'timeout' | 'body'>, string>
> = {
  network: 'no answer',
  'paused-too-long': 'paused for too long',
  aborted: 'aborted',
  expired: 'its idempotency key has expired',
  'age-unknown': 'the age of its idempotency key is not known',
  superseded: 'superseded by a later write',
  invalid: 'a request that cannot be sent',
  error: 'an error of another client or of the app',
};

/** An outcome in a word or two. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'ok':
      return `${outcome.status}`;
    case 'http': {
      const { status, retryAfterMs } = outcome;
      return `${status}${retryAfterMs === undefined ? '' : `, Retry-After ${retryAfterMs} ms`}`;
    }
    case 'timeout':
      return `no ${outcome.phase} in time`;
    case 'body':
      return `${outcome.status}, but its body is not usable`;
    default:
      return plainOutcomes[outcome.kind];
  }
}

/** The target of a request, as it may be logged. */
export interface Place {
  readonly origin: string | undefined;
  readonly url: string;
}

/**
 * A URL without credentials and fragment and, unless asked for, without its query string. Of a URL with a
 * scheme other than HTTP only the scheme is kept: the rest of `data:` is content.
 */
export function placeOf(url: string, hasQuery: boolean): Place {
  const parsed = toUrl(url);
  if (!parsed) {
    const end = hasQuery ? /#.*/s : /[?#].*/s;
    return { origin: undefined, url: url.replace(end, '') };
  }
  const { origin, pathname, protocol, search } = parsed;
  if (!/^https?:$/.test(protocol)) return { origin: undefined, url: protocol };
  return { origin, url: `${origin}${pathname}${hasQuery ? search : ''}` };
}
