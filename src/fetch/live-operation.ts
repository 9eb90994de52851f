import type { Decision, RetryReason } from '../policy/decision.ts';
import type { OperationRef } from '../policy/operation.ts';
import type { PolicyOptions } from '../policy/options.ts';

/** An operation under way. */
export interface LiveOperation {
  /** Which one it is; the attempt is counted beside it. */
  ref: Omit<OperationRef, 'attempt'>;
  attempt: number;
  phase: 'sending' | 'waiting' | 'ended';
  readonly retriedFor: RetryReason[];
  /** Requests that failed and may have been done: a DELETE that finds nothing on a retry has been. */
  unsure?: Set<string>;
  /** In development: the requests of this attempt that failed. One of them again is a second loop. */
  failedRequests?: Set<string> | undefined;
  previousBackoffMs?: number;
  heldMs: number;
  decision?: Decision;
  lastError?: unknown;
  /** When the last attempt failed, in epoch milliseconds. */
  failedAt?: number;
  /** The caller's abort reason, once it was thrown; boxed, because a reason may be any value. */
  abort?: { readonly reason: unknown };
  /** What a lone request is, to know its retry by: method, URL and idempotency key. */
  request?: string;
  /** The policy of this query, mutation or call. */
  policy?: PolicyOptions | undefined;
  /** Whatever it sends may be sent again. */
  readonly idempotent?: boolean | undefined;
  /** Nobody retries its attempts, so that a loop inside it is the only one. */
  readonly isSingle?: boolean | undefined;
}

/** What an operation begins with. */
export type OperationInit = Partial<
  Pick<LiveOperation, 'policy' | 'idempotent' | 'isSingle' | 'attempt' | 'request'>
>;

/** Which operation a signal belongs to: the link that survives an await. */
export type Signals = WeakMap<AbortSignal, LiveOperation>;
