import type { RetryReason, StopReason } from './decision.ts';
import type { Operation } from './operation.ts';
import type { Failure } from './outcome.ts';

const statusReasons: Readonly<Record<number, RetryReason>> = {
  408: 'request-timeout',
  425: 'too-early',
  429: 'rate-limited',
  500: 'internal-error',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** Why this failure could be worth another attempt, whatever the method; undefined when it is not. */
export function whyRetry(failure: Failure): RetryReason | undefined {
  const { kind } = failure;
  if (kind === 'aborted' || kind === 'invalid' || isNotSent(kind)) return undefined;
  if (kind !== 'http') return kind;
  if (failure.inProgress) return 'in-progress';
  const { status, retryAfterMs } = failure;
  // The server says when it is worth it: a temporary 413, a 500 that is no accident.
  if (retryAfterMs !== undefined && (status === 413 || status === 500)) return 'unavailable';
  return statusReasons[status];
}

type NotSent = 'paused-too-long' | 'over-budget' | 'expired';
const isNotSent = (kind: Failure['kind']): kind is NotSent =>
  kind === 'paused-too-long' || kind === 'over-budget' || kind === 'expired';

/**
 * Was it processed, and may it be sent again? Returns why not; undefined when it may. The order of
 * the rules is their rank.
 *
 * `reason` is {@link whyRetry}'s, and `wanted` the answer of `shouldRetry`: it overrides what the
 * failure says, never what the operation is (RFC 9110 §9.2.2).
 */
export function whyStop(
  failure: Failure,
  operation: Operation,
  reason: RetryReason | undefined,
  wanted: boolean | undefined,
): StopReason | undefined {
  const { kind, processed } = failure;
  const { method, retriedFor } = operation;
  const isRepeatable = operation.idempotent || operation.keyed;
  if (kind === 'aborted') return kind;
  if (isNotSent(kind)) return kind;
  if (kind === 'invalid') return 'not-retryable';
  if (wanted === false) return 'should-retry';
  if (processed === 'yes' && !isRepeatable) return 'processed';
  if (wanted) return isRepeatable || mayOptIn(failure) ? undefined : 'not-idempotent';
  // PUT and DELETE have no more to give than their effect; a read, or a keyed replay, has an answer.
  if (processed === 'yes' && (method === 'PUT' || method === 'DELETE')) return 'processed';
  if (!reason) return 'not-retryable';
  // Without a key, only what was surely not done: refused early, or turned away by a limit.
  const isRefused = reason === 'too-early' || reason === 'rate-limited';
  if (!isRepeatable && !isRefused) return 'not-idempotent';
  // Once, so that it does not become a habit (425: RFC 8470 §5.2; 500 without Retry-After).
  const isOnce = reason === 'too-early' || reason === 'internal-error';
  return isOnce && retriedFor.includes(reason) ? 'once' : undefined;
}

/**
 * Whether a POST or PATCH without a key may be sent again because the app asks for it: only where
 * the server says that it did not do the work, or all but says so (408, and 503 with Retry-After).
 */
function mayOptIn(failure: Failure): boolean {
  if (failure.kind !== 'http') return failure.processed === 'no';
  const { status, retryAfterMs, processed } = failure;
  return processed === 'no' || status === 408 || (status === 503 && retryAfterMs !== undefined);
}
