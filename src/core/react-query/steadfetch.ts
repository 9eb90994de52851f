import type { Query, QueryFunction, QueryFunctionContext, QueryKey } from '@tanstack/react-query';
import type { ApiProfile } from '../fetch/api.ts';
import type { RawFetch, SteadyFetch } from '../fetch/send.ts';
import type { Listener } from '../operation/events.ts';
import type { SteadyJson } from '../fetch/json.ts';
import type { OriginOptions } from '../origin/origin.ts';
import type { Clock, Random, Transport } from '../lib/clock.ts';
import type { MadeBy } from '../lib/input/made-by.ts';
import type { Policy, PolicyOptions } from '../policy/options.ts';

/** The options of a Steadfetch instance. */
export interface SteadfetchConfig extends OriginOptions {
  /** The policy for all failures. @default presets.interactive */
  readonly policy?: PolicyOptions | undefined;
  /** The profiles of single APIs. @default [] */
  readonly apis?: readonly ApiProfile[] | undefined;
  /**
   * How the network is watched. Without it, React Query's `onlineManager` believes the browser, and pauses while it is
   * offline. @default none
   */
  readonly connectivity?: MadeBy<'watchConnectivity'> | undefined;
  /** How answers tell how many requests are left. Retry-After needs no such option. @default none */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  /** Sends the requests. @default the fetch of this environment, looked up at every request */
  readonly fetch?: Transport | undefined;
  /** @default the clock of this environment */
  readonly clock?: Clock | undefined;
  /** @default Math.random */
  readonly random?: Random | undefined;
  /** With `observeOnly()` the instance only watches, and changes nothing. @default none */
  readonly observe?: MadeBy<'observeOnly'> | undefined;
}

/** A policy for one query, and what it shows when it fails for good. */
export interface QueryPolicyOptions extends PolicyOptions {
  /**
   * The data that a query shows when it fails for good: `fallback(({ lastData }) => lastData)` keeps the last
   * good data. It is not cached as fresh, `useFallback` says that it is one, and the real thing is
   * fetched when the origin is back. With a `retry` of your own it is shown when that ends the retries, and a
   * function of yours is asked twice about each failure. @default none
   */
  readonly fallback?: MadeBy<'fallback'> | undefined;
}

/**
 * React Query's `persister`, which wraps every attempt of every query, whatever its queryFn does.
 *
 * As a type it says as little as it can: so React Query infers the type of the data from the
 * queryFn alone. A generic function in its place, spread into a query, makes the data `unknown`.
 */
export type SteadyPersister = (
  queryFn: unknown,
  context: unknown,
  query: unknown,
) => Promise<never>;

/** A persister of the app's own, as React Query takes it. */
export type AnyPersister = <T, K extends QueryKey>(
  queryFn: QueryFunction<T, K>,
  context: QueryFunctionContext<K>,
  query: Query,
) => T | Promise<T>;

/** The two functions that React Query calls after a failure. */
export interface RetryPair {
  readonly retry: (failureCount: number, error: unknown) => boolean;
  readonly retryDelay: (failureCount: number, error: unknown) => number;
}

/**
 * The same two functions under simpler types, which React Query also allows. With the types of the functions, a spread
 * into a query or a mutation would make the type of its errors `unknown`.
 */
export interface SpreadRetryPair {
  readonly retry: boolean;
  readonly retryDelay: number;
}

/** Options to spread into a query. */
export interface QueryPolicy extends SpreadRetryPair, QueryBasics {}

/** The options that the defaults and the policy of one query share, beside the two functions. */
export interface QueryBasics {
  readonly persister: SteadyPersister;
  /** Set because React Query silently changes the default to 'offlineFirst' for a query with a persister. */
  readonly networkMode: 'online';
}

/**
 * A policy for a plain mutation. The time limit is not part of it: React Query does not say which
 * mutation a request belongs to, so give `timeout` to `steady.fetch`.
 */
export type MutationPolicyOptions = Omit<PolicyOptions, 'timeout'>;

