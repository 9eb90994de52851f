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
  /** As many retries as `maxRetries` allows have been made; or one after a 425, or seven after a 500. */
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
  /** Whether the failure stands alone: it came within a second, from an origin that was healthy until then. @default false */
  readonly isAlone?: boolean;
  /** Whether another client has sent it: nothing is known of its endpoint, and nothing is paused. @default false */
  readonly isForeign?: boolean;
  /** How long Retry-After and rate limits keep the endpoint closed for all, in milliseconds. @default 0 */
  readonly limitedMs?: number;
  /** Is told what is wrong with an answer of `shouldRetry`. @default nobody is */
  readonly onMistake?: OnMistake | undefined;
}

/** Retry-After is a lower bound, so jitter goes on top of it: up to a tenth. */
const retryAfterJitter = 0.1;
/**
 * A query whose requests another client sends is not paused while its server is down. Its retries are all that it
 * has: they reach as far as those of React Query, with a twentieth on top.
 */
const foreignJitter = 0.05;

/**
 * What to do after a failed attempt. Total and pure: every failure gets a decision, and a
 * `shouldRetry` that throws or returns no boolean counts as undefined.
 *
 * The first stop rule that applies ends the operation. Where none does, another attempt follows: after the wait
 * of its endpoint where that is known, else after backoff and Retry-After.
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
  const { nowMs, isDown, limitedMs = 0 } = context;
  const { retryAfterMs, retryAt: toldAt, shouldRetry: advice }: FailureDetails = failure;
  const { attempt, trials = 0 } = operation;
  const reason = whyRetry(failure);
  // Its limit lets those who wait there go in turn: no wait of its own comes before.
  const isPaced = reason === 'rate-limited' && limitedMs > 0 && limitedMs >= (retryAfterMs ?? 0);
  let drawn: Wait | undefined;
  const failed: FailedAttempt = {
    failure,
    operation,
    policy,
    context,
    reason,
    isPaced,
    wanted: callShouldRetry(failure, operation, policy, context) ?? advice,
    isRepeatable: operation.idempotent || operation.keyed,
    // `maxRetries: 0` means one attempt, even where that attempt was a probe.
    spent: policy.maxRetries === 0 ? attempt : attempt - trials,
    wait: () => (drawn ??= drawWait(failed)),
  };
  for (const [stopReason, applies] of stopRules) {
    if (!applies(failed)) continue;
    // What ends for the length of the wait says when that is over.
    const isLimited = isPaced && (stopReason === 'deadline' || stopReason === 'retry-after');
    const isTold = retryAfterMs !== undefined && stopReason !== 'deadline';
    const waitMs = isLimited && !isTold ? limitedMs : retryAfterMs;
    const retryAt = waitMs === undefined ? toldAt : nowMs + waitMs;
    return { kind: 'stop', reason: stopReason, retryAt };
  }
  const { backoffMs, delayMs: ownMs } = failed.wait();
  let delayMs = ownMs;
  // While the endpoint is down, admission decides when to resume; no backoff is added.
  if (retryAfterMs === undefined) delayMs = isDown ? 0 : ownMs;
  else if (!isPaced && limitedMs >= retryAfterMs) delayMs = Math.max(backoffMs, limitedMs);
  const retryAt = nowMs + delayMs;
  return { kind: 'retry', reason: reason ?? 'should-retry', delayMs, backoffMs, retryAt };
}

/** The wait before a retry, in milliseconds: the backoff, and with Retry-After. */
interface Wait {
  readonly backoffMs: number;
  readonly delayMs: number;
}

/** A failed attempt, as the stop rules see it. */
interface FailedAttempt {
  readonly failure: Failure & FailureDetails;
  readonly operation: Operation;
  readonly policy: Policy;
  readonly context: DecideContext;
  /** Why the failure could be worth another attempt, whatever the method; undefined when it is not. */
  readonly reason: RetryReason | undefined;
  /** It was refused for a rate limit that is known. */
  readonly isPaced: boolean;
  /**
   * What `shouldRetry` answers, or else the API. It overrides what the status says, never what the method
   * allows (RFC 9110 §9.2.2).
   */
  readonly wanted: boolean | undefined;
  /** Sending it twice has the effect of sending it once: by its method, its key or a declaration. */
  readonly isRepeatable: boolean;
  /** How many attempts use up retries. */
  readonly spent: number;
  /** Drawn at the first call: what is stopped before draws nothing. */
  readonly wait: () => Wait;
}

function drawWait({
  failure,
  reason,
  operation,
  policy,
  context,
  spent,
  isPaced,
}: FailedAttempt): Wait {
  const { factor, capMs, fastRetryMs } = policy;
  const { kind, status, retryAfterMs } = failure;
  const { isAlone, limitedMs = 0, random } = context;
  // 529 says that there is too much already.
  const isTransient = kind === 'network' || (reason === 'unavailable' && status !== 529);
  const isFirst = operation.retriedFor.length === 0 && retryAfterMs === undefined;
  const isFast = isAlone && isFirst && isTransient;
  const baseMs = isFast ? Math.min(policy.baseMs, fastRetryMs) : policy.baseMs;
  const { previousBackoffMs } = operation;
  const retry = Math.max(1, spent);
  const isUnpaused = !!context.isForeign && operation.kind === 'query' && policy.backoff === 'full';
  const backoff = isUnpaused ? 'none' : policy.backoff;
  // Written out: a spread of the policy takes several times as long.
  const stepMs = backoffDelay({ backoff, baseMs, factor, capMs, retry, previousBackoffMs }, random);
  const backoffMs = isUnpaused ? Math.floor(stepMs * (1 + foreignJitter * random())) : stepMs;
  const leastMs =
    retryAfterMs === undefined ? 0 : Math.floor(retryAfterMs * (1 + retryAfterJitter * random()));
  return { backoffMs, delayMs: isPaced ? limitedMs : Math.max(backoffMs, leastMs) };
}

