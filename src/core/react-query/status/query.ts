import type { Query, QueryClient } from '@tanstack/react-query';
import { inDevelopment } from '../../lib/development.ts';
import { createStatusStores, type StatusSource, type StatusStore } from './store.ts';
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
import { type Operation, operationOf } from '../../operation/operation.ts';
import { fallbackOf } from '../query/fallback.ts';
import { ownWaitMs } from '../query/react-query-alone.ts';
import { delayOfReactQuery } from '../../policy/backoff.ts';
import { type Instance, instanceBehind } from '../instance.ts';
import { warnOfLostQueries, warnOfUnknownKey } from '../misuse.ts';

/** The statuses of the queries of a client, each by its `queryHash`. */
export const queryStatusesOf: (client: QueryClient, operation: string) => StatusStore<Query> =
  /* @__PURE__ */ createStatusStores((client, instance, { refresh }) => {
    const queries = client.getQueryCache();
    let explain: StatusSource<Query>['explain'];
    inDevelopment(() => {
      warnOfLostQueries(instance.operations, client.getDefaultOptions().queries);
      explain = (hash) => warnOfUnknownKey(instance.operations, queries, hash);
    });
    return {
      find: (hash) => queries.get(hash),
      explain,
      read: (query, before) => queryStatus(query, instance, before),
      start() {
        const refreshQuery = (query: Query): void => refresh(query.queryHash);
        return [
          queries.subscribe(({ query }) => refreshQuery(query)),
          instance.byQuery.changes.on((query) => {
            if (queries.get(query.queryHash) === query) refreshQuery(query);
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
  const { fetchStatus, status, fetchFailureReason, fetchFailureCount } = query.state;
  const newest = instance.byQuery.get(query);
  const lastError = fetchFailureReason ?? undefined;
  const maxAttempts = attemptsAllowed(retry, instanceBehind(retry), lastError, newest, instance);
  const attempt = newest?.attempt ?? 0;
  if (fetchStatus === 'idle')
    return status === 'pending'
      ? idle
      : statusOf({ maxAttempts, attempt, ...endOf(query, instance) });
  const operation = newest?.phase.kind === 'ended' ? undefined : newest;
  // A fetch that the server began has no operation before its first retry.
  const wait = waitOf(operation ?? operationOf(reportOf(lastError, 0)), fetchFailureCount);
  const retryAt = operation && ownRetryAt(query, operation, before);
  return statusOf({
    phase: 'active',
    attempt: operation ? attempt : 0,
    maxAttempts,
    lastError,
    operation,
    heldBy: fetchStatus === 'paused' ? holdOf(before) : undefined,
    wait: retryAt === undefined ? wait : { attempt, ...wait, retryAt },
  });
}

/**
 * When the wait of the query's own `retryDelay` ends, or of React Query's: our policy is not asked about it or, without a
 * `retry` of the app's, says another time. Undefined if `retryDelay` is ours, or the query does not wait.
 */
function ownRetryAt(
  query: Query,
  operation: Operation,
  before: RetryState | undefined,
): number | undefined {
  const { attempt, errors } = operation;
  // The next attempt has not begun since React Query has counted this failure.
  const isWaiting = attempt === query.state.fetchFailureCount;
  if (!isWaiting || instanceBehind(query.options.retryDelay)) return undefined;
  // A function may draw lots: it is asked once.
  if (before?.status === 'waiting' && before.attempt === attempt) return before.retryAt;
  const ownMs = ownWaitMs(query, operation) ?? delayOfReactQuery(attempt - 1);
  return errors.failedAt && errors.failedAt + ownMs;
}

/** How a query has ended. A fallback that it shows in place of a failure counts as that failure. */
function endOf(query: Query, { byQuery }: Instance): Pick<Seen, 'phase' | 'lastError' | 'end'> {
  const { status, error } = query.state;
  const failure = fallbackOf(query, byQuery) ?? (status === 'success' ? undefined : { error });
  if (!failure) return { phase: 'succeeded', lastError: undefined };
  const { decision, lastError: own } = byQuery.get(query)?.errors ?? {};
  // A retry may have been granted, and then be no longer wanted: that is no decision to end.
  const isEnd = decision?.kind === 'stop' && Object.is(own, failure.error);
  return { phase: 'failed', lastError: failure.error, end: isEnd ? decision : undefined };
}

/** Why React Query holds a query. Queries are never queued, so one without another reason is about to go on. */
function holdOf(before: RetryState | undefined): Cause {
  const reason = pauseReason();
  return reason === 'queued' && before?.status === 'paused' ? before : { reason };
}
