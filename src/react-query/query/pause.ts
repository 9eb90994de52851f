import type { Slot } from '../../lib/slot.ts';
import { type Query, type QueryClient, CancelledError } from '@tanstack/react-query';
import type { LiveOperation } from '../../fetch/live-operation.ts';
import type { Operations } from '../../fetch/operations.ts';
import { isServer } from '../instance.ts';
import { stopWatch } from './refetch.ts';

interface PauseContext {
  readonly operations: Operations;
  /** The newest operation of each query. */
  readonly byQuery: Slot<Query, LiveOperation>;
}

/** The held queries of a client. One subscription serves them all, while there is any. */
interface PausedQueries {
  readonly operations: Map<Query, LiveOperation>;
  stop: () => void;
}

const pausedBy = new WeakMap<QueryClient, PausedQueries>();

/**
 * Shows React Query that a query is paused, or goes on: as `paused`, so nobody sees a spinner for
 * minutes, and focus, reconnect and intervals leave it alone.
 */
export function showPause(
  client: QueryClient,
  query: Query,
  live: LiveOperation,
  context: PauseContext,
): void {
  const isPaused = live.pauses.length > 0;
  watch(client, query, live, isPaused, context);
  const isIts = context.byQuery.get(query) === live && live.phase !== 'ended';
  const { fetchStatus } = query.state;
  const wanted = isPaused ? 'paused' : 'fetching';
  if (isIts && fetchStatus !== 'idle' && fetchStatus !== wanted) {
    query.setState({ fetchStatus: wanted });
  }
}

function watch(
  client: QueryClient,
  query: Query,
  live: LiveOperation,
  isPaused: boolean,
  { operations }: PauseContext,
): void {
  const paused = pausedBy.get(client) ?? { operations: new Map(), stop: () => {} };
  pausedBy.set(client, paused);
  if (!isPaused) {
    if (paused.operations.get(query) === live) paused.operations.delete(query);
    if (paused.operations.size === 0) paused.stop();
    return;
  }
  if (paused.operations.size === 0) {
    paused.stop = client.getQueryCache().subscribe(({ type, query: changed }) => {
      const one = paused.operations.get(changed);
      if (!one) return;
      // Somebody new waits for it.
      if (type === 'observerAdded') for (const { renew } of one.pauses) renew();
      const isLeft = type === 'observerRemoved' && changed.getObserversCount() === 0;
      if (isLeft && changed.state.fetchStatus !== 'idle') void changed.cancel({ revert: true });
      if (isLeft || type === 'removed' || changed.state.fetchStatus === 'idle') {
        operations.end(one, 'cancelled');
      }
    });
  }
  paused.operations.set(query, live);
}

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
