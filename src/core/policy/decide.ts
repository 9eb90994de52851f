import { callApp, isBoolean, type OnMistake } from '../lib/input/callback.ts';
import type { Random } from '../lib/clock.ts';
import { backoffDelay, delayOfReactQuery } from './backoff.ts';
import type { OperationFacts, RetryReason } from './operation.ts';
import { type Policy, retryDefaults } from './options.ts';
import {
  type Failure,
  type FailureDetails,
  isServerError,
  isUnavailable,
  type Processed,
} from './outcome.ts';

/** Why an operation ends with its failure. */
export type StopReason =
  /** Another attempt would get the same answer. */
  | 'not-retryable'
  /** A POST or PATCH without an idempotency key may have taken effect; a second one could do harm. */
  | 'not-idempotent'
  /** A 2xx answer came: the server has processed the request. */
  | 'processed'
  /** All `maxRetries` retries were made; or one after a 425, or seven after a 500. */
  | 'max-retries'
  /** The next attempt would start after `deadlineMs`. */
  | 'deadline'
  /** The server asks for a longer wait than `maxRetryAfterMs`. */
  | 'retry-after'
  /** The caller aborted. */
  | 'aborted'
  /** `shouldRetry` returned false, or the API says that another attempt gets the same answer. */
  | 'should-retry'
  /** The operation was paused for as long as it may be: `maxPauseMs`, or the time that React Query's retries take. */
  | 'paused-too-long'
  /** The request may have taken effect, and its idempotency key is older than the API keeps keys. */
  | 'expired'
  /** The same, where the age of the key is not known: the clock was set back since another page made it. */
  | 'age-unknown'
  /** A later write to its URL was sent, which another attempt would undo. */
  | 'superseded'
  /** The user pressed Cancel. */
  | 'cancelled';

/** The decision after a failed attempt. A plain value, made once per failure. */
export type Decision =
  | {
      readonly kind: 'retry';
      readonly reason: RetryReason;
      /** How long to wait before the next attempt, in whole milliseconds. */
      readonly delayMs: number;
      /** The backoff part of `delayMs`, without Retry-After. The next `decorrelated` step builds on it. */
      readonly backoffMs: number;
      /** When the next attempt starts, in epoch milliseconds. */
      readonly retryAt: number;
    }
  | {
      readonly kind: 'stop';
      readonly reason: StopReason;
      /** When the server accepts the request again, in epoch milliseconds; undefined when it did not say. */
      readonly retryAt: number | undefined;
    };

/** The inputs of a decision besides the failure: time, chance, and the state of the endpoint. */
export interface DecideContext {
  /** The wall clock, in epoch milliseconds. */
  readonly nowMs: number;
  /** The source of jitter. */
  readonly random: Random;
  /**
   * Whether another request of the operation may have taken effect, and a new attempt would repeat that.
   * @default false
   */
  readonly isUnrepeatable?: boolean;
  /**
   * Whether a mutation failed by the error of another client: it is not seen what it has sent before.
   * @default false
   */
  readonly isUnseen?: boolean;
  /**
   * Whether the endpoint is down, so that admission pauses the next attempt, or has recovered since this
   * probe was sent. @default false
   */
  readonly isDown?: boolean;
  /**
   * Whether the failure is isolated: it came within a second, from an origin that was healthy until then.
   * @default false
   */
  readonly isAlone?: boolean;
  /**
   * Whether nothing is paused for it: another client sent the request, so that its endpoint is unknown; its URL
   * fails while others of its endpoint answer; or the failure is no sign of an outage. @default false
   */
  readonly isUnpaused?: boolean;
  /** How long the retries so far have waited, pauses not included, in milliseconds. @default 0 */
  readonly waitedMs?: number;
  /** Whether the app's own `retry` counts its attempts, so that no pause takes the place of its waits. @default false */
  readonly isCounted?: boolean;
  /** Whether a later write to its URL was sent, which another attempt would undo. @default false */
  readonly isSuperseded?: boolean;
  /** How long Retry-After and rate limits still close the endpoint for all requests, in milliseconds. @default 0 */
  readonly limitedMs?: number;
  /** Receives what is wrong with the return value of `shouldRetry`. @default none */
  readonly onMistake?: OnMistake | undefined;
}

