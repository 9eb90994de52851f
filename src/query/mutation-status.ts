import type { Mutation } from '@tanstack/react-query';
import { type FailureReport, reportOf } from '../fetch/failure-report.ts';
import { mayBeDone } from '../fetch/is-in-doubt.ts';
import type { LiveOperation } from '../fetch/live-operation.ts';
import { attemptsAllowed } from './attempts-allowed.ts';
import { isFreed } from './free-queued.ts';
import { definitionBehind } from './mutation-definition.ts';
import { mayHaveBegun, runOf } from './mutation-run.ts';
import { endingOf } from './plain-controls.ts';
import { waitOf } from './plain-wait.ts';
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
  const ending = endingOf(mutation);
  const wait = waitOf(mutation);
  const plain = ending ?? wait;
  const lastError: unknown = ending
    ? ending.error
    : (error ?? failureReason ?? own?.lastError ?? undefined);
  const report = reportOf(lastError, instance.clock.now());
  const live = own ?? plain?.live ?? report.live;
  const { reason, retryAt } = plain ?? (own ?? report).decision ?? {};
  const maxAttempts = attemptsOf(mutation, own, lastError, instance);
  const common = { ...idle, maxAttempts, lastError };
  if (status === 'success') {
    // The failures are forgotten with the success; React Query forgets how many there were, too.
    const attempt = own?.attempt ?? before?.attempt ?? 1;
    return { ...common, status: 'succeeded', attempt, lastError: undefined };
  }
  // Of ours, React Query sees only the end.
  const failed = own?.attempt ?? ending?.attempt ?? failureCount;
  const next = own?.attempt ?? failureCount + 1;
  // Of one that was cancelled the end is known before React Query has told everybody.
  if (status === 'error' || ending) {
    const isInDoubtBefore = !!definitionBehind(mutation.options.mutationFn)?.wasSent?.();
    const isUnsure = !isUnbegun(mutation, report) && mayBeDone(report, live);
    const ended = isInDoubtBefore || isUnsure ? 'unknown' : 'failed';
    return { ...common, status: ended, attempt: failed, reason, retryAt };
  }
  const hold = live?.holds[0];
  if (hold) return { ...common, status: 'held', attempt: next, ...hold.held };
  if (isPaused && !own) {
    const isQueued = isFreed(mutation) && mutation.options.networkMode === 'always';
    return {
      ...common,
      status: 'held',
      attempt: failed,
      reason: isQueued ? 'queued' : holdReason(),
    };
  }
  // Of React Query's wait the end is known beforehand, unless it is skipped.
  const isWaiting = own
    ? own.phase === 'waiting'
    : !wait?.isOver && failureCount > 0 && retryAt !== undefined && instance.clock.now() < retryAt;
  return isWaiting
    ? { ...common, status: 'waiting', attempt: failed, reason, retryAt }
    : { ...common, status: 'sending', attempt: next };
}

/**
 * Its onMutate threw something that is of no request: its mutationFn was never called. What comes
 * from a storage, where its page had called it, has an error that is none any more.
 */
function isUnbegun(mutation: Mutation, { failure, method }: FailureReport): boolean {
  const { options, state } = mutation;
  return (
    !!definitionBehind(options.mutationFn) &&
    !mayHaveBegun(mutation) &&
    failure.kind === 'error' &&
    method === undefined &&
    state.error instanceof Error
  );
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
