import type { Query, Mutation } from '@tanstack/react-query';
import { SteadfetchError } from '../operation/errors.ts';
import type { Operation } from '../operation/operation.ts';
import { toClientError } from '../operation/error-info.ts';
import { failures } from '../policy/outcome.ts';
import { queryStatus } from './status/query.ts';
import { type Instance, ownPolicy } from './instance.ts';
import { endFetchWith, replaceFetch } from './query/refetch.ts';
import type { RetryControls } from './status/status.ts';
import type { StatusStore } from './status/store.ts';
import { inDevelopment } from '../lib/development.ts';
import { warn } from '../lib/input/warn.ts';
import { definitionBehind } from './mutation/definition.ts';
import { cancelMutation } from './mutation/cancel.ts';
import { runOf } from './mutation/record.ts';

/** The controls of the query with this hash. */
export function queryControlsOf(store: StatusStore<Query>, hash: string): RetryControls {
  const act = (control: typeof retryQuery) => (): void => {
    const query = store.find(hash);
    if (query && store.instance) control(query, store.instance);
  };
  return { retryNow: act(retryQuery), cancel: act(cancelQuery) };
}

function retryQuery(query: Query, instance: Instance): void {
  const { status } = queryStatus(query, instance);
  const operation = instance.byQuery.get(query);
  const isPaused = !!operation?.pauses.list.length;
  operation?.pauses.each('go');
  if (isPaused) return;
  if (status !== 'waiting' && status !== 'failed' && status !== 'paused') return;
  // The next operation takes the urge over.
  operation?.urge();
  // One attempt is sent even if the network seems to be away. The next one is paused again.
  replaceFetch(query, status === 'paused' ? { networkMode: 'offlineFirst' } : undefined);
}

function cancelQuery(query: Query, instance: Instance): void {
  const { byQuery, operations } = instance;
  const operation = byQuery.get(query);
  const { status, lastError } = queryStatus(query, instance);
  if (status !== 'waiting' && status !== 'paused' && status !== 'sending') return;
  // A query that was cancelled already ends soon.
  const isCancelled = operation?.errors.decision?.reason === 'cancelled';
  if (isCancelled && query.state.fetchStatus === 'fetching') return;
  const under =
    operation && operation.phase.kind !== 'ended'
      ? operation
      : operations.begin('query', { attempt: 0, policy: ownPolicy(query.options) }, query.queryKey);
  byQuery.of(query).begin(under, query);
  const error: unknown = lastError ?? toClientError(cancelledError(under), operation?.route.at);
  endFetchWith(query, under, error, instance.clock.now());
}

function cancelledError(operation: Operation): SteadfetchError {
  return new SteadfetchError('The query was cancelled before an attempt had ended.', {
    operation: operation.view(),
    outcome: failures.aborted,
  });
}

/** The controls of the mutation with this id. */
export function mutationControlsOf(store: StatusStore<Mutation>, id: string): RetryControls {
  const act = (control: typeof cancelMutation) => (): void => {
    const { instance } = store;
    const mutation = store.find(id);
    if (!mutation || !instance) return;
    if (definitionBehind(mutation.options.mutationFn)) control(mutation);
    else inDevelopment(() => warnOfPlain(instance));
  };
  return { retryNow: act(retryMutation), cancel: act(cancelMutation) };
}

function warnOfPlain({ operations }: Instance): void {
  warn(
    operations,
    'plain controls',
    `Retry now and Cancel do nothing for a plain mutation: React Query can neither end its wait nor ` +
      `abort it. Make it with mutationOptions.`,
    'mutations.md#what-the-user-sees',
  );
}

/** Ends the wait or the pause of a mutation of ours. */
function retryMutation(mutation: Mutation): void {
  runOf(mutation)?.operation.retryNow();
}
