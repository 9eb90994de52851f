/**
 * Whether the server did what the attempt asked for. `unknown` is an answer, not a gap: the
 * request may have been processed although no (or no final) answer came back.
 */
export type Processed = 'no' | 'yes' | 'unknown';

/** Why an attempt waits before it is sent. */
export type PauseReason =
  /** The device is offline, whatever the origin. */
  | 'offline'
  /** The origin does not answer; a probe goes out from time to time. */
  | 'server-down'
  /** The origin has asked for a pause, or nothing is left of what it allows. */
  | 'rate-limited'
  /** As many attempts as allowed are in flight, or its turn has not come. */
  | 'queued';

/**
 * What a failed attempt showed, or a mutation that has ended in it.
 *
 * | kind | meaning | was it processed? |
 * |---|---|---|
 * | `http` | an answer came with a status that is not 2xx | by its status |
 * | `network` | the attempt was rejected before any header: refused, reset, DNS, CORS, offline | unknown |
 * | `timeout` | our own per-attempt time-out, before the headers or within the body | unknown; by its status |
 * | `body` | a 2xx answer began, and its body broke, could not be read, or is not what was asked for | yes; unknown where somebody else may have answered |
 * | `aborted` | the caller aborted, or the user cancelled | unknown; no before it was sent |
 * | `invalid` | the request was not sent (a programming error, or blocked by the page's CSP) | no |
 * | `paused-too-long` | it was not sent: what it waited for did not come within `maxPauseMs` | no; unknown after an attempt that was |
 * | `over-budget` | it was not sent: the origin's retry budget is spent | the same |
 * | `expired` | it was not sent again: its idempotency key is older than its API keeps it | unknown |
 * | `error` | something else threw inside the operation, and nothing is known about it | unknown |
 *
 * The error in which a mutation ends tells of all of it: `no` where surely nothing of it was done, else
 * `unknown`.
 */
export type Failure = Cause & {
  /** Whether the server did it. */
  readonly processed: Processed;
};

type Cause =
  | {
      readonly kind: 'http';
      readonly status: number;
      /** The server's Retry-After, in milliseconds from receipt; undefined when absent, unreadable or malformed. */
      readonly retryAfterMs: number | undefined;
      /** A 409 which says that the first request with this idempotency key is still running. */
      readonly inProgress: boolean;
      /** What the API itself says about sending it again, where its profile can tell. */
      readonly shouldRetry?: boolean | undefined;
    }
  | { readonly kind: 'timeout'; readonly phase: 'headers' | 'body' }
  | { readonly kind: 'body'; readonly status: number }
  | {
      readonly kind: 'paused-too-long';
      /** What it waited for. */
      readonly reason: PauseReason;
      /** When its origin is tried next, or takes requests again, in epoch milliseconds; undefined when that is not known. */
      readonly retryAt: number | undefined;
    }
  | { readonly kind: 'network' | 'aborted' | 'invalid' | 'over-budget' | 'expired' | 'error' };

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