/** React Query alone retries a query so often, however long its attempts take. */
const ownRetries = 3;

/** Whether the next attempt of a query is one that React Query alone makes: only a deadline of the app's is shorter than the work of the query. */
export const isOwed = (
  { kind, attempt }: Pick<OperationFacts, 'kind' | 'attempt'>,
  { deadlineMs }: Pick<Policy, 'deadlineMs'>,
): boolean => kind === 'query' && attempt <= ownRetries && deadlineMs >= retryDefaults.deadlineMs;

/** Retry-After is a lower bound, so jitter goes on top: up to a tenth. */
export const retryAfterJitter = 0.1;
/**
 * A query whose requests another client sends is never paused while its server is down. Retries are all it
 * has, so they reach as far as React Query's own, with up to a twentieth on top: at most that of its third retry.
 */
const foreignJitter = 0.05;
const longestJittered = 4000;

/** React Query's own wait, with jitter on top. */
export const spreadWait = (ms: number, random: Random): number =>
  Math.floor(ms + foreignJitter * Math.min(ms, longestJittered) * random());

/**
 * Decides what follows a failed attempt. Total and pure: every failure gets a decision, and a `shouldRetry`
 * that throws or returns no boolean counts as undefined.
 *
 * The first stop rule that applies ends the operation. If none applies, another attempt follows: when
 * admission lets it go, if its endpoint is down or limited; otherwise after backoff and Retry-After.
 *
 * @example
 * ```ts
 * decide(failures.network, operation, presets.interactive, { nowMs: 0, random: () => 0.5 });
 * // { kind: 'retry', reason: 'network', delayMs: 500, backoffMs: 500, retryAt: 500 }
 * ```
 */
export function decide(
  failure: Failure,
  operation: OperationFacts,
  policy: Policy,
  context: DecideContext,
): Decision {
  const { limitedMs = 0, isCounted, nowMs } = context;
  const { retryAfterMs = 0, shouldRetry: advice }: FailureDetails = failure;
  const { attempt, trials = 0 } = operation;
  const reason = whyRetry(failure);
  let drawn: Wait | undefined;
  const failed: FailedAttempt = {
    failure,
    operation,
    policy,
    context,
    reason,
    // A known rate limit releases its requests one by one, so no wait of this operation's own is added.
    isPaced: !isCounted && reason === 'rate-limited' && limitedMs > 0 && limitedMs >= retryAfterMs,
    wanted: callShouldRetry(failure, operation, policy, context) ?? advice,
    isRepeatable: operation.idempotent || operation.keyed || operation.kind === 'query',
    // `maxRetries: 0` means one attempt, even if that attempt was a probe.
    spent: policy.maxRetries === 0 ? attempt : attempt - trials,
    wait: () => (drawn ??= drawWait(failed)),
  };
  for (const [stopReason, applies] of stopRules)
    if (applies(failed, stopReason))
      return { kind: 'stop', reason: stopReason, retryAt: acceptedAt(failed, stopReason) };
  const { backoffMs, delayMs } = failed.wait();
  const retryAt = nowMs + delayMs;
  return { kind: 'retry', reason: reason ?? 'should-retry', delayMs, backoffMs, retryAt };
}

/** When the server accepts the request again. An operation that stops because the wait is too long reports when that ends. */
function acceptedAt(
  { failure: { retryAfterMs, retryAt }, context: { nowMs, limitedMs = 0 }, isPaced }: FailedAttempt,
  reason: StopReason,
): number | undefined {
  const isLimited =
    isPaced && (reason === 'deadline' || (reason === 'retry-after' && retryAfterMs === undefined));
  const waitMs = isLimited ? limitedMs : retryAfterMs;
  return waitMs === undefined ? retryAt : nowMs + waitMs;
}

