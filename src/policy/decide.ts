import { backoffDelay } from './backoff.ts';
import type { Random } from './clock.ts';
import type { Decision, StopReason } from './decision.ts';
import type { Operation } from './operation.ts';
import type { Policy } from './options.ts';
import type { Failure } from './outcome.ts';
import { whyRetry, whyStop } from './retry-table.ts';

/** When and how a decision is made: the wall clock, and chance. */
export interface DecideContext {
  readonly nowMs: number;
  readonly random: Random;
  /** The origin's retry budget is spent. @default false */
  readonly isOverBudget?: boolean;
}

/** Retry-After is a lower bound, so that jitter goes on top of it: up to a tenth. */
const retryAfterJitter = 0.1;

/**
 * What to do after a failed attempt. Total and pure: every failure gets an answer, and a
 * `shouldRetry` that throws or returns no boolean counts as undefined.
 *
 * The order is: the table (with `shouldRetry`), `maxRetries`, `maxRetryAfterMs`, the deadline.
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
  { nowMs, random, isOverBudget }: DecideContext,
): Decision {
  const retryAfterMs = failure.kind === 'http' ? failure.retryAfterMs : undefined;
  const askedAt = retryAfterMs === undefined ? undefined : nowMs + retryAfterMs;
  const stop = (reason: StopReason): Decision => ({
    kind: 'stop',
    reason,
    retryAt: failure.kind === 'paused-too-long' ? failure.retryAt : askedAt,
  });

  const advice = failure.kind === 'http' ? failure.shouldRetry : undefined;
  const wanted = ask(failure, operation, policy) ?? advice;
  const reason = whyRetry(failure);
  const refusal = whyStop(failure, operation, reason, wanted);
  if (refusal) return stop(refusal);
  const { attempt, probes = 0, previousBackoffMs } = operation;
  // Who wants no retry wants none, whatever the attempt was.
  const spent = policy.maxRetries === 0 ? attempt : attempt - probes;
  if (spent > policy.maxRetries) return stop('max-retries');
  if (retryAfterMs !== undefined && retryAfterMs > policy.maxRetryAfterMs)
    return stop('retry-after');
  if (isOverBudget) return stop('over-budget');

  const { backoff, baseMs, factor, capMs } = policy;
  const retry = Math.max(1, spent);
  const growth = { backoff, baseMs, factor, capMs, retry, previousBackoffMs };
  const backoffMs = backoffDelay(growth, random);
  const askedMs =
    retryAfterMs === undefined ? 0 : Math.floor(retryAfterMs * (1 + retryAfterJitter * random()));
  const delayMs = Math.max(backoffMs, askedMs);
  const retryAt = nowMs + delayMs;
  if (retryAt > operation.startedAt + operation.pausedMs + policy.deadlineMs)
    return stop('deadline');
  return { kind: 'retry', reason: reason ?? 'should-retry', delayMs, backoffMs, retryAt };
}

function ask(failure: Failure, operation: Operation, policy: Policy): boolean | undefined {
  if (failure.kind === 'aborted') return undefined;
  try {
    const answer: unknown = policy.shouldRetry?.(failure, operation);
    return typeof answer === 'boolean' ? answer : undefined;
  } catch {
    return undefined;
  }
}
