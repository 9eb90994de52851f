import type { Query, QueryClient } from '@tanstack/react-query';
import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Operations } from '../fetch/operations.ts';

interface HoldContext {
  readonly operations: Operations;
  /** The newest operation of each query. */
  readonly byQuery: WeakMap<Query, LiveOperation>;
}

/** The held queries of a client. One subscription serves them all, while there is any. */
interface HeldQueries {
  readonly operations: Map<Query, LiveOperation>;
  stop: () => void;
}

const heldBy = new WeakMap<QueryClient, HeldQueries>();

/**
 * Shows React Query that a query is held, or goes on: held is `paused`, so nobody sees a spinner for
 * minutes, and focus, reconnect and intervals leave it alone.
 */
export function showHold(
  client: QueryClient,
  query: Query,
  live: LiveOperation,
  context: HoldContext,
): void {
  const isHeld = live.holds.length > 0;
  watch(client, query, live, isHeld, context);
  const isIts = context.byQuery.get(query) === live && live.phase !== 'ended';
  const { fetchStatus } = query.state;
  const wanted = isHeld ? 'paused' : 'fetching';
  if (isIts && fetchStatus !== 'idle' && fetchStatus !== wanted) {
    query.setState({ fetchStatus: wanted });
  }
}

function watch(
  client: QueryClient,
  query: Query,
  live: LiveOperation,
  isHeld: boolean,
  { operations }: HoldContext,
): void {
  const held = heldBy.get(client) ?? { operations: new Map(), stop: () => {} };
  heldBy.set(client, held);
  if (!isHeld) {
    if (held.operations.get(query) === live) held.operations.delete(query);
    if (held.operations.size === 0) held.stop();
    return;
  }
  if (held.operations.size === 0) {
    held.stop = client.getQueryCache().subscribe(({ type, query: changed }) => {
      const one = held.operations.get(changed);
      if (!one) return;
      // Somebody new waits for it.
      if (type === 'observerAdded') for (const { renew } of one.holds) renew();
      const isLeft = type === 'observerRemoved' && changed.getObserversCount() === 0;
      if (isLeft && changed.state.fetchStatus !== 'idle') void changed.cancel({ revert: true });
      if (isLeft || type === 'removed' || changed.state.fetchStatus === 'idle') {
        operations.end(one, 'cancelled');
      }
    });
  }
  held.operations.set(query, live);
}
