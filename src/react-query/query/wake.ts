import { focusManager, type Query, type QueryClient } from '@tanstack/react-query';
import type { LiveOperation } from '../../fetch/live-operation.ts';
import type { Heart } from '../../lib/heart.ts';
import type { Clock } from '../../lib/clock.ts';
import { replaceFetch } from './replace-fetch.ts';

/** After a sleep, timers that are overdue have rung by then. */
const settleMs = 1000;

/**
 * Retries what has slept past its retry. On some systems timers stand still while the machine
 * sleeps, and React Query's are not ours.
 */
export interface Wake {
  /** A query of this client fetches. */
  readonly meet: (client: QueryClient) => void;
  /** A query waits until then for its retry, by a timer of React Query's. */
  readonly expectRetry: (retryAt: number) => void;
  readonly dispose: () => void;
}

export function createWake(
  clock: Clock,
  heart: Heart,
  operationOf: (query: Query) => LiveOperation | undefined,
  /** The tab is seen, or hidden: another one may be waited for. */
  onFocus: () => void = () => {},
): Wake {
  const clients = new Set<WeakRef<QueryClient>>();
  const met = new WeakSet<QueryClient>();
  let retryUntil = 0;
  let isOwed = false;
  let timer: unknown;

  const retryOverdue = (): void => {
    const now = clock.now();
    // A query waits for its tab, too.
    isOwed = !focusManager.isFocused();
    if (isOwed) return;
    const isOverdue = (query: Query): boolean => {
      const { phase, decision } = operationOf(query) ?? {};
      return phase === 'waiting' && (decision?.retryAt ?? now) < now;
    };
    for (const reference of clients) {
      const filter = { fetchStatus: 'fetching', predicate: isOverdue } as const;
      // What nobody sees is React Query's to give up.
      for (const query of reference.deref()?.getQueryCache().findAll(filter) ?? [])
        if (query.getObserversCount() > 0) replaceFetch(query);
    }
  };
  const retrySoon = (): void => {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(retryOverdue, settleMs);
  };
  const beat = heart.join(retrySoon);

  // On a server nobody wakes.
  const isServer = typeof window === 'undefined';
  const stop = isServer
    ? undefined
    : focusManager.subscribe((isFocused) => {
        if (isFocused && isOwed) retrySoon();
        onFocus();
      });

  return {
    meet(client) {
      if (!stop || met.has(client)) return;
      met.add(client);
      clients.add(new WeakRef(client));
    },
    expectRetry(retryAt) {
      beat((retryUntil = Math.max(retryUntil, retryAt)));
    },
    dispose() {
      beat(0);
      clock.clearTimeout(timer);
      clients.clear();
      stop?.();
    },
  };
}
