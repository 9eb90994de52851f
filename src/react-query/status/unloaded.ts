import type { Query, QueryCache, QueryClient } from '@tanstack/react-query';
import { originOf } from '../../lib/input/url.ts';
import { keepIfSame, type Readable } from '../../lib/store.ts';
import { reportOf } from '../../operation/error-info.ts';
import { probeNow } from '../../origin/due.ts';
import { queryControlsOf } from '../controls.ts';
import { queryStatusesOf } from './query.ts';
import type { RetryState } from './status.ts';
import type { StatusStore } from './store.ts';

/** What a page cannot load right now: its queries that wait for something that is down, or have failed by it. */
export interface Unloaded {
  /** `missing`: one of them has no data. `stale`: each shows what it had before. */
  readonly kind: 'missing' | 'stale' | undefined;
  /** None of them has failed for good. */
  readonly goesOn: boolean;
  /** One of them, or of those that wait for the network, is being fetched. */
  readonly isSending: boolean;
  /** When the first of them is fetched, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  /** How many have been loaded after all. */
  readonly restored: number;
  /** A query on screen waits for the network. */
  readonly isOffline: boolean;
}

/** Nothing is known to be missing. */
export const loaded: Unloaded = Object.freeze({
  kind: undefined,
  goesOn: true,
  isSending: false,
  retryAt: undefined,
  restored: 0,
  isOffline: false,
});

/** Whether the server, or the way to it, is to blame: what is refused or not found stays so. */
function isOutage(error: unknown): boolean {
  const { failure } = reportOf(error, 0);
  if (failure.kind !== 'http')
    return ['network', 'timeout', 'body', 'paused-too-long'].includes(failure.kind);
  const { status } = failure;
  return status === 408 || status === 429 || status >= 500;
}

/** What the queries on screen cannot load, at one origin or at all of them. */
export class UnloadedQueries implements Readable<Unloaded> {
  readonly #queries: QueryCache;
  readonly #statuses: StatusStore<Query>;
  readonly #origin: string | undefined;
  /** The queries on screen, each with what ends the watch of its status. */
  readonly #watched: Map<string, () => void> = new Map();
  readonly #unloaded: Set<string> = new Set();
  readonly #offline: Set<string> = new Set();
  readonly #listeners: Set<() => void> = new Set();
  #restored = 0;
  #state = loaded;
  #isDue = false;
  #stop: (() => void) | undefined;

  constructor(client: QueryClient, origin: string | undefined) {
    this.#queries = client.getQueryCache();
    this.#statuses = queryStatusesOf(client, 'ConnectionBanner');
    this.#origin = origin && originOf(origin);
  }

  readonly getState = (): Unloaded => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    const queries = this.#queries;
    this.#listeners.add(listener);
    this.#stop ??= queries.subscribe(({ type, query }) => {
      if (type !== 'updated') this.#watch(query);
    });
    queries.getAll().forEach((query) => this.#watch(query));
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
      for (const end of this.#watched.values()) end();
      for (const known of [this.#watched, this.#unloaded, this.#offline]) known.clear();
      this.#state = loaded;
    };
  };

  /**
   * Probes at once all that is down and waited for, and fetches the queries that have failed, or wait for the
   * network. Sends nothing to what is rate-limited.
   */
  readonly tryNow = (): void => {
    const { clock, origins, byQuery } = this.#statuses.instance;
    const probed = [...origins.admissions]
      .filter(([key]) => this.#isWanted(key))
      .flatMap(([, { origin, force }]) => probeNow(origin, clock.now(), force));
    origins.reconsider();
    for (const hash of this.#offline) queryControlsOf(this.#statuses, hash).retryNow();
    for (const hash of this.#unloaded) {
      if (this.#statuses.getState(hash).status !== 'failed') continue;
      const query = this.#queries.get(hash);
      const { admission, sent } = (query && byQuery.get(query)?.route.down()) ?? {};
      const down = sent && admission?.origin.health.downFor(sent.endpoint);
      // One probe is enough: the others wait for its answer.
      if (down && probed.includes(down)) void query?.fetch().catch(() => {});
      else queryControlsOf(this.#statuses, hash).retryNow();
      if (down) probed.push(down);
    }
  };

  #isWanted(key: string): boolean {
    return !this.#origin || key.split(' ')[0] === this.#origin;
  }

  #isOfOrigin(query: Query): boolean {
    const { origins, byQuery } = this.#statuses.instance;
    const admission = byQuery.get(query)?.route.at?.admission;
    return (
      !this.#origin ||
      [...origins.admissions].some(([key, known]) => known === admission && this.#isWanted(key))
    );
  }

  /** It may have come on screen, or gone. */
  #watch(query: Query): void {
    const { queryHash: hash } = query;
    const isSeen = query.isActive() && this.#queries.get(hash) === query;
    if (isSeen === this.#watched.has(hash)) return;
    this.#watched.get(hash)?.();
    this.#watched.delete(hash);
    if (isSeen) {
      const onChange = (): void => this.#refresh(query);
      this.#watched.set(hash, this.#statuses.subscribe(hash, onChange));
    }
    this.#refresh(query);
  }

  /** A status that does not say whether it can be loaded changes nothing. */
  #refresh(query: Query): void {
    const { queryHash: hash } = query;
    const { status, reason, lastError } = this.#statuses.getState(hash);
    const isSeen = this.#watched.has(hash) && this.#isOfOrigin(query);
    const isUnderWay = status === 'sending' || status === 'waiting';
    const isPausedFor = (cause: string): boolean => status === 'paused' && reason === cause;
    const isBroken = status === 'failed' && reason !== 'cancelled' && isOutage(lastError);
    if (isSeen && isPausedFor('offline')) this.#offline.add(hash);
    else if (!isSeen || !isUnderWay) this.#offline.delete(hash);
    if (isSeen && (isBroken || isPausedFor('server-down'))) this.#unloaded.add(hash);
    else if (!isSeen || !(isUnderWay || (status === 'paused' && reason !== 'queued'))) {
      const wasUnloaded = this.#unloaded.delete(hash);
      if (wasUnloaded && status === 'succeeded') this.#restored++;
    }
    if (this.#isDue) return;
    this.#isDue = true;
    // Once for all that change in one turn.
    queueMicrotask(() => this.#publish());
  }

  #publish(): void {
    this.#isDue = false;
    const statusOf = (hash: string): RetryState => this.#statuses.getState(hash);
    const hasData = (hash: string): boolean => this.#queries.get(hash)?.state.data !== undefined;
    const all = [...this.#unloaded].map(statusOf);
    const kind = [...this.#unloaded].every(hasData) ? 'stale' : 'missing';
    const paused = all.filter(({ status }) => status === 'paused');
    const retryAt = Math.min(...paused.map((one) => one.retryAt ?? Infinity));
    const offline = [...this.#offline].map(statusOf);
    const before = this.#state;
    this.#state = keepIfSame(before, {
      kind: all.length > 0 ? kind : undefined,
      goesOn: all.every(({ status }) => status !== 'failed'),
      isSending: [...all, ...offline].some(({ status }) => status === 'sending'),
      retryAt: retryAt < Infinity ? retryAt : undefined,
      restored: this.#restored,
      isOffline: offline.length > 0,
    });
    if (this.#state !== before) for (const listener of this.#listeners) listener();
  }
}
