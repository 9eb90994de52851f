import { hashKey, type Query, QueryClient, QueryObserver } from '@tanstack/react-query';
import type { Steadfetch, ObservedReport } from '../steadfetch.ts';
import type { RequestEvent } from './known-answers.ts';

/** The two sides of a comparison. */
type Side = 'app' | 'if-on';

/** Compares what the app does with what it would do with Steadfetch switched on. */
export class Comparison {
  readonly #paused: Set<number> = new Set();
  #requestsSaved = 0;
  #queriesAnswered = 0;

  countRequest(side: Side): void {
    this.#requestsSaved += side === 'app' ? 1 : -1;
  }

  /** A fetch of a query has failed for good. */
  countFailure(side: Side): void {
    this.#queriesAnswered += side === 'app' ? 1 : -1;
  }

  countPause(operation: number): void {
    this.#paused.add(operation);
  }

  report(): ObservedReport {
    return {
      pauses: this.#paused.size,
      requestsSaved: this.#requestsSaved,
      queriesAnswered: this.#queriesAnswered,
    };
  }
}

/** The copy of one query of the app, fetched with the instance that decides. */
class Shadow {
  /** The requests of the query, by name. */
  readonly requests: Map<string, Pick<RequestEvent, 'method' | 'url'>> = new Map();
  /** The latest attempt of the app. */
  attempt: Promise<unknown> | undefined;
  #stop: (() => void) | undefined;

  follow(attempt: Promise<unknown>): void {
    this.attempt = attempt;
  }

  get isShown(): boolean {
    return this.#stop !== undefined;
  }

  /** @param stop - Ends what shows it. */
  show(stop: () => void): void {
    this.#stop = stop;
  }

  hide(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}

/**
 * Copies of the app's queries, which fetch as they would with Steadfetch switched on. They are in a QueryClient of their
 * own: each begins to fetch when its query of the app does, and goes on by itself from there.
 */
export class ShadowQueries {
  readonly #ifOn: Steadfetch;
  readonly #comparison: Comparison;
  readonly #client: QueryClient;
  /** By query hash. */
  readonly #shadows: Map<string, Shadow> = new Map();

  constructor(ifOn: Steadfetch, comparison: Comparison) {
    this.#ifOn = ifOn;
    this.#comparison = comparison;
    this.#client = new QueryClient({ defaultOptions: ifOn.defaultOptions });
    this.#client.mount();
    this.#client.getQueryCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error')
        comparison.countFailure('if-on');
    });
  }

  /** Records a request of the app. */
  recordRequest({ operation: { queryKey }, method, url }: RequestEvent): void {
    const shadow = queryKey && this.#shadows.get(hashKey(queryKey));
    shadow?.requests.set(`${method} ${url}`, { method, url });
  }

  /** Follows an attempt of a query of the app, which `begin` begins. */
  follow<T>(query: Query, begin: () => Promise<T>): Promise<T> {
    const { queryHash: hash, state } = query;
    const shadow = this.#shadows.get(hash) ?? new Shadow();
    this.#shadows.set(hash, shadow);
    const attempt = begin();
    const countForeign = (): void => {
      if (shadow.requests.size === 0) this.#comparison.countRequest('app');
    };
    void attempt.then(countForeign, countForeign);
    shadow.follow(attempt);
    if (state.fetchFailureCount === 0) this.#fetch(query, shadow);
    return attempt;
  }

  /** No component of the app shows a query any more. */
  hide(hash: string): void {
    this.#shadows.get(hash)?.hide();
  }

  forget(hash: string): void {
    const cache = this.#client.getQueryCache();
    this.hide(hash);
    this.#shadows.delete(hash);
    const known = cache.get(hash);
    if (known) cache.remove(known);
  }

  dispose(): void {
    for (const shadow of this.#shadows.values()) shadow.hide();
    this.#client.unmount();
    this.#client.clear();
  }

  #fetch(query: Query, shadow: Shadow): void {
    const { queryHash, queryKey, options } = query;
    const refetchInterval = intervalOf(query);
    if (shadow.isShown) {
      const known = this.#client.getQueryCache().get(queryHash);
      if (!refetchInterval && known?.state.fetchStatus === 'idle')
        void known.fetch().catch(() => {});
      return;
    }
    const observer = new QueryObserver(this.#client, {
      queryKey,
      queryHash,
      queryFn: ({ signal }) => this.#run(shadow, signal),
      staleTime: Infinity,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      refetchInterval,
      // Kept as long as the app's own query.
      ...(options.gcTime !== undefined && { gcTime: options.gcTime }),
      ...(options.retry !== undefined && { retry: options.retry }),
    });
    shadow.show(observer.subscribe(() => {}));
  }

  /** Runs a queryFn as it would have run. */
  async #run(shadow: Shadow, signal: AbortSignal): Promise<null> {
    const requests = [...shadow.requests.values()];
    await Promise.all(requests.map(({ method, url }) => this.#ifOn.fetch(url, { method, signal })));
    if (requests.length > 0) return null;
    this.#comparison.countRequest('if-on');
    await shadow.attempt;
    return null;
  }
}

/** The interval of a query that polls. The copy polls by itself, because the app's query does not while it waits for a retry. */
function intervalOf(query: Query): number | false {
  const [polling] = query.observers.filter(({ options }) => options.refetchInterval);
  const interval = polling?.options.refetchInterval ?? false;
  return (typeof interval === 'function' ? interval(query) : interval) || false;
}
