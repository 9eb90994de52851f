import {
  type Mutation,
  type QueryClient,
  type MutationKey,
  type MutationCache,
  hashKey,
} from '@tanstack/react-query';
import { inDevelopment } from '../../lib/development.ts';
import { definitionBehind } from '../mutation/definition.ts';
import { mutationChanges, recordOf } from '../mutation/record.ts';
import { createStatusStores, type StatusStore } from './store.ts';
import type { FailureReport } from '../../operation/facts.ts';
import { mayHaveTakenEffect } from '../../operation/parts/known-errors.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import { reportOf } from '../../operation/error-info.ts';
import {
  attemptsAllowed,
  type Cause,
  idle,
  pauseReason,
  type RetryState,
  type Seen,
  statusOf,
  waitOf,
} from './status.ts';
import { type Instance, instanceBehind } from '../instance.ts';
import { watchKeys } from '../misuse.ts';

/** The mutations of one `useSteadyMutation`; made by the hook. */
export interface MutationTarget {
  /** Which hook it is; empty while it has no mutation to show. */
  readonly mutation: string;
}

/** The mutation whose status is shown: the newest with this key, or that of one `useSteadyMutation`. */
export type MutationStatusTarget =
  | { readonly mutationKey: MutationKey; readonly mutation?: never }
  | (MutationTarget & { readonly mutationKey?: never });

/** Names a target: equal keys have equal ids. A hash begins with a bracket, so no key is taken for a hook. */
export const mutationIdOf = ({ mutationKey, mutation = '' }: MutationStatusTarget): string =>
  mutationKey ? hashKey(mutationKey) : mutation;

function idsOf({ options: { mutationKey, mutationFn } }: Mutation): string[] {
  const target = definitionBehind(mutationFn)?.target;
  return [
    ...(mutationKey ? [hashKey(mutationKey)] : []),
    ...(target === undefined ? [] : [target]),
  ];
}

/** The statuses of the mutations of a client, each by the id of its target. */
export const mutationStatusesOf: (client: QueryClient, operation: string) => StatusStore<Mutation> =
  /* @__PURE__ */ createStatusStores((client, instance, { isIdle, refresh, ids }) => {
    const mutations = client.getMutationCache();
    const newest = new Map<string, Mutation>();
    let warnOfKeys: ReturnType<typeof watchKeys> | undefined;
    inDevelopment(() => {
      warnOfKeys = watchKeys(instance.operations, (id) => newest.has(id));
    });
    const index = (): Map<string, Mutation> => {
      newest.clear();
      for (const mutation of mutations.getAll()) enter(mutation);
      return newest;
    };
    const enter = (mutation: Mutation): void => {
      for (const id of idsOf(mutation)) {
        const known = newest.get(id);
        if (!known || known.mutationId <= mutation.mutationId) newest.set(id, mutation);
      }
    };
    const refreshMutation = (mutation: Mutation): void => idsOf(mutation).forEach(refresh);
    return {
      find: (id) => (isIdle() ? index() : newest).get(id),
      read: (mutation, before) => mutationStatus(mutation, mutations, instance, before),
      start() {
        index();
        return [
          mutations.subscribe(({ type, mutation }) => {
            if (!mutation) return;
            if (type === 'removed') index();
            else enter(mutation);
            if (type === 'added') warnOfKeys?.(idsOf(mutation), ids());
            refreshMutation(mutation);
          }),
          // Without a mutation it is a plain one, and it is not known which.
          mutationChanges.on((mutation) => (mutation ? refreshMutation(mutation) : refresh())),
        ];
      },
      // The wait of a plain mutation does.
      endsInSilence: true,
    };
  });

/** The status of a mutation, from React Query's state, the failures it has had and, where it is ours, its loop. */
export function mutationStatus(
  mutation: Mutation | undefined,
  cache: MutationCache,
  instance: Instance,
  before: RetryState | undefined,
): RetryState {
  if (!mutation || mutation.state.status === 'idle') return idle;
  const { status, failureCount, failureReason, error } = mutation.state;
  // React Query sees only the end of a mutation of ours.
  const own = recordOf(mutation).run?.operation;
  const lastError: unknown = error ?? failureReason ?? own?.errors.lastError ?? undefined;
  const now = instance.clock.now();
  const report = own?.errors.reportOf(lastError, now) ?? reportOf(lastError, now);
  const operation = own ?? operationOf(report);
  const maxAttempts = attemptsOf(mutation, lastError, operation, instance);
  const seen = (failures: number): Omit<Seen, 'phase'> => ({
    attempt: own?.attempt ?? failures,
    maxAttempts,
    lastError,
    operation,
  });
  // With a success, React Query forgets how many failures there were.
  if (status === 'success') return statusOf({ ...seen(before?.attempt ?? 1), phase: 'succeeded' });
  if (status === 'error') {
    const phase = isUnknown(mutation, report, operation) ? 'unknown' : 'failed';
    return statusOf({ ...seen(failureCount), phase, end: (own?.errors ?? report).decision });
  }
  const wait = waitOf(operation, failureCount);
  return statusOf({
    ...seen(failureCount + 1),
    phase: 'active',
    ...(own ? { wait } : plainWait(mutation, cache, wait, now)),
  });
}

/** Why a plain mutation waits. The end of its wait is no event. */
function plainWait(
  mutation: Mutation,
  cache: MutationCache,
  wait: Cause | undefined,
  now: number,
): Pick<Seen, 'heldBy' | 'wait'> {
  const isOver = (wait?.retryAt ?? now) <= now;
  return { heldBy: holdOf(mutation, cache), wait: isOver ? undefined : wait };
}

function attemptsOf(
  { options: { retry, mutationFn } }: Mutation,
  lastError: unknown,
  operation: Operation | undefined,
  instance: Instance,
): number {
  const ours = definitionBehind(mutationFn) ?? instanceBehind(retry);
  return attemptsAllowed(retry, ours, lastError, operation, instance);
}

/** Whether a mutation that has failed may have been done. */
function isUnknown(
  mutation: Mutation,
  report: FailureReport,
  operation: Operation | undefined,
): boolean {
  const wasSent = !!recordOf(mutation).submission?.wasSent;
  return wasSent || (!isUnbegun(mutation, report) && mayHaveTakenEffect(report, operation));
}

/** Why React Query has paused it, before its first attempt or between two. */
function holdOf(mutation: Mutation, cache: MutationCache): Cause | undefined {
  const { isPaused, failureCount: attempt } = mutation.state;
  if (!isPaused) return undefined;
  const isQueued = mutation.options.networkMode === 'always' && isBehindAnother(mutation, cache);
  return { attempt, reason: isQueued ? 'queued' : pauseReason() };
}

/** Whether it waits for another of its scope. */
function isBehindAnother(mutation: Mutation, cache: MutationCache): boolean {
  const scope = mutation.options.scope?.id;
  const first = cache
    .getAll()
    .find(({ options, state }) => options.scope?.id === scope && state.status === 'pending');
  return scope !== undefined && first !== mutation;
}

/**
 * Whether its onMutate threw an error of no request, so that its mutationFn was never called. A mutation from a storage,
 * whose page had called it, has an error that is no Error any more.
 */
function isUnbegun(mutation: Mutation, { failure, request }: FailureReport): boolean {
  const { options, state } = mutation;
  return (
    !!definitionBehind(options.mutationFn) &&
    !recordOf(mutation).isBegun &&
    failure.kind === 'error' &&
    request?.method === undefined &&
    state.error instanceof Error
  );
}