/**
 * The effects that an instance with `observe: observeOnly()` would have had, had it been switched on.
 *
 * A request that would have been sent gets the outcome and the duration of the app's latest request to the same endpoint.
 * So the report is exact while a request of the app shows each change of its server first. If a probe would have found
 * the end of an outage between two requests of the app, it finds it one probe later here. The report does not know what
 * fewer requests would change at the server, nor requests that depend on the data of others.
 */
export interface ObservedReport {
  /** How many fetches would have been paused. */
  readonly pauses: number;
  /** How many requests of queries would not have been sent. */
  readonly requestsSaved: number;
  /** How many fetches of queries failed that would have been answered. */
  readonly queriesAnswered: number;
}

/** A Steadfetch instance: usually one per app. */
export interface Steadfetch {
  /**
   * One attempt, for the `queryFn` of a query, for `retry`, or for itself. It rejects on every status
   * outside 2xx.
   */
  readonly fetch: SteadyFetch;
  /** The same for another client, such as ky or a GraphQL client: it resolves on every status. */
  readonly rawFetch: RawFetch;
  /** The same as `fetch`, for JSON. */
  readonly json: SteadyJson;
  /**
   * The options of React Query that put Steadfetch to work, for `new QueryClient({ defaultOptions })`:
   * `retry`, `retryDelay`, `persister` and `networkMode` of queries, `retry` and `retryDelay` of
   * mutations. With defaults of your own, use `mergeDefaultOptions`: a spread loses one of them.
   *
   * With them, `queryClient.query()` and `infiniteQuery()` retry, too (before React Query 5.102:
   * `fetchQuery`, `prefetchQuery`); their `retry: false` turns it off.
   */
  readonly defaultOptions: {
    readonly queries: RetryPair & QueryBasics;
    readonly mutations: RetryPair;
  };
  /**
   * A policy for one query, laid over the instance's: spread it into the query's options.
   *
   * @example
   * ```ts
   * useQuery({ queryKey, queryFn, ...steady.queryPolicy({ preset: 'background' }) });
   * ```
   *
   * @throws TypeError when an option is not as it must be.
   */
  readonly queryPolicy: (policy: QueryPolicyOptions) => QueryPolicy;
  /**
   * A policy for one plain mutation: spread it into the mutation's options.
   *
   * @throws TypeError when an option is not as it must be.
   */
  readonly mutationPolicy: (policy: MutationPolicyOptions) => SpreadRetryPair;
  /** Calls the listener with every event, synchronously, until the returned function is called. */
  readonly subscribe: (listener: Listener) => () => void;
  /** Returns the effects that it would have had so far; undefined unless it was made with `observe: observeOnly()`. */
  readonly report?: (() => ObservedReport) | undefined;
  /** The policy of the instance. All others are laid over it. */
  readonly policy: Policy;
  /**
   * Ends everything that this instance has begun, for a log-out, so that nothing is sent as the next user. It ends
   * queries, mutations, `retry`, single requests and forms in this tab, whether they wait, are paused or are under way. It
   * removes the entries of its outboxes in all tabs. Their promises settle with the truth: not sent, or unknown if a
   * request was out. Forms forget what may have been done. Operations that begin after the call belong to the next session.
   *
   * Call it once the server has logged the user out, or as the token is thrown away, and then
   * `queryClient.clear()`.
   *
   * @returns what resolves once the entries are removed.
   * @throws Error (as a rejection) as `outbox.clear()` does; all else has ended by then.
   *
   * @example
   * ```ts
   * async function logOut() {
   *   await steady.fetch('/api/logout', { method: 'POST' });
   *   await steady.endSession();
   *   queryClient.clear();
   * }
   * ```
   */
  readonly endSession: () => Promise<void>;
  /**
   * Removes everything that the instance has put into the page: its listeners and timers, its channel to other tabs and its
   * lock, and its control of React Query's `onlineManager`. Operations that are paused, or wait for their next attempt in
   * `mutationOptions` or `retry`, are not sent any more: they are aborted, or end with their last error. Requests that are
   * under way end as usual.
   *
   * When the dev server of Vite or webpack replaces a module in the page, the instance of its previous version is
   * disposed of by itself.
   */
  readonly dispose: () => void;
}
