import type { Query, QueryClient } from '@tanstack/react-query';
import { createStatusStores, type StatusStore } from './store.ts';
import { reportOf } from '../../operation/error-info.ts';
import {
  type RetryState,
  attemptsAllowed,
  pausedAtOnce,
  pauseReason,
  idle,
  waitOf,
} from './status.ts';
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
  const operation = instance.byQuery.get(query);
  const { fetchStatus, status, error, fetchFailureReason, fetchFailureCount } = query.state;
  const lastFailure = fetchFailureReason ?? undefined;
  const maxAttempts = attemptsAllowed(
    instanceBehind(query.options.retry)?.policy,
    query.options.retry,
    lastFailure,
    operation,
    instance,
  );
  if (fetchStatus === 'idle') {
    if (status === 'pending') return idle;
    const { attempt = 0 } = operation ?? {};
    const ended = { ...idle, attempt, maxAttempts };
    // What is shown may be something in its place.
    const fallback = fallbackOf(query, instance.byQuery);
    if (status === 'success' && !fallback) return { ...ended, status: 'succeeded' };
    const lastError: unknown = fallback ? fallback.error : error;
    // A retry that was granted, and that nobody waits for any more, is none.
    const isIts =
      operation?.errors.decision?.kind === 'stop' &&
      Object.is(operation.errors.lastError, lastError);
    const { reason, retryAt } = (isIts && operation.errors.decision) || {};
    return { ...ended, status: 'failed', reason, retryAt, lastError };
  }
  const running = operation?.phase.kind === 'ended' ? undefined : operation;
  const active = {
    ...idle,
    attempt: running?.attempt ?? 0,
    maxAttempts,
    lastError: lastFailure,
  };
  const pause = running?.pauses.list[0]?.pause ?? pausedAtOnce(running);
  if (pause) return { ...active, status: 'paused', ...pause };
  if (fetchStatus === 'paused') {
    const reason = pauseReason();
    // Nothing queues a query: it is about to go on.
    return reason === 'queued' && before?.status === 'paused'
      ? before
      : { ...active, status: 'paused', reason };
  }
  if (running?.phase.kind === 'sending') return { ...active, status: 'sending' };
  // A fetch that the server has begun has no operation here before its first retry.
  const { decision } = running?.errors ?? reportOf(lastFailure, instance.clock.now());
  // The policy stops, and the app's own `retry` goes on.
  const wait = decision?.kind === 'stop' && waitOf(running, fetchFailureCount);
  if (wait) return { ...active, status: 'waiting', ...wait };
  if (decision?.kind !== 'retry') return { ...active, status: 'sending' };
  const { reason, retryAt } = decision;
  const attempt = operation?.attempt ?? fetchFailureCount;
  return { ...active, status: 'waiting', attempt, reason, retryAt };
}
