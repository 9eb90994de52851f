import { CancelledError, type Query, type QueryClient } from '@tanstack/react-query';
import type { Operation } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import type { Slot } from '../../lib/slot.ts';
import { isServer } from '../instance.ts';
import { warnOfOwnRetry, warnOfPersister, watchSharing } from '../misuse.ts';
import { stopWatch } from './refetch.ts';

/** Keeps the operations of queries and React Query's fetches together: both are paused, and end, as one. */
export interface Lifecycle {
  /** A query of this client fetches. */
  readonly meet: (client: QueryClient) => void;
  /** The clients that were met in a page. */
  readonly clients: () => readonly QueryClient[];
  /** Shows React Query whether an operation is paused. */
  readonly showPause: (client: QueryClient, query: Query, operation: Operation) => void;
  readonly dispose: () => void;
}

/**
 * Ends the operation of a query when React Query ends its fetch: also in a wait, where nothing of
 * ours runs (`cancelQueries`, `resetQueries`, `removeQueries`, `clear`, the last component goes), and
 * where the app's own `retry` has the last word. One subscription serves each client.
 */
export function createLifecycle(
  byQuery: Slot<Query, Operation>,
  operations: Operations,
): Lifecycle {
  const stops = new WeakMap<QueryClient, () => void>();
  const references = new Set<WeakRef<QueryClient>>();
  const clients = (): QueryClient[] =>
    [...references].map((one) => one.deref()).filter((one) => one !== undefined);

  const follow = (client: QueryClient): void => {
    if (stops.has(client)) return;
    references.add(new WeakRef(client));
    const stop = client.getQueryCache().subscribe((event) => {
      const { type, query } = event;
      const { fetchStatus } = query.state;
      if (type === 'removed') stopWatch(query);
      const operation = byQuery.get(query);
      if (process.env.NODE_ENV !== 'production') {
        warnOfPersister(operations, query);
        if (type === 'updated' && event.action.type === 'failed' && operation)
          warnOfOwnRetry(operations, query, operation);
      }
      if (!operation || operation.phase.kind === 'ended') return;
      if (type === 'observerAdded') operation.pauses.each('renew');
      const isLeft = type === 'observerRemoved' && operation.pauses.list.length > 0;
      if (isLeft && query.getObserversCount() === 0) {
        // React Query itself drops a retry, but no fetch that is paused.
        if (fetchStatus !== 'idle') void query.cancel({ revert: true });
        return operation.end('cancelled');
      }
      if (type !== 'removed' && (type !== 'updated' || fetchStatus !== 'idle')) return;
      const action = type === 'updated' ? event.action : undefined;
      const isFailure = action?.type === 'error' && !(action.error instanceof CancelledError);
      operation.end(isFailure ? 'failed' : 'cancelled');
    });
    stops.set(client, stop);
  };

  return {
    // A server makes a client for each page, and waits for nothing.
    meet(client) {
      if (!isServer()) follow(client);
      else if (process.env.NODE_ENV !== 'production') watchSharing(operations, client);
    },
    clients,
    // As `paused`, nobody sees a spinner for minutes, and focus, reconnect and intervals leave it alone.
    showPause(client, query, operation) {
      const isPaused = operation.pauses.list.length > 0;
      if (isPaused) follow(client);
      const isIts = byQuery.get(query) === operation && operation.phase.kind !== 'ended';
      const { fetchStatus } = query.state;
      const wanted = isPaused ? 'paused' : 'fetching';
      if (isIts && fetchStatus !== 'idle' && fetchStatus !== wanted)
        query.setState({ fetchStatus: wanted });
    },
    dispose() {
      for (const client of clients()) stops.get(client)?.();
      references.clear();
    },
  };
}
