/** Why an attempt is made again. */
export type RetryReason =
  /** No answer: refused, reset, DNS, CORS, offline. */
  | 'network'
  /** Our per-attempt time-out. */
  | 'timeout'
  /** A 2xx answer whose body broke. */
  | 'body'
  /** 408. */
  | 'request-timeout'
  /** 425, at most once. */
  | 'too-early'
  /** 429. */
  | 'rate-limited'
  /** 502, 503, 504, and 413 or 500 with Retry-After. */
  | 'unavailable'
  /** A 500 without Retry-After, at most once. */
  | 'internal-error'
  /** 409: the first request with this idempotency key is still running. */
  | 'in-progress'
  /** An error that is not Steadfetch's, in an operation that may be repeated. */
  | 'error'
  /** `shouldRetry` returned true, or the API says so. */
  | 'should-retry';

/** Why an operation ends in its failure. */
export type StopReason =
  /** The answer would be the same again. */
  | 'not-retryable'
  /** It may have been done, and doing it twice could do harm: POST or PATCH without an idempotency key. */
  | 'not-idempotent'
  /** A 2xx answer came: it has been done. */
  | 'processed'
  /** This kind of failure is retried at most once. */
  | 'once'
  | 'max-retries'
  /** The next wait would end after the deadline. */
  | 'deadline'
  /** The server asks for a longer wait than `maxRetryAfterMs`. */
  | 'retry-after'
  /** The caller aborted. */
  | 'aborted'
  /** `shouldRetry` returned false, or the API says so: it would answer the same again. */
  | 'should-retry'
  /** It was paused for longer than `maxPauseMs`. */
  | 'paused-too-long'
  /** The origin's retry budget is spent. */
  | 'over-budget'
  /** Its idempotency key is older than its API keeps it, and it may have been done. */
  | 'expired'
  /** The user pressed Cancel. */
  | 'cancelled';

/** What to do after a failed attempt. A plain value, decided once per failure. */
export type Decision =
  | {
      readonly kind: 'retry';
      readonly reason: RetryReason;
      /** Time to wait before the next attempt, in whole milliseconds. */
      readonly delayMs: number;
      /** The part of it that is backoff, before any Retry-After: the next decorrelated step builds on it. */
      readonly backoffMs: number;
      /** When the next attempt starts, in epoch milliseconds. */
      readonly retryAt: number;
    }
  | {
      readonly kind: 'stop';
      readonly reason: StopReason;
      /** When the server would have us back, in epoch milliseconds; undefined when it did not say. */
      readonly retryAt: number | undefined;
    };
