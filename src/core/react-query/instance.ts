import { inDevelopment } from '../lib/development.ts';
import * as reactQuery from '@tanstack/react-query';
import type {
  Query,
  QueryClient,
  QueryFunction,
  QueryFunctionContext,
  QueryKey,
} from '@tanstack/react-query';
import type { Connectivity } from '../connectivity/connectivity.ts';
import type { FetchContext } from '../fetch/attempt/attempt.ts';
import type { RawFetch, SteadyFetch } from '../fetch/send.ts';
import type { WaitingWrites } from '../fetch/order/waiting-writes.ts';
import type { LoopContext } from '../operation/loop.ts';
import type { Operation } from '../operation/operation.ts';
import type { Network } from '../origin/origin.ts';
import type { Origins } from '../origin/origins.ts';
import type { Clock, SteadyClock, Transport } from '../lib/clock.ts';
import { isFunction, reject } from '../lib/input/check.ts';
import type { MadeBy } from '../lib/input/made-by.ts';
import { pageOf, warn } from '../lib/input/warn.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { QueryRecords } from './query/records.ts';
import type { Steadfetch, SteadyPersister } from './steadfetch.ts';

/** The app's own persister within ours. Returns the function to call in place of the queryFn, and its arguments. */
export type InnerPersister = <T, K extends QueryKey>(
  queryFn: QueryFunction<T, K>,
  context: QueryFunctionContext<K>,
  query: Query,
  operation: Operation,
  /** Resolves when its request may be sent; undefined if it need not wait. */
  waitForTurn: () => Promise<void> | undefined,
) => readonly [run: (...given: never[]) => T | Promise<T>, given: readonly unknown[]];

/** The internals of an instance, for the hooks and the other entries. */
export interface Instance extends LoopContext {
  readonly clock: SteadyClock;
  /** The clock of this environment, for times that outlive the page. */
  readonly wall: Clock;
  /** The record of each query. */
  readonly byQuery: QueryRecords;
  readonly origins: Origins;
  readonly waitingWrites: WaitingWrites;
  /** The clients that are known in this page, and the end of their sessions. */
  readonly lifecycle: {
    readonly clients: () => readonly QueryClient[];
    readonly meet: (client: QueryClient) => void;
    readonly onSessionEnd: (client: QueryClient, listener: () => void) => void;
  };
  /** Called at a log-out, each to clear something. A rejection means that something is left. */
  readonly cleared: Set<() => Promise<void>>;
  /** Undefined where the network is not watched. */
  readonly connectivity: Connectivity | undefined;
  readonly network: Network;
  readonly fetch: SteadyFetch;
  readonly rawFetch: RawFetch;
  /** The context of its requests. The devtools put faults in front of its transport. */
  readonly context: Omit<FetchContext, 'transport'> & { transport: Transport };
  /** Makes the persister of its queries, around one of the app's own. */
  readonly persist: (inner?: InnerPersister) => SteadyPersister;
  /** The policy that was given for these options, without that of the instance. */
  readonly own: PolicyOptions | undefined;
  /** Ends everything that is paused or waits in a loop of ours, and forgets everything that was learned. */
  readonly forget: () => void;
  /** The fallback of a query of these options. */
  readonly fallback?: MadeBy<'fallback'> | undefined;
}

const instances = new WeakMap<object, Instance | undefined>();

/** Marks options as those of an instance. */
export function register<T extends object>(options: T, instance: Instance): T {
  for (const option of Object.values(options))
    if (typeof option === 'function') instances.set(option, instance);
  return options;
}

/** Marks a persister as that of an instance. */
export function registerPersister<T extends object>(persister: T): T {
  instances.set(persister, undefined);
  return persister;
}

/** Whether React Query's `persister` option is ours, or contains ours. */
export function isOurPersister(option: unknown): boolean {
  return instances.has(option as object);
}

/** Lets the other functions of the package find the internals of an instance. */
export function registerSteady(steady: Steadfetch, instance: Instance): void {
  instances.set(steady, instance);
}

