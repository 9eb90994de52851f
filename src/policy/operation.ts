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
  /** 502, 503, 504, 520 to 524, 529, 530, and 413 or 500 with Retry-After. */
  | 'unavailable'
  /** A 500 without Retry-After, at most seven times. */
  | 'internal-error'
  /** 409: the first request with this idempotency key is still running. */
  | 'in-progress'
  /** An error that is not Steadfetch's, in an operation that may be repeated. */
  | 'error'
  /** `shouldRetry` returned true, or the API asks for another attempt. */
  | 'should-retry';

/** Which operation it is, and how far it is. */
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
export interface Operation extends OperationRef {
  /** The method of the request that failed, in upper case. */
  readonly method: string;
  /** The URL of the request that failed, as it was passed; undefined when another client sent it. */
  readonly url: string | undefined;
  /** Whether the request carried an idempotency key that its API is declared to honour. */
  readonly keyed: boolean;
  /** Whether sending it again does no harm: an idempotent method, or declared to be one. */
  readonly idempotent: boolean;
  /**
   * How many attempts use up no retries: failed trials of their origin (probes of something down, and what
   * was let go once it was back) and, of an infinite query, those before its last progress. @default 0
   */
  readonly trials?: number | undefined;
  /** The reasons of the retries granted so far, in order. */
  readonly retriedFor: readonly RetryReason[];
  /** The backoff before this attempt, in milliseconds, without any Retry-After; undefined before the first retry. */
  readonly previousBackoffMs: number | undefined;
  /**
   * When a request of it was answered well that had not been before, in epoch milliseconds: the deadline
   * counts from there. @default startedAt
   */
  readonly progressedAt?: number | undefined;
  /** How long the operation was paused since then, between its attempts, in milliseconds: this does not count against the deadline. */
  readonly pausedMs: number;
}

const safeMethods = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'];
const idempotentMethods = [...safeMethods, 'PUT', 'DELETE'];

/** Whether a method, in upper case, only reads (RFC 9110 §9.2.1; QUERY is safe by its draft). */
export function isSafeMethod(method: string): boolean {
  return safeMethods.includes(method);
}

/** Whether doing it twice has the effect of doing it once (RFC 9110 §9.2.2): the safe methods, PUT and DELETE. */
export function isIdempotentMethod(method: string): boolean {
  return idempotentMethods.includes(method);
}