/** The wait before a retry, in milliseconds: the backoff alone, and all that is waited for. */
interface Wait {
  readonly backoffMs: number;
  readonly delayMs: number;
}

/** A failed attempt, as the stop rules see it. */
interface FailedAttempt {
  readonly failure: Failure & FailureDetails;
  readonly operation: OperationFacts;
  readonly policy: Policy;
  readonly context: DecideContext;
  /** Why the failure may be worth another attempt, whatever the method; undefined when it is not. */
  readonly reason: RetryReason | undefined;
  /** Refused for a rate limit that is already known. */
  readonly isPaced: boolean;
  /**
   * The answer of `shouldRetry` or, without one, of the API. It overrides the status table, never the rule
   * about methods (RFC 9110 §9.2.2).
   */
  readonly wanted: boolean | undefined;
  /** Two requests have the effect of one: by method, by key, or as declared. A queryFn reads, whatever its method: React Query runs it again. */
  readonly isRepeatable: boolean;
  /** How many attempts use up retries. */
  readonly spent: number;
  /** Draws at the first call, so an operation that stops earlier consumes no randomness. */
  readonly wait: () => Wait;
}

/** The wait before a retry as React Query's own, which makes up for what earlier retries have waited less. `stepMs`: the wait before the nth. */
function paced(retry: number, waitedMs: number, stepMs: (retry: number) => number): number {
  let owedMs = -waitedMs;
  for (let before = 1; before < retry; before++) owedMs += stepMs(before);
  return stepMs(retry) + Math.max(0, owedMs);
}

/** The wait before a retry that the app's own `retry` grants where the policy stops: React Query's own. */
export const ownDelay = (failureCount: number, waitedMs: number): number =>
  paced(failureCount + 1, waitedMs, (retry) => delayOfReactQuery(retry - 1));

/** A single failure of a healthy origin that may pass at once. */
function isGlitch(failed: FailedAttempt): boolean {
  const { failure, reason, operation, context } = failed;
  const { kind, status, retryAfterMs } = failure;
  const isFirst = operation.retriedFor.length === 0 && retryAfterMs === undefined;
  // 529 says that the server is overloaded already: no fast retry.
  const isTransient = kind === 'network' || (reason === 'unavailable' && status !== 529);
  // The app's own `retry` would count it as one of few, all of which are needed to reach as far as React Query's.
  return !!context.isAlone && !keepsPace(failed) && isFirst && isTransient;
}

/**
 * Whether the retry waits as React Query's own does, so that it reaches as far: no pause follows that would reach
 * further, because the app's own `retry` counts the attempts, or nothing is paused for this failure, or it is the only one.
 */
function keepsPace({ context, operation, policy }: FailedAttempt): boolean {
  const isOfQuery = context.isUnpaused || policy.maxRetries === 1;
  return !!context.isCounted || (isOfQuery && operation.kind === 'query');
}

/** The wait without Retry-After and limits, in milliseconds. */
function drawBackoff(failed: FailedAttempt): number {
  const { operation, policy, context, spent } = failed;
  const { factor, capMs, fastRetryMs } = policy;
  const { isCounted, random, waitedMs = 0 } = context;
  const baseMs = isGlitch(failed) ? Math.min(policy.baseMs, fastRetryMs) : policy.baseMs;
  const retry = isCounted ? operation.attempt : Math.max(1, spent);
  const hasPace = keepsPace(failed) && policy.backoff === 'full';
  const backoff = hasPace ? 'none' : policy.backoff;
  const { previousBackoffMs, pausedMs } = operation;
  // Field by field: spreading the policy takes several times as long.
  const stepMs = (nth: number): number =>
    backoffDelay({ backoff, baseMs, factor, capMs, retry: nth, previousBackoffMs }, random);
  if (!hasPace) return stepMs(retry);
  return spreadWait(paced(retry, waitedMs + pausedMs, stepMs), random);
}

