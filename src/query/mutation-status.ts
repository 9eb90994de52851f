import type { Mutation } from '@tanstack/react-query';
import { type FailureReport, reportOf } from '../fetch/failure-report.ts';
import { isInDoubt } from '../fetch/is-in-doubt.ts';
import type { LiveOperation } from '../fetch/live-operation.ts';
import { isSafeMethod } from '../policy/operation.ts';
import { attemptsAllowed } from './attempts-allowed.ts';
import { definitionBehind } from './mutation-definition.ts';
import { runOf } from './mutation-run.ts';
import type { Instance } from './registry.ts';
import { holdReason, idle, type RetryStatus } from './retry-status.ts';

/** The status of a mutation, from React Query's state, the failures it has had and, where it is ours, its loop. */
export function mutationStatus(
  mutation: Mutation | undefined,
  instance: Instance,
  before: RetryStatus | undefined,
): RetryStatus {
  if (!mutation) return idle;
  const { status, isPaused, failureCount, failureReason, error } = mutation.state;
  if (status === 'idle') return idle;
  const own = runOf(mutation)?.live;
  const lastError: unknown = error ?? failureReason ?? own?.lastError ?? undefined;
  const report = reportOf(lastError, instance.clock.now());
  const live = own ?? report.live;
  const { reason, retryAt } = (own ?? report).decision ?? {};
  const maxAttempts = attemptsOf(mutation, own, lastError, instance);
  const common = { ...idle, maxAttempts, lastError };
  if (status === 'success') {
    // React Query forgets its failures with the success.
    return { ...common, status: 'succeeded', attempt: own?.attempt ?? before?.attempt ?? 1 };
  }
  // Of ours, React Query sees only the end.
  const failed = own?.attempt ?? failureCount;
  const next = own?.attempt ?? failureCount + 1;
  if (status === 'error') {
    const ended = mayBeDone(report, live) ? 'unknown' : 'failed';
    return { ...common, status: ended, attempt: failed, reason, retryAt };
  }
  const hold = live?.holds[0];
  if (hold) return { ...common, status: 'held', attempt: next, ...hold.held };
  if (isPaused && !own) return { ...common, status: 'held', attempt: failed, reason: holdReason() };
  // Nothing tells when React Query's wait is over: its end is known beforehand.
  const isWaiting = own
    ? own.phase === 'waiting'
    : failureCount > 0 && retryAt !== undefined && instance.clock.now() < retryAt;
  return isWaiting
    ? { ...common, status: 'waiting', attempt: failed, reason, retryAt }
    : { ...common, status: 'sending', attempt: next };
}

/** One attempt that may have been done is enough, whatever came after it. */
function mayBeDone(
  { failure, method = 'POST' }: FailureReport,
  live: LiveOperation | undefined,
): boolean {
  return (failure.processed !== 'no' && !isSafeMethod(method)) || (!!live && isInDoubt(live));
}

function attemptsOf(
  { options }: Mutation,
  own: LiveOperation | undefined,
  lastError: unknown,
  instance: Instance,
): number {
  const definition = definitionBehind(options.mutationFn);
  if (!definition) return attemptsAllowed(options.retry, lastError, instance);
  const { operations, policy } = definition;
  // The API and the call have their say once a request of theirs has failed.
  const said = own && operations.policyOf(own, reportOf(lastError, instance.clock.now()));
  return (said ?? policy).maxRetries + 1;
}
