import type { Mutation, MutationCacheNotifyEvent, QueryClient } from '@tanstack/react-query';
import { SteadyRequest } from '../../fetch/request.ts';
import type { Clock } from '../../lib/clock.ts';
import { createSlot } from '../../lib/slot.ts';
import { warn } from '../../lib/input/warn.ts';
import { reportOf } from '../../operation/error-info.ts';
import { operationOf } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import { mayHaveTakenEffect } from '../../operation/parts/known-errors.ts';
import { endedWithSession } from '../../operation/parts/session.ts';
import { definitionBehind } from './definition.ts';
import { continueOutOfTurn } from './execution.ts';

/** The facts on which the end of a mutation depends. */
class Following {
  /** It is gone from its cache, or its session has ended. */
  isGone = false;
  /** The newest operation when it was submitted. */
  submittedAfter: number | undefined;

  recordSubmit(newestOperation: number): void {
    this.submittedAfter ??= newestOperation;
  }

  leave(): void {
    this.isGone = true;
  }
}

const followed = createSlot<Mutation, Following>();

function followingOf(mutation: Mutation): Following {
  let following = followed.get(mutation);
  if (!following) followed.set(mutation, (following = new Following()));
  return following;
}

/** What ending mutations stands on. */
export interface MutationEndContext {
  readonly clock: Clock;
  readonly operations: Operations;
}

/**
 * Ends the mutations of a client that are removed from its cache (`queryClient.clear()`): they send nothing
 * more. React Query itself goes on with those that it has begun.
 *
 * @returns what stops that.
 */
export function followMutations(client: QueryClient, context: MutationEndContext): () => void {
  const { operations } = context;
  const cache = client.getMutationCache();
  for (const mutation of cache.getAll()) followingOf(mutation).recordSubmit(operations.lastId);
  return cache.subscribe((event) => {
    const { type, mutation } = event;
    if (!mutation) return;
    if (type === 'removed') endMutation(mutation, false, context);
    else if (type === 'updated') followUpdate(mutation, event.action.type, context);
  });
}

type UpdateEvent = Extract<MutationCacheNotifyEvent, { readonly type: 'updated' }>;

function followUpdate(
  mutation: Mutation,
  action: UpdateEvent['action']['type'],
  context: MutationEndContext,
): void {
  const following = followingOf(mutation);
  if (action === 'pending') following.recordSubmit(context.operations.lastId);
  // React Query is about to wait, or to go on.
  if (following.isGone && (action === 'failed' || action === 'continue'))
    refuseNext(mutation, context);
}

/** A mutation is gone from its cache, or its session has ended: it sends nothing more. */
export function endMutation(
  mutation: Mutation,
  isSessionOver: boolean,
  context: MutationEndContext,
): void {
  const { operations } = context;
  if (mutation.state.status !== 'pending') return;
  const following = followingOf(mutation);
  const definition = definitionBehind(mutation.options.mutationFn);
  // Another instance has a session of its own.
  if (isSessionOver && definition && definition.operations !== operations) return;
  following.leave();
  if (definition?.end) definition.end(mutation, isSessionOver);
  else if (definition) {
    if (process.env.NODE_ENV !== 'production' && !isSessionOver) warnOfKept(operations);
    return;
  } else endPlain(mutation, context);
  endLoneRequests(following.submittedAfter ?? operations.lastId, operations);
}

/** Which requests are a plain mutation's, nothing tells: those of no other operation that have begun since. */
function endLoneRequests(submittedAfter: number, { live }: Operations): void {
  for (const request of live) {
    if (!(request instanceof SteadyRequest)) continue;
    const { operation, isOut } = request;
    const { id, kind } = operation.ref;
    if (!operation.given.isSingle || kind === 'query' || id <= submittedAfter) continue;
    operation.leave();
    // What is out may be the log-out itself. It is not sent again.
    if (!isOut) request.endSession();
  }
}

/** While its first attempt is made, or its callbacks run, there is nothing to refuse: it may be the log-out itself. */
function endPlain(mutation: Mutation, context: MutationEndContext): void {
  const { failureCount, isPaused, failureReason } = mutation.state;
  if (failureCount === 0 && !isPaused) return;
  refuseNext(mutation, context);
  const operation = operationOf(reportOf(failureReason, 0));
  if (operation?.phase.kind === 'waiting') operation.end('cancelled');
  if (isPaused) continueOutOfTurn(mutation);
}

/** The next attempt of a plain mutation, which React Query begins after a wait that cannot be ended, sends nothing. */
function refuseNext(mutation: Mutation, { operations, clock }: MutationEndContext): void {
  if (definitionBehind(mutation.options.mutationFn)) return;
  const { failureReason, failureCount } = mutation.state;
  const report = reportOf(failureReason, 0);
  const operation = operationOf(report) ?? operations.begin('mutation', { attempt: 0 });
  operation.leave();
  const mayBeDone = failureCount > 0 && mayHaveTakenEffect(report, operation);
  const error = failureReason ?? endedWithSession(operation, false, mayBeDone ? 'unknown' : 'no');
  const mutationFn = (): Promise<never> => Promise.reject(error);
  const refuse = (): void => mutation.setOptions({ ...mutation.options, mutationFn });
  refuse();
  // A render of its component gives it the app's own function again.
  const waitMs = (operation.errors.dueAt ?? 0) - clock.now();
  if (waitMs > 0) clock.unref?.(clock.setTimeout(refuse, waitMs - 1));
}

function warnOfKept(operations: Operations): void {
  warn(
    operations,
    'kept entry',
    `A mutation of an outbox was removed from its cache (queryClient.clear()), and its entry stays: it is sent, ` +
      `whoever is logged in by then. At a log-out, call steady.endSession().`,
    'mutations.md#log-out',
  );
}
