import { callApp, isBoolean, type OnMistake } from '../lib/input/callback.ts';
import type { Random } from '../lib/clock.ts';
import { backoffDelay } from './backoff.ts';
import type { Operation, RetryReason } from './operation.ts';
import type { Policy } from './options.ts';
import { type Failure, type FailureDetails, isUnavailable, type Processed } from './outcome.ts';

/** Why an operation ends with its failure. */
export type StopReason =
  /** Another attempt would get the same answer. */
  | 'not-retryable'
  /** A POST or PATCH without an idempotency key may have taken effect; a second one could do harm. */
  | 'not-idempotent'
  /** A 2xx answer came: the server has done it. */
  | 'processed'
  /** As many retries as `maxRetries` allows have been made; or one after a 425, or five after a 500. */
  | 'max-retries'
  /** The next attempt would start after `deadlineMs`. */
  | 'deadline'
  /** The server asks for a longer wait than `maxRetryAfterMs`. */
  | 'retry-after'
  /** The caller aborted. */
  | 'aborted'
  /** `shouldRetry` returned false, or the API says that another attempt gets the same answer. */
  | 'should-retry'
  /** The operation was paused for as long as it may be: `maxPauseMs`, or what React Query's retries take. */
  | 'paused-too-long'
  /** The request may have taken effect, and its idempotency key is older than the API keeps keys. */
  | 'expired'
  /** The user pressed Cancel. */
  | 'cancelled';

/** What to do after a failed attempt. A plain value, decided once per failure. */
export type Decision =
  | {
      readonly kind: 'retry';
      readonly reason: RetryReason;
      /** How long to wait before the next attempt, in whole milliseconds. */
      readonly delayMs: number;
      /** The backoff in it, without any Retry-After: the next decorrelated step builds on it. */
      readonly backoffMs: number;
      /** When the next attempt starts, in epoch milliseconds. */
      readonly retryAt: number;
    }
  | {
      readonly kind: 'stop';
      readonly reason: StopReason;
      /** When the server takes the request again, in epoch milliseconds; undefined when it did not say. */
      readonly retryAt: number | undefined;
    };

/** What a decision needs besides the failure: the time, chance, and what is known of its endpoint. */
export interface DecideContext {
  /** The wall clock, in epoch milliseconds. */
  readonly nowMs: number;
  /** The source of jitter. */
  readonly random: Random;
  /** Whether another request of the operation may have taken effect, and would do so once more. @default false */
  readonly isUnrepeatable?: boolean;
  /** Whether the endpoint is down, so that the next attempt is paused until it is tried again; or is back since this probe of it was sent. @default false */
  readonly isDown?: boolean;
  /** How long Retry-After and rate limits keep the endpoint closed for all, in milliseconds. @default 0 */
  readonly limitedMs?: number;
  /** Is told what is wrong with an answer of `shouldRetry`. @default nobody is */
  readonly onMistake?: OnMistake | undefined;
}

/** Retry-After is a lower bound, so jitter goes on top of it: up to a tenth. */
const retryAfterJitter = 0.1;

/**
 * What to do after a failed attempt. Total and pure: every failure gets a decision, and a
 * `shouldRetry` that throws or returns no boolean counts as undefined.
 *
 * The rules apply in this order: the status table (with `shouldRetry`), `maxRetries`,
 * `maxRetryAfterMs`, the deadline, the other requests of the operation. Then the wait: that of the endpoint where it is known, else backoff and Retry-After.
 *
 * @example
 * ```ts
 * decide(failures.network, operation, presets.interactive, { nowMs: 0, random: () => 0.5 });
 * // { kind: 'retry', reason: 'network', delayMs: 500, backoffMs: 500, retryAt: 500 }
 * ```
 */
export function decide(
  failure: Failure,
  operation: Operation,
  policy: Policy,
  context: DecideContext,
): Decision {
  const { nowMs, random, isDown, limitedMs = 0 } = context;
  const { retryAfterMs, shouldRetry: advice }: FailureDetails = failure;
  const wanted = callShouldRetry(failure, operation, policy, context) ?? advice;
  const reason = whyRetry(failure);
  const refusal = whyStop(failure, operation, reason, wanted);
  if (refusal) return stop(refusal, failure, nowMs);
  const { attempt, trials = 0, previousBackoffMs } = operation;
  // `maxRetries: 0` means one attempt, even where that attempt was a probe.
  const spent = policy.maxRetries === 0 ? attempt : attempt - trials;
  if (spent > policy.maxRetries) return stop('max-retries', failure, nowMs);
  if (retryAfterMs !== undefined && retryAfterMs > policy.maxRetryAfterMs)
    return stop('retry-after', failure, nowMs);

  const retry = Math.max(1, spent);
  const { backoff, baseMs, factor, capMs } = policy;
  // Written out: a spread of the policy takes several times as long.
  const backoffMs = backoffDelay(
    { backoff, baseMs, factor, capMs, retry, previousBackoffMs },
    random,
  );
  const leastMs =
    retryAfterMs === undefined ? 0 : Math.floor(retryAfterMs * (1 + retryAfterJitter * random()));
  let delayMs = Math.max(backoffMs, leastMs);
  const { startedAt, progressedAt = startedAt, pausedMs } = operation;
  if (nowMs + delayMs > progressedAt + pausedMs + policy.deadlineMs)
    return stop('deadline', failure, nowMs);
  if (context.isUnrepeatable) return stop('not-idempotent', failure, nowMs);
  // All that is paused at the admission goes when that lets it go: no wait of its own comes before.
  if (retryAfterMs === undefined) delayMs = isDown ? 0 : delayMs;
  else if (limitedMs >= retryAfterMs) delayMs = Math.max(backoffMs, limitedMs);
  const retryAt = nowMs + delayMs;
  return { kind: 'retry', reason: reason ?? 'should-retry', delayMs, backoffMs, retryAt };
}

