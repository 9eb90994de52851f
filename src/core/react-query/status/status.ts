import { focusManager, onlineManager } from '@tanstack/react-query';
import type { Operation } from '../../operation/operation.ts';
import type { Pause } from '../../origin/ask.ts';
import type { Decision, StopReason } from '../../policy/decide.ts';
import type { RetryReason } from '../../policy/operation.ts';
import type { PauseReason } from '../../policy/outcome.ts';
import { reportOf } from '../../operation/error-info.ts';
import type { Policy } from '../../policy/options.ts';
import type { Instance } from '../instance.ts';

/**
 * Why an operation is paused before its attempt is sent: by React Query (`queued` is a mutation behind
 * another of its scope), or for the admission of its origin.
 */
export type AnyPauseReason = PauseReason | 'hidden';

/** Why React Query holds an operation right now. */
export function pauseReason(): AnyPauseReason {
  if (!onlineManager.isOnline()) return 'offline';
  return focusManager.isFocused() ? 'queued' : 'hidden';
}

/**
 * The state of an operation, as it is shown to a user.
 *
 * | status | meaning |
 * |---|---|
 * | `idle` | nothing has been asked yet |
 * | `sending` | an attempt is under way |
 * | `waiting` | an attempt failed, and the next one starts at `retryAt` |
 * | `paused` | it waits before it is sent: for its server, the network, or the tab to be seen |
 * | `succeeded` | done |
 * | `failed` | it ended in `lastError` |
 * | `unknown` | it ended in `lastError`, and may have been done all the same |
 */
export interface RetryState {
  readonly status: 'idle' | 'sending' | 'waiting' | 'paused' | 'succeeded' | 'failed' | 'unknown';
  /** The attempt under way or, while waiting, the one that failed; counted from 1, 0 when idle. */
  readonly attempt: number;
  /** How many attempts the policy allows: one more for each probe that has failed. */
  readonly maxAttempts: number;
  /**
   * In epoch milliseconds. While waiting: when the next attempt starts. While held: when its origin
   * is tried next, as far as is known. After the end: when the server would have us back, if it
   * said so.
   */
  readonly retryAt: number | undefined;
  /** While paused: another tab probes the server, and this one is notified; undefined if this tab does, or none. */
  readonly probedBy?: 'another-tab' | undefined;
  /** Why it waits, is paused, or ended. */
  readonly reason: RetryReason | StopReason | AnyPauseReason | undefined;
  /** The failure of the attempt before; undefined when there is none. */
  readonly lastError: unknown;
}

/** The controls of a query or a mutation. They are no-ops where there is nothing to do. */
export interface RetryControls {
  /**
   * Ends the wait or the pause at once; a query that has failed is tried again. Does nothing while an
   * attempt is under way, so that twenty presses are one request. Does nothing for a plain mutation.
   */
  readonly retryNow: () => void;
  /**
   * Ends the operation with its last error. Data that is there stays. Does nothing when nothing is
   * under way. A mutation of `mutationOptions` whose request is under way is `unknown` then: it
   * may have been done. Does nothing for a plain mutation.
   */
  readonly cancel: () => void;
}

/** The status of a query or a mutation that was never requested. */
export const idle: RetryState = Object.freeze({
  status: 'idle',
  attempt: 0,
  maxAttempts: 0,
  retryAt: undefined,
  reason: undefined,
  lastError: undefined,
});

/** Why an operation waits, is paused or has ended, and until when. With `attempt` if that is not the present one. */
export type Cause = Partial<Pick<RetryState, 'attempt' | 'reason' | 'retryAt' | 'probedBy'>>;

/** The facts about a query or a mutation that has begun, from React Query and its operation. */
export interface Seen {
  readonly phase: 'active' | 'succeeded' | 'failed' | 'unknown';
  /** The attempt under way or, after the end, the last one. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The failure of the attempt before or, after the end, of the last one. */
  readonly lastError: unknown;
  /** Undefined if none is known, or it has ended. */
  readonly operation?: Operation | undefined;
  /** Why React Query holds it. */
  readonly heldBy?: Cause | undefined;
  /** The wait between two attempts. */
  readonly wait?: Cause | undefined;
  /** The decision to end in its failure. */
  readonly end?: Decision | undefined;
}

/**
 * The status of a query or a mutation. While it is active, a pause of ours is shown before one of React Query's, and that
 * before a wait.
 */
export function statusOf(seen: Seen): RetryState {
  const { phase, attempt, maxAttempts, operation } = seen;
  const base = { ...idle, attempt, maxAttempts };
  if (phase === 'succeeded') return { ...base, status: phase };
  const failed = { ...base, lastError: seen.lastError };
  if (phase !== 'active') return { ...failed, status: phase, ...causeOf(seen.end) };
  const pause = operation?.pauses.list[0]?.pause ?? pausedAtOnce(operation) ?? seen.heldBy;
  if (pause) return { ...failed, status: 'paused', ...pause };
  return { ...failed, status: seen.wait ? 'waiting' : 'sending', ...seen.wait };
}

const causeOf = ({ reason, retryAt }: Partial<Decision> = {}): Cause => ({ reason, retryAt });

/**
 * The wait between two attempts of an operation. `failureCount` is React Query's. The wait has no reason if the app's own
 * `retry` goes on although our policy has stopped: a plain mutation has ended for us then.
 */
export function waitOf(operation: Operation | undefined, failureCount: number): Cause | undefined {
  if (!operation) return undefined;
  const { attempt, phase, ref, errors } = operation;
  const { decision, dueAt: retryAt } = errors;
  const isWaiting = phase.kind === 'waiting';
  if (isWaiting && (phase.skip || decision?.kind === 'retry'))
    return { attempt, ...causeOf(decision) };
  const isOwn = (isWaiting || ref.kind === 'mutation') && attempt === failureCount;
  return isOwn && retryAt !== undefined ? { attempt, retryAt } : undefined;
}

/**
 * The pause of an operation whose next attempt will wait for a server that is down. It is shown right after the failure,
 * a moment before the attempt requests admission.
 */
function pausedAtOnce(operation: Operation | undefined): Pause | undefined {
  const phase = operation?.phase;
  const decision = phase?.kind === 'waiting' ? phase.decision : undefined;
  if (decision?.kind !== 'retry' || decision.delayMs > 0) return undefined;
  const down = operation?.route.down();
  return down?.admission.whyPaused(down);
}

/** How many attempts the policy of `ours` allows or, without one, React Query's `retry` option. */
export function attemptsAllowed(
  retry: unknown,
  ours: { readonly policy: Policy } | undefined,
  lastError: unknown,
  operation: Operation | undefined,
  { clock }: Instance,
): number {
  if (!ours) return typeof retry === 'number' ? retry + 1 : retry === true ? Infinity : 1;
  // The policies of the API and of the call count once a request of theirs has failed.
  const { maxRetries } = operation
    ? operation.policyOf(reportOf(lastError, clock.now()).request)
    : ours.policy;
  // A failed trial of its origin uses up no retry, so there may be one attempt more.
  return maxRetries + 1 + (operation && maxRetries > 0 ? operation.errors.trials : 0);
}
