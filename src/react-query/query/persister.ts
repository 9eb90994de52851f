import {
  type Query,
  type QueryClient,
  type QueryFunction,
  type QueryFunctionContext,
  type QueryKey,
  focusManager,
} from '@tanstack/react-query';
import { reportOf, toClientError } from '../../operation/error-info.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { Operations, Signals } from '../../operation/operations.ts';
import { noOwner, Owner } from '../../operation/owner.ts';
import type { Refresh } from '../../origin/wait-queue.ts';
import type { Admissions } from '../../fetch/admit.ts';
import type { WaitingWrites } from '../../fetch/order/waiting-writes.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Clock, Random } from '../../lib/clock.ts';
import type { FailureLedger } from './failure-ledger.ts';
import { reject as rejectOption } from '../../lib/input/check.ts';
import { codeOf, type MadeBy } from '../../lib/input/made-by.ts';
import type { Failure } from '../../policy/outcome.ts';
import type { FallbackCode } from './fallback.ts';
import { retryTimes } from './pause.ts';
import type { QueryRecords } from './records.ts';
import {
  isServer,
  instanceBehind,
  ownFallback,
  ownPolicy,
  instanceOfSteady,
  registerPersister,
} from '../instance.ts';
import type { AnyPersister, SteadyPersister, Steadfetch } from '../steadfetch.ts';
import { warnIfUnlinked } from '../misuse.ts';

/** What makes operations of queries. */
export interface PersisterContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly operations: Operations;
  readonly signals: Signals;
  readonly ledger: FailureLedger;
  /** What is known of each query. */
  readonly byQuery: QueryRecords;
  readonly pauseBefore: Admissions['pauseBefore'];
  /** They go before what would show that they are undone. */
  readonly waitingWrites: WaitingWrites;
  readonly connectivity: Admissions['connectivity'];
  readonly lifecycle: Lifecycle;
}

/**
 * Makes an operation of every query fetch: it begins here, counts its attempts, and is found again
 * by the error that it ends in.
 */
