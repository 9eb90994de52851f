import type { Query, QueryClient } from '@tanstack/react-query';
import { createStatusStores, type StatusStore } from './store.ts';
import { reportOf } from '../../operation/error-info.ts';
import {
  activeStatus,
  attemptsAllowed,
  type Cause,
  endedStatus,
  idle,
  succeededStatus,
  pauseReason,
  type RetryState,
  waitOf,
} from './status.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { Decision } from '../../policy/decide.ts';
import { fallbackOf } from '../query/fallback.ts';
import { type Instance, instanceBehind } from '../instance.ts';
import { warnOfLostQueries, warnOfUnknownKey } from '../misuse.ts';

/** The statuses of the queries of a client, each by its `queryHash`. */
export const queryStatusesOf: (client: QueryClient, operation: string) => StatusStore<Query> =
  /* @__PURE__ */ createStatusStores((client, instance, { refresh }) => {
    const queries = client.getQueryCache();
    if (process.env.NODE_ENV !== 'production')
      warnOfLostQueries(instance.operations, client.getDefaultOptions().queries);
    return {
      find: (hash) => queries.get(hash),
      ...(process.env.NODE_ENV !== 'production' && {
        explain: (hash: string) => warnOfUnknownKey(instance.operations, queries, hash),
      }),
      read: (query, before) => queryStatus(query, instance, before),
      start() {
        // By the key itself: its hash may be by a function of the query's own.
        const hashes = new WeakMap<object, string>();
        const enter = ({ queryKey, queryHash }: Query): void =>
          void hashes.set(queryKey, queryHash);
        queries.getAll().forEach(enter);
        return [
          queries.subscribe(({ query }) => {
            enter(query);
            refresh(query.queryHash);
          }),
          // A retry starts without an event of React Query.
          instance.emitter.subscribe(({ type, operation: { queryKey, attempt } }) => {
            const isChange = type === 'pause:start' || type === 'pause:end';
            if (!isChange && (type !== 'attempt:start' || attempt === 1)) return;
            const hash = queryKey && hashes.get(queryKey);
            if (hash !== undefined) refresh(hash);
          }),
        ];
      },
    };
  });

/** The status of a query, from React Query's state and the newest operation behind it. */
export function queryStatus(
  query: Query | undefined,
  instance: Instance,
  before?: RetryState,
): RetryState {
  if (!query) return idle;
  const { retry } = query.options;
  const { fetchStatus, status, error, fetchFailureReason, fetchFailureCount } = query.state;
  const newest = instance.byQuery.get(query);
  const lastError = fetchFailureReason ?? undefined;
  const maxAttempts = attemptsAllowed(retry, instanceBehind(retry), lastError, newest, instance);
  const base = { ...idle, attempt: newest?.attempt ?? 0, maxAttempts, lastError };
  if (fetchStatus === 'idle') {
    if (status === 'pending') return idle;
    // What is shown may be something in the place of a failure.
    const failure =
      fallbackOf(query, instance.byQuery) ?? (status === 'success' ? undefined : { error });
    if (!failure) return succeededStatus(base);
    return endedStatus(base, 'failed', failure.error, endOf(newest, failure.error));
  }
  const operation = newest?.phase.kind === 'ended' ? undefined : newest;
  return activeStatus(
    operation ? base : { ...base, attempt: 0 },
    operation,
    fetchStatus === 'paused' ? holdOf(before) : undefined,
    // A fetch that the server has begun has no operation of its own before its first retry.
    waitOf(operation ?? operationOf(reportOf(lastError, 0)), fetchFailureCount),
  );
}

/** Nothing queues a query: one that React Query holds for no other reason is about to go on. */
function holdOf(before: RetryState | undefined): Cause {
  const reason = pauseReason();
  return reason === 'queued' && before?.status === 'paused' ? before : { reason };
}

/** The decision to end in this error. A retry that was granted, and that is awaited no more, is none. */
function endOf(operation: Operation | undefined, lastError: unknown): Decision | undefined {
  const { decision, lastError: own } = operation?.errors ?? {};
  return decision?.kind === 'stop' && Object.is(own, lastError) ? decision : undefined;
}
