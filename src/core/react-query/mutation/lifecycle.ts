import type { Mutation, QueryClient } from '@tanstack/react-query';
import { SteadyRequest } from '../../fetch/request.ts';
import type { Clock } from '../../lib/clock.ts';
import { inDevelopment } from '../../lib/development.ts';
import { reportOf } from '../../operation/error-info.ts';
import { operationOf } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import { mayHaveTakenEffect } from '../../operation/parts/known-errors.ts';
import { endedWithSession } from '../../operation/parts/session.ts';
import { definitionBehind, warnOfSpread } from './definition.ts';
import { recordOf } from './record.ts';

/** The running mutations of these clients that are not from `mutationOptions`. */
const runningPlain = (clients: readonly QueryClient[]): readonly Mutation[] =>
  clients
    .flatMap((client) => client.getMutationCache().getAll())
    .filter(
      ({ state, options }) => state.status === 'pending' && !definitionBehind(options.mutationFn),
    );

/**
 * The id of the newest operation when the oldest running plain mutation was submitted; 0 if none runs. Requests that
 * were sent since may belong to these mutations.
 */
export function oldestSubmission(clients: readonly QueryClient[]): number {
  const running = runningPlain(clients);
  if (running.length === 0) return 0;
  return Math.min(...running.map((mutation) => recordOf(mutation).submittedAfter ?? 0));
}

/** Whether a plain mutation runs whose `networkMode` says that it needs no network. */
export const isAnyLocal = (clients: readonly QueryClient[]): boolean =>
  runningPlain(clients).some(
    ({ state, options: { networkMode = 'online' } }) => networkMode !== 'online' && !state.isPaused,
  );

/** Whether a plain mutation runs. */
export const isAnyPlain = (clients: readonly QueryClient[]): boolean =>
  runningPlain(clients).length > 0;

/** The parts of an instance that the end of a mutation needs. */
export interface MutationEndContext {
  readonly clock: Clock;
  readonly operations: Operations;
}

/**
 * Ends each mutation that is removed from the cache of a client (`queryClient.clear()`), so that it sends nothing more.
 * React Query itself would continue it.
 *
 * @returns a function that stops this.
 */
export function followMutations(client: QueryClient, context: MutationEndContext): () => void {
  const { operations } = context;
  const cache = client.getMutationCache();
  const recordSubmit = (mutation: Mutation): void =>
    recordOf(mutation).recordSubmit(operations.lastId);
  for (const mutation of cache.getAll()) {
    add(mutation);
    recordSubmit(mutation);
  }
  return cache.subscribe((event) => {
    const { type, mutation } = event;
    if (!mutation) return;
    if (type === 'added') add(mutation);
    else if (type === 'removed') endMutation(mutation, false, context);
    else if (type === 'updated') {
      const action = event.action.type;
      if (action === 'pending') recordSubmit(mutation);
      // React Query is about to wait, or to continue.
      const isNext = action === 'failed' || action === 'continue';
      if (isNext && recordOf(mutation).isGone) refuseNext(mutation, context);
    }
  });
}

function add(mutation: Mutation): void {
  // React Query calls a mutationFn as a method of the mutation's options, and an observer shares one options object
  // among its mutations. Options of its own tell which mutation a mutationFn is called for.
  if (definitionBehind(mutation.options.mutationFn)) mutation.setOptions({ ...mutation.options });
  inDevelopment(() => warnOfSpread(mutation));
}

/** Ends a mutation that left its cache, or whose session has ended. It sends nothing more. */
export function endMutation(
  mutation: Mutation,
  isSessionOver: boolean,
  context: MutationEndContext,
): void {
  const { operations } = context;
  if (mutation.state.status !== 'pending') return;
  const definition = definitionBehind(mutation.options.mutationFn);
  // Another instance has a session of its own.
  if (isSessionOver && definition && definition.instance.operations !== operations) return;
  const record = recordOf(mutation);
  record.recordGone();
  if (definition) definition.end(mutation, isSessionOver);
  else endPlain(mutation, context);
  // The requests of an outbox are not lone.
  if (!definition?.follow) endLoneRequests(record.submittedAfter ?? operations.lastId, operations);
}

/** Ends the lone requests that began since. It is not known which of them belong to a plain mutation. */
function endLoneRequests(afterId: number, { live }: Operations): void {
  for (const request of live) {
    if (!(request instanceof SteadyRequest)) continue;
    const { operation, isOut } = request;
    const { id } = operation.ref;
    if (!operation.isLone || id <= afterId) continue;
    operation.leave();
    // A request that is under way may be the log-out itself, so it goes on, but is not sent again.
    if (!isOut) request.endSession();
  }
}

/** Ends a plain mutation that waits for a retry or is paused. One in its first attempt may be the log-out itself, and goes on. */
function endPlain(mutation: Mutation, context: MutationEndContext): void {
  const { failureCount, isPaused, failureReason } = mutation.state;
  if (failureCount === 0 && !isPaused) return;
  refuseNext(mutation, context);
  const operation = operationOf(reportOf(failureReason, 0));
  if (operation?.phase.kind === 'waiting') operation.end('cancelled');
  if (isPaused) continueOutOfTurn(mutation);
}

/** Makes the next attempt of a plain mutation fail without a request. React Query's wait before it cannot be ended. */
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
  // A render of its component sets the app's own function again.
  const waitMs = (operation.errors.dueAt ?? 0) - clock.now();
  if (waitMs > 0) clock.unref?.(clock.setTimeout(refuse, waitMs - 1));
}

/** Continues a mutation that React Query has paused, even if another of its scope is before it. */
export function continueOutOfTurn(mutation: Mutation): void {
  const { options } = mutation;
  const { scope: _, ...free } = options;
  // React Query reads the options at once. Without its scope for good, the mutation would never leave the scope's list.
  mutation.setOptions(free);
  void mutation.continue().catch(() => {});
  mutation.setOptions(options);
}
