import type { Slot } from '../../lib/slot.ts';
import { CancelledError, type Query, type QueryClient } from '@tanstack/react-query';
import type { LiveOperation } from '../../fetch/live-operation.ts';
import type { Operations } from '../../fetch/operations.ts';
import { isServer } from '../is-server.ts';
import { stopWatch } from './when-back.ts';

/** Ends the operations of queries with their fetches. */
export interface Ends {
  /** A query of this client fetches. */
  readonly watch: (client: QueryClient) => void;
  readonly dispose: () => void;
}

/**
 * Ends the operation of a query when React Query ends its fetch: also in a wait, where nothing of
 * ours runs (`cancelQueries`, `resetQueries`, `removeQueries`, `clear`, the last component goes), and
 * where the app's own `retry` has the last word. One subscription serves each client.
 */
export function endWithQuery(byQuery: Slot<Query, LiveOperation>, operations: Operations): Ends {
  const stops = new WeakMap<QueryClient, () => void>();
  const clients = new Set<WeakRef<QueryClient>>();
  return {
    watch(client) {
      // A server makes a client for each page, and waits for nothing.
      if (stops.has(client) || isServer()) return;
      clients.add(new WeakRef(client));
      const stop = client.getQueryCache().subscribe((event) => {
        if (event.type === 'removed') stopWatch(event.query);
        else if (event.type !== 'updated' || event.query.state.fetchStatus !== 'idle') return;
        const live = byQuery.get(event.query);
        if (!live || live.phase === 'ended') return;
        const action = event.type === 'updated' ? event.action : undefined;
        const isFailure = action?.type === 'error' && !(action.error instanceof CancelledError);
        operations.end(live, isFailure ? 'failed' : 'cancelled');
      });
      stops.set(client, stop);
    },
    dispose() {
      for (const reference of clients) {
        const client = reference.deref();
        if (client) stops.get(client)?.();
      }
      clients.clear();
    },
  };
}
