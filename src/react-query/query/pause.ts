import type { Slot } from '../../lib/slot.ts';
import type { Query, QueryClient } from '@tanstack/react-query';
import type { LiveOperation } from '../../fetch/live-operation.ts';
import type { Operations } from '../../fetch/operations.ts';

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
