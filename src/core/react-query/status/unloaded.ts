import {
  notifyManager,
  onlineManager,
  type Query,
  type QueryCache,
  type QueryClient,
} from '@tanstack/react-query';
import { originOf } from '../../lib/input/url.ts';
import { createStore, keepIfSame, type Readable } from '../../lib/store.ts';
import { queryControlsOf } from '../controls.ts';
import type { Instance } from '../instance.ts';
import { queryStatusesOf } from './query.ts';
import type { RetryState } from './status.ts';
import type { StatusStore } from './store.ts';

/** A summary of the queries of a page that cannot load now: they wait for a server that is down, or failed because of it. */
export interface Unloaded {
  /** `missing`: one of them has no data. `stale`: each shows what it had before. */
  readonly kind: 'missing' | 'stale' | undefined;
  /** One of them is being fetched. */
  readonly isSending: boolean;
  /** When the first of them is fetched, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  /** How many of them have been loaded since. */
  readonly restored: number;
  /** A query that a component shows waits for the network. */
  readonly isOffline: boolean;
}

/** Every query has loaded, as far as is known. */
export const loaded: Unloaded = Object.freeze({
  kind: undefined,
  isSending: false,
  retryAt: undefined,
  restored: 0,
  isOffline: false,
});

/** Reasons after which another attempt may be answered. A refusal, or a cancellation by the user, is not among them. */
const outages: readonly RetryState['reason'][] = [
  'rate-limited',
  'server-down',
  'paused-too-long',
  'max-retries',
  'deadline',
  'retry-after',
];

/** Whether a component shows a query or is suspended by it. Nothing observes a query that suspends until it has data. */
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

/** Fetches the queries that have failed or wait for the network, and then probes each server that is down. */
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
  // By then the queries wait at the server that is down, and one probe serves all of them.
  clock.setTimeout(() => {
    for (const admission of origins.admissions.values()) admission.probeNow();
  }, 0);
}

/** The queries that are shown or awaited and cannot be loaded, at one origin or at all of them. */
export class UnloadedQueries implements Readable<Unloaded> {
  readonly getState: () => Unloaded;
  readonly #store: ReturnType<typeof createStore<Unloaded>> = createStore(loaded);
  readonly #instance: Instance;
  readonly #queries: QueryCache;
  readonly #statuses: StatusStore<Query>;
  /** Undefined: of all origins. */
  readonly #origin: string | undefined;
  /** The queries that are awaited, each with what ends the watch of its status. */
  readonly #watched: Map<string, () => void> = new Map();
  readonly #unloaded: Set<string> = new Set();
  #restored = 0;
  #isDue = false;

  constructor(client: QueryClient, instance: Instance, origin: string | undefined) {
    this.#instance = instance;
    this.#queries = client.getQueryCache();
    this.#statuses = queryStatusesOf(client, 'ConnectionBanner');
    this.#origin = origin && originOf(origin);
    this.getState = this.#store.getState;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const watch = (query: Query): void => this.#watch(query);
    const ends = [
      this.#store.subscribe(listener),
      this.#queries.subscribe(({ query }) => watch(query)),
    ];
    this.#queries.getAll().forEach(watch);
    return () => {
      for (const end of [...ends, ...this.#watched.values()]) end();
      this.#watched.clear();
      this.#unloaded.clear();
    };
  };

  /**
   * The action for a user: fetches the queries that have failed, or wait for the network, and probes at once what is
   * down. Sends nothing to what is rate-limited.
   */
  readonly tryNow = (): void =>
    fetchAll(this.#watched.keys(), this.#unloaded, this.#statuses, this.#instance);

  /** Watches the status of a query for as long as it is awaited. */
  #watch(query: Query): void {
    const { queryHash: hash } = query;
    const isSeen = isAwaited(query) && this.#queries.get(hash) === query;
    if (isSeen === this.#watched.has(hash)) return;
    this.#watched.get(hash)?.();
    this.#watched.delete(hash);
    if (isSeen) {
      const end = this.#statuses.subscribe(hash, () => this.#refresh(query));
      this.#watched.set(hash, end);
    }
    this.#refresh(query);
  }

  #refresh(query: Query): void {
    const { queryHash: hash } = query;
    const { status, reason } = this.#statuses.getState(hash);
    const isThere = this.#watched.has(hash) && this.#isWanted(query);
    const isKnown = this.#isEnded(hash) || reason === 'queued';
    if (isThere && outages.includes(reason)) this.#unloaded.add(hash);
    else if ((isKnown || !isThere) && this.#unloaded.delete(hash) && status === 'succeeded')
      this.#restored++;
    // Once for all changes of this turn, because each of them comes in a task of its own.
    if (!this.#isDue) notifyManager.schedule(() => this.#publish());
    this.#isDue = true;
  }

  #publish(): void {
    this.#isDue = false;
    const isAnyLeft = [...this.#watched.keys()].some((hash) => !this.#isEnded(hash));
    const summary = summaryOf(this.#unloaded, this.#statuses);
    const isOffline = !onlineManager.isOnline() && isAnyLeft;
    this.#store.set(
      keepIfSame(this.getState(), { ...summary, restored: this.#restored, isOffline }),
    );
  }

  #isWanted(query: Query): boolean {
    const url = this.#instance.byQuery.get(query)?.route.at?.url;
    return !this.#origin || originOf(url ?? '') === this.#origin;
  }

  #isEnded(hash: string): boolean {
    return ['succeeded', 'failed', 'idle'].includes(this.#statuses.getState(hash).status);
  }
}
