/**
 * Whether the server did what the attempt asked for. `unknown` is an answer, not a gap: the
 * request may have been processed although no (or no final) answer came back.
 */
export type Processed = 'no' | 'yes' | 'unknown';

/** Why an attempt waits before it is sent. */
export type HoldReason =
  /** The device is offline, whatever the origin. */
  | 'offline'
  /** The origin does not answer; a canary goes out from time to time. */
  | 'server-down'
  /** The origin has asked for a pause, or nothing is left of what it allows. */
  | 'rate-limited'
  /** As many attempts as allowed are in flight, or its turn has not come. */
  | 'queued';

/**
 * What a failed attempt showed.
 *
 * | kind | meaning |
 * |---|---|
 * | `http` | an answer came with a status that is not 2xx |
 * | `network` | the attempt was rejected before any header: refused, reset, DNS, CORS, offline |
 * | `timeout` | our own per-attempt time-out, before the headers or within the body |
 * | `body` | a 2xx answer began, and its body broke or could not be read |
 * | `aborted` | the caller aborted, or the person cancelled |
 * | `invalid` | the request was not sent (a programming error, or blocked by the page's CSP) |
 * | `held-too-long` | it was not sent: what it waited for did not come within `holdMs` |
 * | `over-budget` | it was not sent: the origin's retry budget is spent |
 * | `expired` | it was not sent again: its idempotency key is older than its API keeps it |
 * | `error` | something else threw inside the operation, and nothing is known about it |
 */
export type Failure =
  | {
      readonly kind: 'http';
      readonly status: number;
      /** The server's Retry-After, in milliseconds from receipt; undefined when absent, unreadable or malformed. */
      readonly retryAfterMs: number | undefined;
      /** A 409 which says that the first request with this idempotency key is still running. */
      readonly inProgress: boolean;
      /** What the API itself says about sending it again, where its profile can tell. */
      readonly shouldRetry?: boolean | undefined;
      readonly processed: Processed;
    }
  | { readonly kind: 'network'; readonly processed: 'unknown' }
  | {
      readonly kind: 'timeout';
      readonly phase: 'headers' | 'body';
      readonly processed: Processed;
    }
  | {
      readonly kind: 'body';
      readonly status: number;
      /** `unknown` once a mutation has ended in it: whoever submitted it cannot see what was done. */
      readonly processed: 'yes' | 'unknown';
    }
  | {
      readonly kind: 'aborted';
      /** `no` where it was cancelled before it was sent, also by an earlier press of its form. */
      readonly processed: 'no' | 'unknown';
    }
  | {
      readonly kind: 'invalid';
      /** `unknown` where a mutation has ended in it, of which another request may have been done. */
      readonly processed: 'no' | 'unknown';
    }
  | {
      readonly kind: 'held-too-long';
      /** What it waited for. */
      readonly reason: HoldReason;
      /** When its origin is tried next, or takes requests again, in epoch milliseconds; undefined when that is not known. */
      readonly retryAt: number | undefined;
      /** `unknown` where an earlier attempt may have been. */
      readonly processed: 'no' | 'unknown';
    }
  | { readonly kind: 'over-budget'; readonly processed: 'no' | 'unknown' }
  | { readonly kind: 'expired'; readonly processed: 'unknown' }
  | { readonly kind: 'error'; readonly processed: 'unknown' };

/** What an attempt showed: it went well, or a {@link Failure}. */
export type Outcome =
  | { readonly kind: 'ok'; readonly status: number; readonly processed: 'yes' }
  | Failure;

/** The failures that carry no data of their own. */
export const failures: Readonly<Record<'network' | 'aborted' | 'invalid' | 'error', Failure>> = {
  network: { kind: 'network', processed: 'unknown' },
  aborted: { kind: 'aborted', processed: 'unknown' },
  invalid: { kind: 'invalid', processed: 'no' },
  error: { kind: 'error', processed: 'unknown' },
};
