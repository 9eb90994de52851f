import { notifyManager, onlineManager, type Query, type QueryClient } from '@tanstack/react-query';
import { originOf } from '../../lib/input/url.ts';
import { createStore, keepIfSame, type Readable } from '../../lib/store.ts';
import { queryControlsOf } from '../controls.ts';
import type { Instance } from '../instance.ts';
import { queryStatusesOf } from './query.ts';
import type { RetryState } from './status.ts';
import type { StatusStore } from './store.ts';

/** The queries of a page that cannot load now: they wait for something that is down, or failed because of it. */
export interface Unloaded {
  /** `missing`: one of them has no data. `stale`: each shows what it had before. */
  readonly kind: 'missing' | 'stale' | undefined;
  /** One of them is being fetched. */
  readonly isSending: boolean;
  /** When the first of them is fetched, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  /** How many have been loaded after all. */
  readonly restored: number;
  /** One that is awaited waits for the network. */
  readonly isOffline: boolean;
}

/** The same as a store, and what a user can do about it. */
export interface UnloadedStore extends Readable<Unloaded> {
  /**
   * Fetches the queries that have failed, or wait for the network, and probes at once what is down. Sends nothing
   * to what is rate-limited.
   */
  readonly tryNow: () => void;
}

/** Nothing is known to be missing. */
export const loaded: Unloaded = Object.freeze({
  kind: undefined,
  isSending: false,
  retryAt: undefined,
  restored: 0,
  isOffline: false,
});

/** Another attempt may be answered: a refusal, or a query that its user has cancelled, is none of these. */
const outages: readonly RetryState['reason'][] = [
  'server-down',
  'paused-too-long',
  'max-retries',
  'deadline',
  'retry-after',
];

/** A component shows it, or is suspended by it: then nothing observes it before it has data. */
const isAwaited = (query: Query): boolean =>
  query.isActive() ||
  (query.getObserversCount() === 0 &&
    query.state.data === undefined &&
    query.state.fetchStatus !== 'idle');

/** The summary of these queries, which cannot be loaded. */
function summaryOf(
  unloaded: ReadonlySet<string>,
  { find, getState }: StatusStore<Query>,
): Pick<Unloaded, 'kind' | 'isSending' | 'retryAt'> {
  let kind: Unloaded['kind'];
  let isSending = false;
  let firstAt = Infinity;
  for (const hash of unloaded) {
    const { status, retryAt = Infinity } = getState(hash);
    if (kind !== 'missing') kind = find(hash)?.state.data === undefined ? 'missing' : 'stale';
    isSending ||= status === 'sending';
    if (status === 'paused') firstAt = Math.min(firstAt, retryAt);
  }
  return { kind, isSending, retryAt: firstAt < Infinity ? firstAt : undefined };
}

/** Fetches those that have failed, and those that wait for the network; then what is down is probed. */
function fetchAll(
  hashes: Iterable<string>,
  unloaded: ReadonlySet<string>,
  statuses: StatusStore<Query>,
  { clock, origins }: Instance,
): void {
  for (const hash of hashes) {
    const { status, reason } = statuses.getState(hash);
    const isLeft = status === 'failed' && unloaded.has(hash);
    if (isLeft)
      void statuses
        .find(hash)
        ?.fetch()
        .catch(() => {});
    if (reason === 'offline') queryControlsOf(statuses, hash).retryNow();
  }
  // By then a query whose server is down waits there: one probe finds out for all of them.
  clock.setTimeout(() => {
    for (const admission of origins.admissions.values()) admission.probeNow();
  }, 0);
}

/** The queries that are shown or awaited and cannot be loaded, at one origin or at all of them. */
export function createUnloaded(
  client: QueryClient,
  instance: Instance,
  origin: string | undefined,
): UnloadedStore {
  const queries = client.getQueryCache();
  const statuses = queryStatusesOf(client, 'ConnectionBanner');
  const { byQuery } = instance;
  const wanted = origin && originOf(origin);
  const { getState, subscribe, set } = createStore(loaded);
  /** The queries that are awaited, each with what ends the watch of its status. */
  const watched = new Map<string, () => void>();
  const unloaded = new Set<string>();
  let restored = 0;
  let isDue = false;

  const isWanted = (query: Query): boolean =>
    !wanted || originOf(byQuery.get(query)?.route.at?.sent.url ?? '') === wanted;
  const isEnded = (hash: string): boolean =>
    ['succeeded', 'failed', 'idle'].includes(statuses.getState(hash).status);
  const refresh = (query: Query): void => {
    const { queryHash: hash } = query;
    const { status, reason } = statuses.getState(hash);
    const isThere = watched.has(hash) && isWanted(query);
    const isKnown = isEnded(hash) || reason === 'queued';
    if (isThere && outages.includes(reason)) unloaded.add(hash);
    else if ((isKnown || !isThere) && unloaded.delete(hash) && status === 'succeeded') restored++;
    // Once for all whose change is to be told by now: each of them is in a task of its own.
    if (!isDue) notifyManager.schedule(publish);
    isDue = true;
  };
  const publish = (): void => {
    isDue = false;
    const isOffline = !onlineManager.isOnline() && ![...watched.keys()].every(isEnded);
    set(keepIfSame(getState(), { ...summaryOf(unloaded, statuses), restored, isOffline }));
  };
  const watch = (query: Query): void => {
    const { queryHash: hash } = query;
    const isSeen = isAwaited(query) && queries.get(hash) === query;
    if (isSeen === watched.has(hash)) return;
    watched.get(hash)?.();
    watched.delete(hash);
    if (isSeen)
      watched.set(
        hash,
        statuses.subscribe(hash, () => refresh(query)),
      );
    refresh(query);
  };

  return {
    getState,
    subscribe(listener) {
      const ends = [subscribe(listener), queries.subscribe(({ query }) => watch(query))];
      queries.getAll().forEach(watch);
      return () => {
        for (const end of [...ends, ...watched.values()]) end();
        watched.clear();
        unloaded.clear();
      };
    },
    tryNow: () => fetchAll(watched.keys(), unloaded, statuses, instance),
  };
}
