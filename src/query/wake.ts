import {
  focusManager,
  type Mutation,
  onlineManager,
  type Query,
  type QueryClient,
} from '@tanstack/react-query';
import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Heart } from '../origin/heart.ts';
import type { Clock } from '../policy/clock.ts';
import { replaceFetch } from './replace-fetch.ts';

/** After a sleep, timers that are overdue have rung by then. */
const settleMs = 1000;

/** What React Query lets go within this time of the event, it lets go because of it. */
const wakeMs = 100;

/** Knows when React Query lets go, in one turn, everything that it has held. */
export interface Wake {
  /** The network is back, or the tab is seen again: just now or, for this query, still. */
  readonly isWaking: (query?: Query) => boolean;
  /** A query of this client fetches. */
  readonly meet: (client: QueryClient) => void;
  /** A query waits until then for its retry, by a timer of React Query's. */
  readonly expectRetry: (retryAt: number) => void;
  readonly dispose: () => void;
}

/**
 * React Query resumes its paused mutations first, and turns to its queries when all of them have an
 * answer. So what was there at the event is let go because of it for as long.
 */
export function createWake(
  clock: Clock,
  heart: Heart,
  operationOf: (query: Query) => LiveOperation | undefined,
  /** The tab is seen, or hidden: another one may be waited for. */
  onFocus: () => void = () => {},
): Wake {
  const clients = new Set<WeakRef<QueryClient>>();
  const met = new WeakSet<QueryClient>();
  /** The queries that wait for mutations, and what forgets them. */
  const waiting = new Map<WeakSet<Query>, () => void>();
  let wokenAt = -Infinity;

  const awaitMutations = (client: QueryClient, mutations: Mutation[], queries: Query[]): void => {
    const left = new Set(mutations);
    const late = new WeakSet(queries);
    if (left.size === 0 || queries.length === 0) return;
    const stop = client.getMutationCache().subscribe(({ type, mutation }) => {
      if (mutation && (type === 'removed' || mutation.state.status !== 'pending'))
        left.delete(mutation);
      if (left.size > 0) return;
      // It may turn to its queries only now.
      wokenAt = clock.now();
      forget();
    });
    const forget = (): void => {
      stop();
      waiting.delete(late);
    };
    waiting.set(late, forget);
  };
  const known = (): QueryClient[] => [...clients].flatMap((reference) => reference.deref() ?? []);
  const note = (isAwake: boolean): void => {
    if (!isAwake) return;
    wokenAt = clock.now();
    if (isOwed) retrySoon();
    for (const client of known()) {
      const predicate = (one: Mutation): boolean => one.state.isPaused;
      const paused = client.getMutationCache().findAll({ predicate });
      awaitMutations(client, paused, client.getQueryCache().getAll());
    }
  };

  /** On some systems timers stand still while the machine sleeps, and React Query's are not ours. */
  const retryOverdue = (): void => {
    const now = clock.now();
    // A query waits for its tab, too.
    isOwed = !focusManager.isFocused();
    if (isOwed) return;
    const isOverdue = (query: Query): boolean => {
      const { phase, decision } = operationOf(query) ?? {};
      return phase === 'waiting' && (decision?.retryAt ?? now) < now;
    };
    for (const client of known()) {
      const filter = { fetchStatus: 'fetching', predicate: isOverdue } as const;
      for (const query of client.getQueryCache().findAll(filter)) {
        // What nobody sees is React Query's to give up.
        if (query.getObserversCount() === 0) continue;
        wokenAt = now;
        replaceFetch(query);
      }
    }
  };
  let retryUntil = 0;
  let isOwed = false;
  let timer: unknown;
  const retrySoon = (): void => {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(retryOverdue, settleMs);
  };
  const beat = heart.join(retrySoon);

  // On a server nobody wakes.
  const stops =
    typeof window === 'undefined'
      ? []
      : [
          onlineManager.subscribe(note),
          focusManager.subscribe(note),
          focusManager.subscribe(onFocus),
        ];

  return {
    isWaking(query) {
      if (clock.now() - wokenAt < wakeMs) return true;
      return !!query && [...waiting.keys()].some((late) => late.has(query));
    },
    meet(client) {
      if (stops.length === 0 || met.has(client)) return;
      clients.add(new WeakRef(client));
      met.add(client);
      // It may have been woken before it was known. Queries that are shown begin one by one.
      const queries = client.getQueryCache();
      const begun = queries.findAll({
        fetchStatus: 'fetching',
        predicate: (one) => !operationOf(one),
      });
      if (begun.length > 1) wokenAt = clock.now();
      awaitMutations(
        client,
        client.getMutationCache().findAll({ status: 'pending' }),
        queries.findAll({ fetchStatus: 'paused' }),
      );
    },
    expectRetry(retryAt) {
      beat((retryUntil = Math.max(retryUntil, retryAt)));
    },
    dispose() {
      beat(0);
      clock.clearTimeout(timer);
      clients.clear();
      for (const stop of [...stops.splice(0), ...waiting.values()]) stop();
    },
  };
}