/** A rule that ends an operation with its failure. */
type StopRule = readonly [reason: StopReason, applies: (failed: FailedAttempt) => boolean];

/**
 * When nothing more is sent: the first rule that applies, from top to bottom. A comment has the name of its rule and,
 * in a sentence, when it applies: `npm run reference` prints them into docs/retry.md.
 */
const stopRules: readonly StopRule[] = [
  /** Aborted: The caller aborted. */
  ['aborted', ({ failure }) => failure.kind === 'aborted'],
  /** Paused too long: It was paused for longer than `maxPauseMs`, and not sent. */
  ['paused-too-long', ({ failure }) => failure.kind === 'paused-too-long'],
  /** Key expired: It may have taken effect, and its idempotency key is older than the API keeps keys. */
  ['expired', ({ failure }) => failure.kind === 'expired'],
  /** Never sent: The page or the browser refused to send it, and would do so again. */
  ['not-retryable', ({ failure }) => failure.kind === 'invalid'],
  /** Refused by the app: `shouldRetry` returned false, or the API says that another attempt gets the same answer. */
  ['should-retry', ({ wanted }) => wanted === false],
  /** Done: A 2xx answer came to a request that must not be sent twice: the server has done it. */
  ['processed', ({ failure, isRepeatable }) => failure.processed === 'yes' && !isRepeatable],
  /** Asked for without a key: `shouldRetry` returned true for a `POST` or `PATCH` without a key that the server may have done. */
  [
    'not-idempotent',
    ({ wanted, isRepeatable, failure }) => !!wanted && !isRepeatable && !isHardlyProcessed(failure),
  ],
  /** Complete: A `PUT` or `DELETE` that was done is complete. A read, or a replay by key, still has an answer to give. */
  [
    'processed',
    ({ wanted, failure, operation: { method } }) =>
      !wanted && failure.processed === 'yes' && (method === 'PUT' || method === 'DELETE'),
  ],
  /** Same answer: Another attempt would get the same answer: the failure is not among those that are retried. */
  ['not-retryable', ({ wanted, reason }) => !wanted && !reason],
  /** No key: A `POST` or `PATCH` without a key may have taken effect. Only a 425 and a 429 say that it has not. */
  [
    'not-idempotent',
    ({ wanted, isRepeatable, reason }) =>
      !wanted && !isRepeatable && reason !== 'too-early' && reason !== 'rate-limited',
  ],
  /** Often enough: One retry was made after a 425, or seven after a 500, probes included. */
  [
    'max-retries',
    ({ wanted, reason = 'error', operation: { retriedFor } }) =>
      !wanted &&
      retriedFor.filter((one) => one === reason).length >= (mostRetries[reason] ?? Infinity),
  ],
  /** Max retries: As many retries as `maxRetries` allows were made. A failed probe of an endpoint that is down is none. */
  ['max-retries', ({ spent, policy: { maxRetries } }) => spent > maxRetries],
  /** Retry after: `Retry-After`, or a rate limit that is known, is longer than `maxRetryAfterMs`. */
  [
    'retry-after',
    ({ failure: { retryAfterMs }, isPaced, context: { limitedMs = 0 }, policy }) =>
      (retryAfterMs ?? (isPaced ? limitedMs : 0)) > policy.maxRetryAfterMs,
  ],
  /** Deadline: The next attempt would start after `deadlineMs`. */
  [
    'deadline',
    (failed) => {
      const { startedAt, progressedAt = startedAt, pausedMs } = failed.operation;
      const leftMs = progressedAt + pausedMs + failed.policy.deadlineMs - failed.context.nowMs;
      return failed.wait().delayMs > leftMs;
    },
  ],
  /** Another request: Another request of the operation may have taken effect, and would do so once more. */
  ['not-idempotent', ({ context }) => !!context.isUnrepeatable],
];

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

/** Why a failure could be worth another attempt. */
function whyRetry(failure: Failure): RetryReason | undefined {
  const { kind } = failure;
  if (kind === 'aborted' || kind === 'invalid') return undefined;
  if (kind === 'paused-too-long' || kind === 'expired') return undefined;
  if (kind !== 'http') return kind;
  if (failure.inProgress) return 'in-progress';
  const { status, retryAfterMs } = failure;
  // Retry-After makes a 413 temporary (RFC 9110 §15.5.14), and a 500 something the server expects.
  if (retryAfterMs !== undefined && (status === 413 || status === 500)) return 'unavailable';
  return isUnavailable(status) ? 'unavailable' : statusReasons[status];
}

/**
 * Failures that are retried so often at the most, probes included. A 425 is retried once (RFC 8470 §5.2). A
 * 500 may be an outage, or an error that stays: seven retries reach as far as those of React Query, which take 7 s.
 */
const mostRetries: Partial<Readonly<Record<RetryReason, number>>> = {
  'too-early': 1,
  'internal-error': 7,
};

/**
 * Whether `shouldRetry` may send a POST or PATCH without a key again: only where the server says
 * that it did not process it, or very probably did not (408, and 503 with Retry-After).
 */
function isHardlyProcessed({ processed, status, retryAfterMs }: FailureDetails & Failure): boolean {
  return processed === 'no' || status === 408 || (status === 503 && retryAfterMs !== undefined);
}
