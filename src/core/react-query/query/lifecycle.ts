import {
  CancelledError,
  type Query,
  type QueryCacheNotifyEvent,
  type QueryClient,
} from '@tanstack/react-query';
import type { OperationResult } from '../../operation/events.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import { endedWithSession } from '../../operation/parts/session.ts';
import { isServer } from '../instance.ts';
import { endMutation, followMutations } from '../mutation/lifecycle.ts';
import { warnOfOwnRetry, warnOfPersister, createSharingWatch } from '../misuse.ts';
import { createQueryPauses, type QueryPauses } from './pause.ts';
import type { QueryRecord } from './records.ts';
import { endFetchWith, type RefetchContext, refetchWhenBack } from './refetch.ts';

/** Keeps the operations of queries and React Query's fetches together: both are paused, and end, as one. */
export interface Lifecycle {
  /** A query of this client fetches. */
  readonly meet: (client: QueryClient) => void;
  /** The clients that were met in a page. */
  readonly clients: () => readonly QueryClient[];
  /** Shows React Query whether an operation is paused. */
  readonly showPause: (client: QueryClient, query: Query, operation: Operation) => void;
  readonly pauses: QueryPauses;
  /** Calls a listener when the session ends, for as long as the client is there. */
  readonly onSessionEnd: (client: QueryClient, listener: () => void) => void;
  /** Ends what the clients have begun. */
  readonly endSession: () => void;
  readonly dispose: () => void;
}

interface LifecycleContext extends RefetchContext {
  readonly operations: Operations;
}

/**
 * Ends the operation of a query when React Query ends its fetch: also in a wait, where nothing of
 * ours runs (`cancelQueries`, `resetQueries`, `removeQueries`, `clear`, the last component goes), and
 * where the app's own `retry` has the last word. One subscription serves each client.
 */
export function createLifecycle(context: LifecycleContext): Lifecycle {
  const { byQuery, clock, operations } = context;
  const pauses = createQueryPauses(clock, byQuery);
  const watchSharing =
    process.env.NODE_ENV === 'production' ? undefined : createSharingWatch(operations);
  const stops = new WeakMap<QueryClient, () => void>();
  const listeners = new WeakMap<QueryClient, Set<() => void>>();
  const references = new Set<WeakRef<QueryClient>>();
  const clients = (): QueryClient[] =>
    [...references].map((one) => one.deref()).filter((one) => one !== undefined);

  const follow = (client: QueryClient): void => {
    if (stops.has(client)) return;
    references.add(new WeakRef(client));
    const ends = [client.getQueryCache().subscribe(onEvent), followMutations(client, context)];
    stops.set(client, () => ends.forEach((end) => end()));
  };
  const onEvent = (event: QueryCacheNotifyEvent): void => {
    const { type, query } = event;
    if (process.env.NODE_ENV !== 'production') warnOf(context, event);
    const record = byQuery.find(query);
    if (!record) return;
    const { operation } = record;
    if (type === 'removed') {
      record.endWatch();
      endIfActive(operation, 'cancelled');
    } else if (type === 'updated' && query.state.fetchStatus === 'idle') {
      const { action } = event;
      const isFailure = action.type === 'error' && !(action.error instanceof CancelledError);
      if (operation && isFailure) refetchWhenBack(query, operation, context);
      endIfActive(operation, isFailure ? 'failed' : 'cancelled');
    } else if (type === 'observerAdded') operation?.pauses.each('renew');
    else if (type === 'observerRemoved') dropIfLeft(query, operation);
    dropIfDisabled(query, record);
  };

  return {
    // A server makes a client for each page, and waits for nothing.
    meet(client) {
      if (!isServer()) follow(client);
      else watchSharing?.(client);
    },
    clients,
    showPause(client, query, operation) {
      if (operation.pauses.list.length > 0) follow(client);
      pauses.show(query, operation);
      byQuery.emitChange(query);
    },
    pauses,
    onSessionEnd(client, listener) {
      const known = listeners.get(client) ?? new Set();
      listeners.set(client, known.add(listener));
    },
    endSession() {
      for (const client of clients()) {
        for (const mutation of client.getMutationCache().getAll())
          endMutation(mutation, true, context);
        for (const query of client.getQueryCache().findAll({ predicate: isFetching }))
          endFetch(query, byQuery.get(query), clock.now());
        for (const listener of listeners.get(client) ?? []) listener();
      }
    },
    dispose() {
      for (const client of clients()) stops.get(client)?.();
      references.clear();
    },
  };
}

function endIfActive(operation: Operation | undefined, result: OperationResult): void {
  if (operation && operation.phase.kind !== 'ended') operation.end(result);
}

/** React Query itself drops a retry that no component is left for, but no fetch that is paused. */
function dropIfLeft(query: Query, operation: Operation | undefined): void {
  if (!operation?.pauses.list.length || query.getObserversCount() > 0) return;
  if (query.state.fetchStatus !== 'idle') void query.cancel({ revert: true });
  operation.end('cancelled');
}

/** React Query goes on with the retries of a query that is disabled meanwhile. */
function dropIfDisabled(query: Query, record: QueryRecord): void {
  const kind = record.operation?.phase.kind;
  if (!record.isDisabled(query) || query.state.fetchStatus === 'idle') return;
  if (kind === 'waiting' || kind === 'paused') void query.cancel({ revert: true });
}

const isFetching = ({ state }: Query): boolean => state.fetchStatus !== 'idle';

/** With data it stays as it was. One that a component waits for fails: nothing else would fetch it again. */
function endFetch(query: Query, operation: Operation | undefined, nowMs: number): void {
  const isAwaited = query.state.data === undefined && query.getObserversCount() > 0;
  if (!isAwaited || !operation) return void query.cancel({ revert: true });
  const error: unknown = operation.errors.lastError ?? endedWithSession(operation, true, 'no');
  endFetchWith(query, operation, error, nowMs);
}

/** In development. */
function warnOf({ byQuery, operations }: LifecycleContext, event: QueryCacheNotifyEvent): void {
  const { query } = event;
  warnOfPersister(operations, query);
  const operation = byQuery.get(query);
  if (operation && event.type === 'updated' && event.action.type === 'failed')
    warnOfOwnRetry(operations, query, operation);
}
