import {
  type Query,
  QueryClient,
  type QueryFunction,
  type QueryFunctionContext,
  hashKey,
  type QueryKey,
  QueryObserver,
} from '@tanstack/react-query';
import { systemClock } from '../lib/clock.ts';
import { type MadeBy, code } from '../lib/input/made-by.ts';
import { toUrl } from '../lib/input/url.ts';
import { delayOfReactQuery } from '../policy/backoff.ts';
import type { Outcome } from '../policy/outcome.ts';
import { instanceOfSteady, register, registerPersister, registerSteady } from './instance.ts';
import type {
  AnyPersister,
  ObservedReport,
  QueryPolicy,
  Steadfetch,
  SteadfetchConfig,
  SteadyPersister,
} from './steadfetch.ts';

const nameOf = (method: string, url: string): string => `${method} ${url}`;

/** An answer like the one that a request of the app got; @throws TypeError where it got none. */
function answerLike(outcome: Outcome): Response {
  const { kind, status, retryAfterMs } = outcome as {
    status?: number;
    retryAfterMs?: number;
  } & Outcome;
  if (status === undefined) throw new TypeError(`It ended in: ${kind}.`);
  const headers = new Headers();
  if (retryAfterMs !== undefined) headers.set('retry-after', `${Math.ceil(retryAfterMs / 1000)}`);
  return new Response(null, { status, headers });
}

/** The instance that the app has: its requests are sent once, without a key, a limit or a pause of ours. */
const plain = ({ apis, policy, ...config }: SteadfetchConfig): SteadfetchConfig => ({
  ...config,
  apis: apis?.map(({ match, expect, endpoint, outcomes }) => ({
    match,
    expect,
    endpoint,
    outcomes,
  })),
  policy: { ...policy, maxRetries: 0, timeout: Infinity, whenDown: 'fail', whenBack: 'leave' },
  health: false,
  connectivity: undefined,
  tabs: undefined,
  rateLimit: undefined,
  concurrency: undefined,
});

/** The code that observing brings: it makes one instance of two that it creates. */
export interface ObserveCode {
  readonly by: 'observeOnly';
  readonly observe: (
    config: SteadfetchConfig,
    create: (config: SteadfetchConfig) => Steadfetch,
  ) => Steadfetch;
}

/**
 * Makes an instance that only watches, for `observe`: all is decided and told by `subscribe`, and nothing is changed.
 * Queries have React Query's own retries; nothing is paused, keyed, limited or sent again. `steady.report()` says what
 * would have been.
 *
 * @example
 * ```ts
 * import { createSteadfetch, observeOnly } from 'steadfetch';
 *
 * export const watching = createSteadfetch({ observe: observeOnly() });
 * ```
 */
export function observeOnly(): MadeBy<'observeOnly'> {
  const made: ObserveCode = { by: 'observeOnly', observe };
  return { [code]: made };
}

/**
 * An instance that only watches. All decisions are made by a second one, in front of which a QueryClient of its own
 * fetches whenever a query of the app does. It sends nothing: a request of it ends as that of the app ended last, or
 * is about to.
 */