/**
 * What the error of an operation that ends in this failure says of all its requests. Its last attempt may
 * surely not have been done, and another one may have.
 *
 * @param isUnknown - Whether any of its requests may have taken effect.
 */
export function processedAtEnd(
  { processed }: Failure,
  { kind }: Pick<Operation, 'kind'>,
  isUnknown: boolean,
): Processed {
  if (kind !== 'mutation' && processed !== 'no') return processed;
  return isUnknown ? 'unknown' : 'no';
}

function stop(reason: StopReason, failure: Failure, nowMs: number): Decision {
  const { retryAfterMs, retryAt }: FailureDetails = failure;
  return {
    kind: 'stop',
    reason,
    retryAt: retryAfterMs === undefined ? retryAt : nowMs + retryAfterMs,
  };
}

function callShouldRetry(
  failure: Failure,
  operation: Operation,
  { shouldRetry }: Policy,
  { onMistake }: DecideContext,
): boolean | undefined {
  if (failure.kind === 'aborted') return undefined;
  return shouldRetry && callApp(() => shouldRetry(failure, operation), isBoolean, onMistake);
}

const statusReasons: Readonly<Record<number, RetryReason>> = {
  408: 'request-timeout',
  425: 'too-early',
  429: 'rate-limited',
  500: 'internal-error',
  // A captive portal (RFC 6585 §6): the network is not there yet.
  511: 'network',
};

/** Why this failure could be worth another attempt, whatever the method; undefined when it is not. */
function whyRetry(failure: Failure): RetryReason | undefined {
  const { kind } = failure;
  if (kind === 'aborted' || kind === 'invalid' || isNotSent(kind)) return undefined;
  if (kind !== 'http') return kind;
  if (failure.inProgress) return 'in-progress';
  const { status, retryAfterMs } = failure;
  // Retry-After makes a 413 temporary (RFC 9110 §15.5.14), and a 500 something the server expects.
  if (retryAfterMs !== undefined && (status === 413 || status === 500)) return 'unavailable';
  return isUnavailable(status) ? 'unavailable' : statusReasons[status];
}

/**
 * Failures that are retried so often at the most, probes included. A 425 is retried once (RFC 8470 §5.2). A
 * 500 may be an outage, or an error that stays: five retries are sent in about 7 s, as long as React Query's.
 */
const mostRetries: Partial<Readonly<Record<RetryReason, number>>> = {
  'too-early': 1,
  'internal-error': 5,
};

type NotSent = 'paused-too-long' | 'expired';
const isNotSent = (kind: Failure['kind']): kind is NotSent =>
  kind === 'paused-too-long' || kind === 'expired';

/**
 * Why the request must not be sent again; undefined when it may. The first rule that applies wins.
 *
 * `reason` comes from {@link whyRetry}. `wanted` is the answer of `shouldRetry`: it overrides what the
 * failure says, never what the method allows (RFC 9110 §9.2.2).
 */
function whyStop(
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
  // A PUT or DELETE that was processed is complete. A read, or a replay by key, still has an answer to give.
  if (processed === 'yes' && (method === 'PUT' || method === 'DELETE')) return 'processed';
  if (!reason) return 'not-retryable';
  // Without a key, only what the server surely did not process: refused early, or rate-limited.
  const isRefused = reason === 'too-early' || reason === 'rate-limited';
  if (!isRepeatable && !isRefused) return 'not-idempotent';
  const most = mostRetries[reason];
  if (most === undefined) return undefined;
  const made = retriedFor.filter((one) => one === reason).length;
  return made >= most ? 'max-retries' : undefined;
}

/**
 * Whether `shouldRetry` may send a POST or PATCH without a key again: only where the server says
 * that it did not process it, or very probably did not (408, and 503 with Retry-After).
 */
function mayOptIn({ processed, status, retryAfterMs }: FailureDetails & Failure): boolean {
  return processed === 'no' || status === 408 || (status === 503 && retryAfterMs !== undefined);
}