/** The internals of an instance. @throws TypeError when this is not what `createSteadfetch` returns. */
export function instanceOfSteady(steady: unknown, operation: string): Instance {
  return (
    instances.get(steady as object) ??
    reject(operation, 'its first argument', steady, whatIsMade(steady))
  );
}

/** Names what an argument must be. An instance of another copy of the package is not recognised, and is named as such. */
export function whatIsMade(steady: unknown): string {
  const { queryPolicy } = Object(steady) as Partial<Steadfetch>;
  const isForeign = inDevelopment(() => typeof queryPolicy === 'function');
  return `what createSteadfetch ${isForeign ? `of the same copy of the package returns: ${twoCopies()}` : 'returns'}`;
}

const twoCopies = (): string =>
  `\`import\` and \`require\` load two, and know nothing of each other (${pageOf('bundlers.md#import-and-require')})`;

/** The instance behind React Query's `retry` or `retryDelay` option; undefined if the option is not ours. */
export function instanceBehind(option: unknown): Instance | undefined {
  return typeof option === 'function' ? instances.get(option) : undefined;
}

/** The fallback of a query with these options, also if its `retry` or its persister is the app's own. */
export function ownFallback({
  persister,
  retry,
  retryDelay,
}: Partial<Record<'persister' | 'retry' | 'retryDelay', unknown>>): Instance['fallback'] {
  // Read for every attempt, so without a function call for each option.
  return (
    instances.get(persister as object)?.fallback ??
    instances.get(retry as object)?.fallback ??
    instances.get(retryDelay as object)?.fallback
  );
}

/** The policy of a query's options. The app's own number of retries takes precedence. */
export function ownPolicy({
  retry,
  retryDelay,
}: {
  readonly retry?: unknown;
  readonly retryDelay?: unknown;
}): PolicyOptions | undefined {
  const own = (instances.get(retry as object) ?? instances.get(retryDelay as object))?.own;
  // On a server nothing is retried, and no page waits for an origin: the browser will fetch again.
  if (isServer()) return { ...own, maxRetries: 0, whenDown: 'fail' };
  if (typeof retry === 'function') return own;
  return { ...own, maxRetries: retry === true ? Infinity : Number(retry ?? 3) };
}

/**
 * The instance whose default options a QueryClient has; undefined if it has none, as in tests and stories with a client
 * of their own. In development a warning says so, once for each client.
 */
export function findInstance(client: QueryClient, operation: string): Instance | undefined {
  const instance = optionsOf(client).map(instanceBehind).find(Boolean);
  instance?.lifecycle.meet(client);
  if (process.env.NODE_ENV !== 'production' && !instance) {
    const message = `${missing(client, operation)} Until then it shows nothing.`;
    warn(client, 'no instance', message, 'retry/default-options.md#default-options');
  }
  return instance;
}

/**
 * The same, for functions that need an instance.
 *
 * @throws Error that says what is missing, if the client has no instance.
 */
export function instanceOf(client: QueryClient, operation: string): Instance {
  const instance = optionsOf(client).map(instanceBehind).find(Boolean);
  instance?.lifecycle.meet(client);
  if (instance) return instance;
  throw new Error(missing(client, operation));
}

function optionsOf(client: QueryClient): readonly unknown[] {
  const { queries, mutations } = client.getDefaultOptions();
  return [queries?.retryDelay, queries?.retry, mutations?.retryDelay, mutations?.retry];
}

function missing(client: QueryClient, operation: string): string {
  const remedy = inDevelopment(
    () =>
      ` Make it with new QueryClient({ defaultOptions: steady.defaultOptions }).${
        optionsOf(client).some(isFunction)
          ? ` If it is, there are two copies of the package: ${twoCopies()}.`
          : ''
      }`,
  );
  return `${operation}: this QueryClient carries no default options of Steadfetch.${remedy || ''}`;
}

/** React Query has it since 5.91. A named import would fail before that. */
const { environmentManager } = reactQuery as Partial<typeof reactQuery>;

/** Whether React Query considers this a server. An app can set that by its `environmentManager`. */
export function isServer(): boolean {
  return environmentManager ? environmentManager.isServer() : reactQuery.isServer;
}