function drawWait(failed: FailedAttempt): Wait {
  const { failure, context, isPaced } = failed;
  const { retryAfterMs } = failure;
  const { limitedMs = 0, isDown, random } = context;
  const backoffMs = drawBackoff(failed);
  if (retryAfterMs === undefined)
    // While the endpoint is down, admission decides when to resume; no backoff is added.
    return { backoffMs, delayMs: isDown ? 0 : isPaced ? limitedMs : backoffMs };
  const leastMs = Math.floor(retryAfterMs * (1 + retryAfterJitter * random()));
  // The limit may close the endpoint for longer than this answer has said.
  const closedMs = limitedMs >= retryAfterMs ? limitedMs : leastMs;
  return { backoffMs, delayMs: isPaced ? closedMs : Math.max(backoffMs, closedMs) };
}

/** Whether its request is still running, for longer than its time limit, and the server says that or when to ask for its answer. */
const isToldToWait = ({ reason, failure }: FailedAttempt): boolean =>
  reason === 'in-progress' && (failure.retryAfterMs !== undefined || failure.shouldRetry === true);

/** An endpoint that was refused for 7 s, as long as React Query's three retries take, is paused for longer than this. */
const longRefusedMs = 3500;

/**
 * How often at most a mutation is sent again that is refused without a word about the time, while nothing else comes
 * through. Somebody waits for it, as for a log-in after too many wrong passwords.
 */
const mostRefusals = ({ reason, failure, operation, context, policy }: FailedAttempt): number =>
  reason === 'rate-limited' &&
  operation.kind === 'mutation' &&
  failure.retryAfterMs === undefined &&
  (context.limitedMs ?? 0) > longRefusedMs
    ? Math.max(5, policy.maxRetries)
    : Infinity;

/** A rule that ends an operation with its failure. */
type StopRule = readonly [
  reason: StopReason,
  applies: (failed: FailedAttempt, reason: StopReason) => boolean,
];

/** The failure is what the reason says. */
const isOfKind: StopRule[1] = ({ failure }, reason) => failure.kind === reason;

/**
 * The stop rules: the first that applies, from top to bottom, ends the operation. Each comment is the rule's
 * name and, in one sentence, when it applies: `npm run reference` prints them into docs/retry/rules.md.
 */
const stopRules: readonly StopRule[] = [
  /** Aborted: The caller aborted. */
  ['aborted', isOfKind],
  /** Paused too long: It was paused for longer than `maxPauseMs`, and not sent. */
  ['paused-too-long', isOfKind],
  /** Key expired: It may have taken effect, and its idempotency key is older than the API keeps keys. */
  ['expired', isOfKind],
  /** Key of unknown age: It may have taken effect, and the clock was set back since another page made its idempotency key. */
  ['age-unknown', isOfKind],
  /** Superseded: It was not sent, because a later write to its URL was. */
  ['superseded', isOfKind],
  /** Never sent: The page or the browser refused to send it, and would do so again. */
  ['not-retryable', ({ failure }) => failure.kind === 'invalid'],
  /** Refused by the app: `shouldRetry` returned false, or the API says that another attempt gets the same answer. */
  ['should-retry', ({ wanted }) => wanted === false],
  /** Done: A 2xx answer came to a request that must not be sent twice: the server has done it. */
  ['processed', ({ failure, isRepeatable }) => failure.processed === 'yes' && !isRepeatable],
  /** Asked for without a key: `shouldRetry` returned true for a `POST` or `PATCH` without a key, outside of a query, that the server may have done. */
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
  /** No key: A `POST` or `PATCH` without a key, outside of a query, may have taken effect. Only a 425 and a 429 say that it has not. */
  [
    'not-idempotent',
    ({ wanted, isRepeatable, reason }) =>
      !wanted && !isRepeatable && reason !== 'too-early' && reason !== 'rate-limited',
  ],
  /** Often enough: One retry was made after a 425, or seven after a 500, probes included. A mutation was refused with a 429 for seven seconds, and so was all else at its endpoint, and no answer says for how long. */
  [
    'max-retries',
    (failed) => {
      const { wanted, reason = 'error', operation } = failed;
      const most = mostRetries[reason] ?? mostRefusals(failed);
      return !wanted && operation.retriedFor.filter((one) => one === reason).length >= most;
    },
  ],
  /** Max retries: As many retries as `maxRetries` allows were made. A failed probe of an endpoint that is down is none. After a 409 of a request that is still running, whose API says when or that it is to be sent again, another one follows. */
  [
    'max-retries',
    (failed) => {
      const { spent, policy } = failed;
      const { maxRetries } = policy;
      return spent > maxRetries && (maxRetries === 0 || !isToldToWait(failed));
    },
  ],
  /** Retry after: `Retry-After`, or a rate limit that is known, is longer than `maxRetryAfterMs`. */
  [
    'retry-after',
    ({ failure: { retryAfterMs }, isPaced, context: { limitedMs = 0 }, policy }) =>
      (retryAfterMs ?? (isPaced ? limitedMs : 0)) > policy.maxRetryAfterMs,
  ],
  /** Deadline: The next attempt would start after `deadlineMs`; unless that is below its default, a query has React Query's three retries all the same. */
  [
    'deadline',
    (failed) => {
      if (isOwed(failed.operation, failed.policy)) return false;
      const { startedAt, progressedAt = startedAt, pausedMs } = failed.operation;
      const leftMs = progressedAt + pausedMs + failed.policy.deadlineMs - failed.context.nowMs;
      return failed.wait().delayMs > leftMs;
    },
  ],
  /** Another request: Another request of the operation may have taken effect, and would do so once more. */
  ['not-idempotent', ({ context }) => !!context.isUnrepeatable],
  /** Another client: A mutation failed by the error of another client. What it has sent before is not seen, and would be done twice. */
  ['not-idempotent', ({ wanted, context }) => !wanted && !!context.isUnseen],
  /** Later write: A later write to its URL was sent, which another attempt would undo. */
  ['superseded', ({ context }) => !!context.isSuperseded],
];

