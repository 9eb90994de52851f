/** Why an operation makes another attempt. */
export type RetryReason =
  /** No answer came: refused, reset, DNS, CORS, offline; or the 511 of a captive portal. */
  | 'network'
  /** The time limit of the attempt ended it. */
  | 'timeout'
  /** The body of a 2xx answer broke. */
  | 'body'
  /** 408. */
  | 'request-timeout'
  /** 425, at most once. */
  | 'too-early'
  /** 429. */
  | 'rate-limited'
  /** 502, 503, 504, 520 to 524, 529, 530, and 413 or any other 5xx but 501, 505 and 511 with Retry-After. */
  | 'unavailable'
  /** A 500, or another such 5xx, without Retry-After, at most seven times. */
  | 'internal-error'
  /** 409: the first request with this idempotency key is still running. */
  | 'in-progress'
  /** An error that is not Steadfetch's, in an operation that may be repeated. */
  | 'error'
  /** `shouldRetry` returned true, or the API asks for another attempt. */
  | 'should-retry';

/** The identity of an operation, and its current attempt. */
export interface OperationRef {
  /** Unique within one Steadfetch instance. */
  readonly id: number;
  readonly kind: 'query' | 'mutation' | 'call';
  /** When the operation began, in epoch milliseconds. */
  readonly startedAt: number;
  /** The attempt under way or just ended, counted from 1. */
  readonly attempt: number;
  /** The query key, for a query. */
  readonly queryKey?: readonly unknown[] | undefined;
}

/**
 * One thing that the app wants done, as the policy sees it after a failed attempt: one query
 * fetch, one mutation execution, one `retry` call, or a lone `steady.fetch`.
 */
export interface OperationFacts extends OperationRef {
  /** The method of the request that failed, in upper case. */
  readonly method: string;
  /** The URL of the request that failed, as it was passed; undefined when another client sent it. */
  readonly url: string | undefined;
  /** Whether the request carried an idempotency key that its API is declared to honour. */
  readonly keyed: boolean;
  /** Whether sending it again does no harm: by its method, or as declared. */
  readonly idempotent: boolean;
  /**
   * Attempts that use up no retry: failed trials of their origin (probes, and requests released just after
   * recovery) and, for an infinite query, the attempts before its last progress. @default 0
   */
  readonly trials?: number | undefined;
  /** The reasons of the retries granted so far, in order. */
  readonly retriedFor: readonly RetryReason[];
  /** The backoff before this attempt, in milliseconds, without any Retry-After; undefined before the first retry. */
  readonly previousBackoffMs: number | undefined;
  /**
   * When one of its requests first succeeded, in epoch milliseconds. The deadline counts from the latest such
   * progress. @default startedAt
   */
  readonly progressedAt?: number | undefined;
  /**
   * How long the operation has been paused between attempts since then, in milliseconds. Pauses do not count
   * against the deadline.
   */
  readonly pausedMs: number;
}

const safeMethods = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'];
const idempotentMethods = [...safeMethods, 'PUT', 'DELETE'];

/** Whether a method, in upper case, only reads (RFC 9110 §9.2.1; QUERY is safe by its draft). */
export function isSafeMethod(method: string): boolean {
  return safeMethods.includes(method);
}

/** Whether two requests have the effect of one (RFC 9110 §9.2.2): the safe methods, PUT and DELETE. */
export function isIdempotentMethod(method: string): boolean {
  return idempotentMethods.includes(method);
}
