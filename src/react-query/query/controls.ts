import type { Query } from '@tanstack/react-query';
import { SteadfetchError } from '../../fetch/errors.ts';
import { reportOf } from '../../fetch/failure-report.ts';
import type { LiveOperation } from '../../fetch/live-operation.ts';
import { view } from '../../fetch/operations.ts';
import { failures } from '../../policy/outcome.ts';
import { endCancelled } from '../end-cancelled.ts';
import { queryStatus } from '../status/query.ts';
import type { Instance } from '../instance.ts';
import { replaceFetch } from './replace-fetch.ts';
import type { RetryControls } from '../status/status.ts';
import type { StatusStore } from '../status/store.ts';

/** The controls of the query with this hash. */
export function queryControlsOf(store: StatusStore<Query>, hash: string): RetryControls {
  const act = (control: typeof retryNow) => (): void => {
    const query = store.find(hash);
    if (query) control(query, store.instance);
  };
  return { retryNow: act(retryNow), cancel: act(cancel) };
}

function retryNow(query: Query, instance: Instance): void {
  const { status } = queryStatus(query, instance);
  const live = instance.byQuery.get(query);
  const pauses = live?.pauses ?? [];
  for (const { go } of pauses) go();
  if (pauses.length > 0) return;
  if (status !== 'waiting' && status !== 'failed' && status !== 'paused') return;
  // The operation that follows takes that over.
  if (live) live.isUrged = true;
  // One attempt whatever is known of the network; the next one is paused again.
  replaceFetch(query, status === 'paused' ? { networkMode: 'offlineFirst' } : undefined);
}

function cancel(query: Query, instance: Instance): void {
  const { byQuery, operations } = instance;
  const live = byQuery.get(query);
  const { status, lastError } = queryStatus(query, instance);
  if (status !== 'waiting' && status !== 'paused' && status !== 'sending') return;
  // Its end is on its way.
  const isCancelled = live?.decision?.reason === 'cancelled';
  if (isCancelled && query.state.fetchStatus === 'fetching') return;
  const under =
    live && live.phase !== 'ended'
      ? live
      : operations.begin('query', { attempt: 0 }, query.queryKey);
  byQuery.set(query, under);
  const error: unknown = lastError ?? cancelledError(under);
  endCancelled(operations, under, error, reportOf(error, instance.clock.now()));
  // React Query's own cancel leaves a query without data pending and idle, and one that is
  // suspended then fetches again by itself: so it ends as a failure.
  replaceFetch(
    query,
    { retry: false, retryDelay: 0, networkMode: 'always' },
    Promise.reject(error),
  );
}

function cancelledError(live: LiveOperation): SteadfetchError {
  return new SteadfetchError('The query was cancelled before an attempt had ended.', {
    operation: view(live, {}),
    outcome: failures.aborted,
  });
}