export function createPersister(shared: PersisterContext, inner?: AnyPersister): SteadyPersister {
  const { operations, signals, ledger, byQuery, lifecycle, waitingWrites } = shared;
  // No async function: most of what an attempt costs is the garbage that it makes.
  const persister = <T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    context: QueryFunctionContext<K>,
    query: Query,
  ): Promise<T> => {
    const begun = read(queryFn, context, query);
    const operation = byQuery.get(query);
    if (!operation || query.state.data === undefined) return begun;
    if (!waitingWrites.isAny() && !isKeptBack(operation)) return begun;
    return begun.then((data) =>
      readAgain(query, operation, data, () => read(queryFn, context, query)),
    );
  };
  const read = <T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    context: QueryFunctionContext<K>,
    query: Query,
  ): Promise<T> => {
    const { client } = context;
    // React Query has read that of an infinite query already.
    const { value: known } = Object.getOwnPropertyDescriptor(context, 'signal') ?? {};
    const isInfinite = known instanceof AbortSignal;
    const operation = nextAttempt(query, client, isInfinite);
    operation.attend(new QueryOwner(client, query, lifecycle, !inner));
    const link = new Link(operation, signals);
    const linked = new Proxy<typeof context>(context, link);
    if (isInfinite) signals.set(known, operation);
    // This is before React Query asks what follows.
    const onFail = (error: unknown): void => {
      if (process.env.NODE_ENV !== 'production')
        warnIfUnlinked(operations, query, operation, error, !!link.isRead);
      const nowMs = shared.clock.now();
      if (operation.phase.kind !== 'ended') ledger.add(operation, error, nowMs);
      const { operation: sender, failure } = reportOf(error, nowMs);
      if (!sender) recordForeign(failure, nowMs);
    };
    let begun: Promise<T>;
    // In the same turn: in StrictMode its first component goes before the next one.
    if (inner) {
      const given: Parameters<typeof inner<T, K>> = [
        passed(queryFn, operation, query),
        linked,
        query,
      ];
      begun = operations.run(operation, inner<T, K>, given, { onFail });
    } else if (isKeptBack(operation) || isBehind(query, operation)) {
      begun = untilItsTurn(query, operation).then(
        () => operations.run(operation, queryFn, [linked], { onFail }),
        (error: unknown) => {
          operation.route.returnPermit();
          onFail(error);
          throw error;
        },
      );
    } else begun = operations.run(operation, queryFn, [linked], { onFail });
    if (!inner && isKeptBack(operation)) lifecycle.pauses.showKnown(query, operation);
    const fallback = ownFallback(query.options);
    if (!fallback) return begun;
    const show = (): Promise<T> => showInstead(fallback, client, query, operation, begun);
    return begun.then(show, show);
  };
  return registerPersister(persister as AnyPersister as SteadyPersister);

  /**
   * Another client got no answer, or may not have got one: the watch over the network does not know of it,
   * and without that React Query would ask again and again while the device is offline.
   */
  function recordForeign({ kind }: Failure, nowMs: number): void {
    const isCertain = kind === 'network' || kind === 'timeout';
    if (isCertain || kind === 'error')
      shared.connectivity.recordNoAnswer(nowMs, '', () => {}, isCertain);
  }

  /** What came, or what the query shows in the place of a failure. */
  async function showInstead<T>(
    fallback: MadeBy<'fallback'>,
    client: QueryClient,
    query: Query,
    operation: Operation,
    begun: Promise<T>,
  ): Promise<T> {
    try {
      return await begun;
    } catch (error) {
      if (operation.phase.kind === 'ended') throw error;
      const { given, replace } = codeOf<FallbackCode>(fallback);
      return replace(shared, given, query, operation, error, client);
    }
  }

  /** It is known that its attempt would not be sent. */
  function isKeptBack({ route: { at }, owner: { mayBeOffline } }: Operation): boolean {
    return !!at && !at.admission.isOpen({ ...at.sent, risk: at.sent.risk, mayBeOffline });
  }

  /** Writes that had to wait go first: there are data, which have them already. */
  function isBehind({ state }: Query, operation: Operation): boolean {
    return state.data !== undefined && waitingWrites.isAheadOf(operation);
  }

  /** What was read before a write that had to wait is read again after it: it has overtaken that, as a probe does. */
  async function readAgain<T>(
    query: Query,
    operation: Operation,
    data: T,
    again: () => Promise<T>,
  ): Promise<T> {
    if (!waitingWrites.isAheadOf(operation)) return data;
    await waitingWrites.letGoFirst(operation);
    const isIts = byQuery.get(query) === operation && query.state.fetchStatus !== 'idle';
    return isIts ? again() : data;
  }

  async function untilItsTurn(query: Query, operation: Operation): Promise<void> {
    if (isBehind(query, operation)) await waitingWrites.letGoFirst(operation);
    const isSent = !isKeptBack(operation) || (await shared.pauseBefore(operation));
    // It was cancelled meanwhile.
    if (operation.phase.kind === 'ended') throw operation.errors.lastError;
    // Its instance was disposed of.
    if (!isSent)
      throw toClientError(operation.errors.abortUnsent(undefined, {}), operation.route.at?.sent);
  }

  /** For the app's persister, which may restore what it has stored, whatever is known of the origin. */
  function passed<T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    operation: Operation,
    query: Query,
  ): QueryFunction<T, K> {
    return async (context) => {
      if (isKeptBack(operation) || isBehind(query, operation)) await untilItsTurn(query, operation);
      const outer = operations.makeCurrent(operation);
      try {
        return queryFn(context);
      } finally {
        operations.makeCurrent(outer);
      }
    };
  }

  function nextAttempt(query: Query, client: QueryClient, isInfinite: boolean): Operation {
    const { fetchFailureCount, fetchFailureReason } = query.state;
    // A fetch that the server has begun fails once before it comes here.
    const before = byQuery.get(query);
    const isRetry = fetchFailureCount > 0;
    const known = before ?? (isRetry ? operationOf(reportOf(fetchFailureReason, 0)) : undefined);
    // A new fetch starts with no failure.
    if (isRetry && known && known.attempt === fetchFailureCount) {
      known.next();
      if (!before) {
        byQuery.of(query).begin(known, query);
        lifecycle.meet(client);
      }
      return known;
    }
    if (known) known.end('superseded');
    lifecycle.meet(client);
    const policy = ownPolicy(query.options);
    const attempt = fetchFailureCount + 1;
    const operation = operations.begin(
      'query',
      // Where it went before, it will go again: so it can be paused before its queryFn runs.
      {
        policy,
        attempt,
        isSingle: policy?.maxRetries === 0,
        at: known?.route.at,
        isUrged: known?.isUrged,
        isWish: !known?.isUrged && isWish(query, known),
        // It goes on at the page that has failed.
        isResumed: isInfinite,
        endsWithOwner: !isServer() && !instanceBehind(query.options.retry),
      },
      query.queryKey,
    );
    byQuery.of(query).begin(operation, query);
    return operation;
  }
}

