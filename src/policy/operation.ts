import type { RetryReason } from './decision.ts';

/**
 * One thing that the app wants done, as the policy sees it after a failed attempt: one query
 * fetch, one mutation execution, one `retry` call, or a lone `steady.fetch`.
 */
export interface Operation extends OperationRef {
  /** The method of the request that failed, in upper case. */
  readonly method: string;
  /** The URL of the request that failed, as it was passed; undefined when another client sent it. */
  readonly url: string | undefined;
  /** The request carried an idempotency key that its API is declared to honour. */
  readonly keyed: boolean;
  /** Sending it again does no harm: an idempotent method, or declared so. */
  readonly idempotent: boolean;
  /** Attempts that were the probe of something down, and failed: they use up no retries. @default 0 */
  readonly probes?: number | undefined;
  /** The reasons of the retries granted so far, in order. */
  readonly retriedFor: readonly RetryReason[];
  /** The backoff before this attempt, in milliseconds, without any Retry-After; undefined before the first retry. */
  readonly previousBackoffMs: number | undefined;
  /** How long it was paused between its attempts (offline, hidden tab): this does not count against the deadline. */
  readonly pausedMs: number;
}

/** Which operation it is, and where it stands. */
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

const safeMethods = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'];

/** Whether a method, in upper case, only reads (RFC 9110 §9.2.1; QUERY is safe by its draft). */
export function isSafeMethod(method: string): boolean {
  return safeMethods.includes(method);
}

/** Whether doing it twice has the effect of doing it once (RFC 9110 §9.2.2): the safe methods, PUT and DELETE. */
export function isIdempotentMethod(method: string): boolean {
  return isSafeMethod(method) || method === 'PUT' || method === 'DELETE';
}