/**
 * Whether the operation as a whole was processed, for the error that it ends with. Its last attempt may
 * certainly not have been processed while an earlier one may have been.
 *
 * @param isUnknown - Whether any of its requests may have taken effect.
 */
export function processedAtEnd(
  { processed }: Failure,
  { kind }: Pick<OperationFacts, 'kind'>,
  isUnknown: boolean,
): Processed {
  if (kind !== 'mutation' && processed !== 'no') return processed;
  return isUnknown ? 'unknown' : 'no';
}

function callShouldRetry(
  failure: Failure,
  operation: OperationFacts,
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
  // A captive portal (RFC 6585 §6): there is no network yet.
  511: 'network',
};

/** Failures without an answer that may pass. */
const passing = ['network', 'timeout', 'body', 'error'] as const;

/** The reason why a failure may be worth another attempt, by kind and status. */
export function whyRetry(failure: Failure): RetryReason | undefined {
  if (failure.kind !== 'http') return passing.find((kind) => kind === failure.kind);
  if (failure.inProgress) return 'in-progress';
  const { status, retryAfterMs } = failure;
  const isError = isServerError(status);
  // Retry-After makes a 413 temporary (RFC 9110 §15.5.14), and shows that a 500 was intended.
  const isIntended = retryAfterMs !== undefined && (status === 413 || isError);
  if (isIntended || isUnavailable(status)) return 'unavailable';
  return isError ? 'internal-error' : statusReasons[status];
}

/**
 * The most retries per reason, probes included. A 425 is retried once (RFC 8470 §5.2). A 500 may be an outage
 * or a lasting error: seven retries reach as far as React Query's, which take 7 s.
 */
export const mostRetries: Partial<Readonly<Record<RetryReason, number>>> = {
  'too-early': 1,
  'internal-error': 7,
};

/**
 * Whether `shouldRetry` may resend a POST or PATCH without a key: only if the server says that it did not
 * process the request, or very probably did not (408, and 503 with Retry-After).
 */
function isHardlyProcessed({ processed, status, retryAfterMs }: FailureDetails & Failure): boolean {
  return processed === 'no' || status === 408 || (status === 503 && retryAfterMs !== undefined);
}