/**
 * Whether a user waits for it: the page is seen, and there is nothing of it to show. A query without
 * observers is awaited by whoever fetches it, such as a router; more of an infinite one, by a user.
 */
function isAwaited({ state }: Query): boolean {
  const isMore = !!state.fetchMeta?.fetchMore;
  return focusManager.isFocused() && (state.data === undefined || isMore);
}

/**
 * Whether a user has just asked for it: what is fetched anew in a visible page, but for a poll of its own. A
 * poll leaves a paused fetch alone: what replaces one was asked for, too.
 */
function isWish({ observers }: Query, before: Operation | undefined): boolean {
  if (!focusManager.isFocused()) return false;
  return before?.phase.kind === 'paused' || !observers.some(isPolling);
}

const isPolling = ({ options: { refetchInterval } }: Query['observers'][number]): boolean =>
  !!refetchInterval;

/** A persister of the app's is asked offline; its request needs the network like any other. */
function isOfflineToo({ options: { networkMode = 'online' } }: Query, isOurs: boolean): boolean {
  return networkMode === 'always' || (networkMode === 'offlineFirst' && isOurs);
}

/** Knows the query of an operation. */
class QueryOwner extends Owner<Operation> {
  override readonly mayBeOffline: boolean;
  readonly #client: QueryClient;
  readonly #query: Query;
  readonly #lifecycle: Lifecycle;
  /** No persister of the app's is within ours. */
  readonly #isOurs: boolean;

  constructor(client: QueryClient, query: Query, lifecycle: Lifecycle, isOurs: boolean) {
    super();
    this.mayBeOffline = isOfflineToo(query, isOurs);
    this.#client = client;
    this.#query = query;
    this.#lifecycle = lifecycle;
    this.#isOurs = isOurs;
  }

  override onChange(operation: Operation): void {
    this.#lifecycle.showPause(this.#client, this.#query, operation);
  }

  /** Not as at its start: `retryNow` lends it another mode for that. */
  override isUnproven(): boolean {
    return isOfflineToo(this.#query, this.#isOurs);
  }

  override foreground(): () => boolean {
    const query = this.#query;
    return () => isAwaited(query);
  }

  override refresh(operation: Operation): Refresh | undefined {
    if (this.#query.state.data === undefined) return undefined;
    return { isSeen: () => focusManager.isFocused(), retriesAt: retryTimes(operation) };
  }

  override past(): Owner<Operation> {
    return this.isUnproven() ? pastUnproven : noOwner;
  }
}

/** All that is left of the owner of a query that need not leave the device. */
const pastUnproven = new (class extends Owner<Operation> {
  override readonly mayBeOffline = true;
  override isUnproven(): boolean {
    return true;
  }
  override past(): Owner<Operation> {
    return this;
  }
})();

/**
 * Tells when the signal of a queryFn's context is read. It must not be read here: that opts the
 * query into being cancelled on unmount.
 */
class Link {
  readonly operation: Operation;
  /** In development. */
  declare isRead: boolean | undefined;
  readonly #signals: Signals;
  constructor(operation: Operation, signals: Signals) {
    this.operation = operation;
    this.#signals = signals;
  }
  get(context: { readonly signal: AbortSignal }, key: PropertyKey): unknown {
    if (key !== 'signal') return Reflect.get(context, key);
    const { signal } = context;
    if (process.env.NODE_ENV !== 'production') this.isRead = true;
    this.#signals.set(signal, this.operation);
    return signal;
  }
}

/** The options of a query that has a persister of the app's own. */
export interface ComposedPersister {
  readonly persister: SteadyPersister;
  /** As React Query has it for a query with a persister: it is asked offline, too. */
  readonly networkMode: 'offlineFirst';
}

/**
 * Puts a persister of the app's own inside ours, which it would otherwise replace: spread the result
 * into a query's options, or into the default options of queries. What is stored is shown offline,
 * too, and while the origin is down; only a request waits.
 *
 * @throws TypeError when its first argument is not what `createSteadfetch` returns, or its second no function.
 *
 * @example
 * ```ts
 * const own = composePersister(steady, (queryFn, context) => queryFn(context));
 * useQuery({ queryKey, queryFn, ...own });
 * ```
 */
export function composePersister(steady: Steadfetch, persister: AnyPersister): ComposedPersister {
  const { persist } = instanceOfSteady(steady, 'composePersister');
  if (process.env.NODE_ENV !== 'production' && typeof persister !== 'function')
    rejectOption(
      'composePersister',
      'its second argument',
      persister,
      'a function, as persisterFn is',
    );
  return { persister: persist(persister), networkMode: 'offlineFirst' };
}