function observe(
  config: SteadfetchConfig,
  create: (config: SteadfetchConfig) => Steadfetch,
): Steadfetch {
  /** How a request of this name ends that is under way. */
  const underWay = new Map<string, Promise<Outcome>>();
  /** How the latest request to an endpoint has ended. */
  const latest = new Map<string, Outcome>();
  const endpointOf = new Map<string, string>();
  /** The requests of each query, by name. */
  const requestsOf = new Map<
    string,
    Map<string, { readonly method: string; readonly url: string }>
  >();
  const attempts = new Map<string, Promise<unknown>>();
  const { clock = systemClock } = config;
  const watched = new Set<QueryClient>();
  const paused = new Set<number>();
  const observers = new Map<string, () => void>();
  const counts = { requests: 0, requestsIfOn: 0, failed: 0, failedIfOn: 0 };

  const real = create(plain(config));
  const ifOn = create({
    ...config,
    connectivity: undefined,
    tabs: undefined,
    fetch: async (input, init) => {
      // The app sends first what is due at the same time.
      await new Promise<void>((due) => void clock.setTimeout(due, 0));
      const name = nameOf(init?.method ?? 'GET', `${input as string | URL}`);
      const known = underWay.get(name) ?? latest.get(endpointOf.get(name) ?? '');
      return answerLike((await known) ?? { kind: 'ok', status: 200, processed: 'yes' });
    },
  });
  const client = new QueryClient({ defaultOptions: ifOn.defaultOptions });
  client.mount();

  const ends = new Map<number, (outcome: Outcome) => void>();
  real.subscribe((event) => {
    if (event.type !== 'request:start' && event.type !== 'request:end') return;
    const { method, url, request } = event;
    const name = nameOf(method, url);
    const endpoint = `${toUrl(url)?.origin} ${event.endpoint}`;
    if (event.type === 'request:end') {
      underWay.delete(name);
      latest.set(endpoint, event.outcome);
      ends.get(request)?.(event.outcome);
      ends.delete(request);
      return;
    }
    counts.requests++;
    endpointOf.set(name, endpoint);
    underWay.set(name, new Promise((resolve) => void ends.set(request, resolve)));
    const { queryKey } = event.operation;
    if (queryKey) requestsOf.get(hashKey(queryKey))?.set(name, { method, url });
  });
  ifOn.subscribe(({ type, operation }) => {
    if (type === 'request:start') counts.requestsIfOn++;
    if (type === 'pause:start') paused.add(operation.id);
  });
  client.getQueryCache().subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'error') counts.failedIfOn++;
  });

  /** Runs a queryFn as it would have run with Steadfetch switched on. */
  const runIfOn = async (hash: string, signal: AbortSignal): Promise<null> => {
    const requests = [...(requestsOf.get(hash)?.values() ?? [])];
    await Promise.all(requests.map(({ method, url }) => ifOn.fetch(url, { method, signal })));
    if (requests.length > 0) return null;
    counts.requestsIfOn++;
    await attempts.get(hash);
    return null;
  };
  /** A query that polls does so by itself: while React Query waits for a retry, the app's own does not. */
  const intervalOf = (query: Query): number | false => {
    const [polling] = query.observers.filter(({ options }) => options.refetchInterval);
    const interval = polling?.options.refetchInterval ?? false;
    return (typeof interval === 'function' ? interval(query) : interval) || false;
  };
  const fetchIfOn = (query: Query): void => {
    const { queryHash: hash, queryKey } = query;
    const cache = client.getQueryCache();
    const refetchInterval = intervalOf(query);
    if (observers.has(hash)) {
      const known = cache.get(hash);
      if (!refetchInterval && known?.state.fetchStatus === 'idle')
        void known.fetch().catch(() => {});
      return;
    }
    const observer = new QueryObserver(client, {
      queryKey,
      queryHash: hash,
      queryFn: ({ signal }) => runIfOn(hash, signal),
      staleTime: Infinity,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      refetchInterval,
      // It is remembered for as long as the app's own.
      ...(query.options.gcTime !== undefined && { gcTime: query.options.gcTime }),
      ...(query.options.retry !== undefined && { retry: query.options.retry }),
    });
    observers.set(
      hash,
      observer.subscribe(() => {}),
    );
  };
  const endIfOn = (hash: string): void => {
    observers.get(hash)?.();
    observers.delete(hash);
  };
  const forgetIfOn = (hash: string): void => {
    endIfOn(hash);
    const known = client.getQueryCache().get(hash);
    if (known) client.getQueryCache().remove(known);
    requestsOf.delete(hash);
    attempts.delete(hash);
  };
  const watch = (app: QueryClient): void => {
    if (watched.has(app)) return;
    watched.add(app);
    app.getQueryCache().subscribe((event) => {
      const { type, query } = event;
      if (type === 'updated' && event.action.type === 'error') counts.failed++;
      if (type === 'observerRemoved' && query.getObserversCount() === 0) endIfOn(query.queryHash);
      if (type === 'removed') forgetIfOn(query.queryHash);
    });
  };

  const own = real.defaultOptions.queries.persister as unknown as AnyPersister;
  const persister = <T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    context: QueryFunctionContext<K>,
    query: Query,
  ): Promise<T> => {
    const { queryHash: hash } = query;
    watch(context.client);
    const requests = requestsOf.get(hash) ?? new Map();
    requestsOf.set(hash, requests);
    const attempt = own(queryFn, context, query) as Promise<T>;
    const countForeign = (): void => {
      if (requests.size === 0) counts.requests++;
    };
    void attempt.then(countForeign, countForeign);
    attempts.set(hash, attempt);
    if (query.state.fetchFailureCount === 0) fetchIfOn(query);
    return attempt;
  };

  const instance = instanceOfSteady(real, 'observe');
  const queries = register(
    {
      // React Query's own: it is there so that the instance is found by it.
      retryDelay: delayOfReactQuery.bind(undefined),
      persister: registerPersister(persister as SteadyPersister),
      networkMode: 'online' as const,
    },
    instance,
  );
  const { fetch, rawFetch, json } = real;
  const report = (): ObservedReport => ({
    pauses: paused.size,
    requestsSaved: counts.requests - counts.requestsIfOn,
    queriesAnswered: counts.failed - counts.failedIfOn,
  });
  const steady: Steadfetch = {
    ...ifOn,
    fetch,
    rawFetch,
    json,
    // React Query's own `retry` is none: so only its calls that have one are retried.
    defaultOptions: { queries, mutations: {} } as unknown as Steadfetch['defaultOptions'],
    queryPolicy: () => queries as unknown as QueryPolicy,
    mutationPolicy: () => ({}) as never,
    report,
    dispose() {
      for (const hash of observers.keys()) endIfOn(hash);
      client.unmount();
      client.clear();
      ifOn.dispose();
      real.dispose();
    },
  };
  // mutationOptions and others that are made of it send for real.
  registerSteady(steady, instance);
  return steady;
}
