import type { Mutation } from '@tanstack/react-query';
import { reportOf } from '../fetch/failure-report.ts';
import { isSafeMethod } from '../policy/operation.ts';
import { attemptsAllowed } from './attempts-allowed.ts';
import type { Instance } from './registry.ts';
import { holdReason, idle, type RetryStatus } from './retry-status.ts';

/** The status of a plain mutation, from React Query's state and the failures it has had. */
export function mutationStatus(
  mutation: Mutation | undefined,
  instance: Instance,
  before: RetryStatus | undefined,
): RetryStatus {
  if (!mutation) return idle;
  const { status, isPaused, failureCount, failureReason, error } = mutation.state;
  if (status === 'idle') return idle;
  const lastError: unknown = error ?? failureReason ?? undefined;
  const { failure, method = 'POST', decision, live } = reportOf(lastError, instance.clock.now());
  const { reason, retryAt } = decision ?? {};
  const maxAttempts = attemptsAllowed(mutation.options.retry, lastError, instance);
  const common = { ...idle, maxAttempts, lastError };
  if (status === 'success') {
    // React Query forgets its failures with the success.
    return { ...common, status: 'succeeded', attempt: before?.attempt ?? 1 };
  }
  if (status === 'error') {
    // One attempt that may have been done is enough, whatever came after it.
    const isUnsure = failure.processed !== 'no' || live?.unsure !== undefined;
    const mayBeDone = isUnsure && !isSafeMethod(method);
    const ended = mayBeDone ? 'unknown' : 'failed';
    return { ...common, status: ended, attempt: failureCount, reason, retryAt };
  }
  const hold = live?.holds[0];
  if (hold) {
    const { reason: why, retryAt: at } = hold;
    return { ...common, status: 'held', attempt: failureCount + 1, reason: why, retryAt: at };
  }
  if (isPaused) return { ...common, status: 'held', attempt: failureCount, reason: holdReason() };
  // Nothing tells when React Query's wait is over: its end is known beforehand.
  const isWaiting = failureCount > 0 && retryAt !== undefined && instance.clock.now() < retryAt;
  return isWaiting
    ? { ...common, status: 'waiting', attempt: failureCount, reason, retryAt }
    : { ...common, status: 'sending', attempt: failureCount + 1 };
}
