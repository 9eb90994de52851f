import type {
  Query,
  QueryClient,
  QueryFunction,
  QueryFunctionContext,
  QueryKey,
} from '@tanstack/react-query';
import { reportOf, toClientError } from '../../operation/error-info.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { Operations, Signals } from '../../operation/operations.ts';
import type { Admissions } from '../../fetch/admit.ts';
import type { WaitingWrites } from '../../fetch/order/waiting-writes.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Clock, Random } from '../../lib/clock.ts';
import type { FailureLedger } from './failure-ledger.ts';
import { reject as rejectOption } from '../../lib/input/check.ts';
import { codeOf } from '../../lib/input/made-by.ts';
import type { FallbackCode } from './fallback.ts';
import { isWish, QueryOwner } from './owner.ts';
import type { QueryRecords } from './records.ts';
import { replaceFetch } from './refetch.ts';
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
  /** They go before a refetch that would show that they are undone. */
  readonly waitingWrites: WaitingWrites;
  readonly connectivity: Admissions['connectivity'];
  readonly lifecycle: Lifecycle;
}

/**
 * Makes an operation of every query fetch: it begins here, counts its attempts, and is found again
 * by the error that it ends in.
 */
export function createPersister(shared: PersisterContext, inner?: AnyPersister): SteadyPersister {
  const { byQuery, waitingWrites } = shared;
  const persister = <T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    context: QueryFunctionContext<K>,
    query: Query,
  ): Promise<T> => {
    const begun = read(queryFn, context, query);
    const operation = byQuery.get(query);
    if (!operation || query.state.data === undefined) return begun;
    if (!waitingWrites.isAny() && !isKeptBack(operation)) return begun;
    const again = (): Promise<T> => read(queryFn, context, query);
    return begun.then((data) => readAgain(shared, query, operation, data, again));
  };
  // No async function: most of what an attempt costs is the garbage that it makes.
  const read = <T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    context: QueryFunctionContext<K>,
    query: Query,
  ): Promise<T> => {
    const { client } = context;
    // React Query has read that of an infinite query already.
    const { value: known } = Object.getOwnPropertyDescriptor(context, 'signal') ?? {};
    const isInfinite = known instanceof AbortSignal;
    const operation = nextAttempt(shared, query, client, isInfinite);
    operation.attend(new QueryOwner(client, query, shared.lifecycle, !inner));
    const link = new Link(operation, shared.signals);
    const linked = new Proxy<typeof context>(context, link);
    if (isInfinite) shared.signals.set(known, operation);
    // This is before React Query asks what follows.
    const onFail = (error: unknown): void => {
      if (process.env.NODE_ENV !== 'production')
        warnIfUnlinked(shared.operations, query, operation, error, !!link.isRead);
      recordFailure(shared, operation, error);
    };
    const send = (): Promise<T> => {
      // In the same turn: in StrictMode its first component goes before the next one.
      const begun = inner
        ? shared.operations.run(
            operation,
            inner<T, K>,
            [passed(shared, queryFn, operation, query), linked, query],
            { onFail },
          )
        : shared.operations.run(operation, queryFn, [linked], { onFail });
      // A retry starts without an event of React Query.
      if (operation.attempt > 1) shared.byQuery.emitChange(query);
      return begun;
    };
    let begun: Promise<T>;
    const mustWait = isKeptBack(operation) || isBehind(shared, query, operation);
    if (inner || !mustWait) begun = send();
    else {
      begun = untilItsTurn(shared, query, operation).then(send, (error: unknown) => {
        operation.route.returnPermit();
        onFail(error);
        throw error;
      });
    }
    // Of data that were hydrated it is known only now where they come from.
    if (!inner && query.state.data !== undefined && isKeptBack(operation))
      shared.lifecycle.pauses.showKnown(query, operation);
    const fallback = ownFallback(query.options);
    if (!fallback) return begun;
    return begun.catch((error: unknown) => {
      if (operation.phase.kind === 'ended') throw error;
      const { given, replace } = codeOf<FallbackCode>(fallback);
      return replace(shared, given, query, operation, error, client);
    });
  };
  return registerPersister(persister as AnyPersister as SteadyPersister);
}

/**
 * An attempt has failed. Where another client has sent it, and got no answer or may not have got one, the watch
 * over the network does not know: without that React Query would ask again and again while the device is offline.
 */
function recordFailure(
  { clock, ledger, connectivity }: PersisterContext,
  operation: Operation,
  error: unknown,
): void {
  const nowMs = clock.now();
  if (operation.phase.kind !== 'ended') ledger.add(operation, error, nowMs);
  const { operation: sender, failure } = reportOf(error, nowMs);
  const isCertain = failure.kind === 'network' || failure.kind === 'timeout';
  if (!sender && (isCertain || failure.kind === 'error'))
    connectivity.recordNoAnswer(nowMs, '', () => {}, isCertain);
}

/** It is known that its attempt would not be sent. */
function isKeptBack({ route: { at }, owner: { mayBeOffline } }: Operation): boolean {
  if (!at) return false;
  const { endpoint, limitScope, risk } = at.sent;
  return !at.admission.isOpen({ endpoint, limitScope, risk, mayBeOffline });
}

/** Writes that had to wait go first: the data that are there have them already. */
function isBehind(
  { waitingWrites }: PersisterContext,
  { state }: Query,
  operation: Operation,
): boolean {
  return state.data !== undefined && waitingWrites.isAheadOf(operation);
}

/** Data that were read before a write that had to wait are read again after it: a probe overtakes it. */
async function readAgain<T>(
  { byQuery, waitingWrites }: PersisterContext,
  query: Query,
  operation: Operation,
  data: T,
  again: () => Promise<T>,
): Promise<T> {
  if (!waitingWrites.isAheadOf(operation)) return data;
  if (!(await waitingWrites.letGoFirst(operation))) return data;
  const isIts = byQuery.get(query) === operation && query.state.fetchStatus !== 'idle';
  if (!isIts) return data;
  // React Query's function for all pages goes on behind the last that it has read: it must begin anew.
  if (operation.given.isResumed && !query.state.fetchMeta?.fetchMore) replaceFetch(query);
  else return again();
  return data;
}

async function untilItsTurn(
  shared: PersisterContext,
  query: Query,
  operation: Operation,
): Promise<void> {
  if (isBehind(shared, query, operation)) await shared.waitingWrites.letGoFirst(operation);
  const isSent = !isKeptBack(operation) || (await shared.pauseBefore(operation));
  // It was cancelled meanwhile.
  if (operation.phase.kind === 'ended') throw operation.errors.lastError;
  // Its instance was disposed of.
  if (!isSent)
    throw toClientError(operation.errors.abortUnsent(undefined, {}), operation.route.at?.sent);
}

/** For the app's persister, which may restore what it has stored, whatever is known of the origin. */
function passed<T, K extends QueryKey>(
  shared: PersisterContext,
  queryFn: QueryFunction<T, K>,
  operation: Operation,
  query: Query,
): QueryFunction<T, K> {
  const { operations } = shared;
  return async (context) => {
    if (isKeptBack(operation) || isBehind(shared, query, operation))
      await untilItsTurn(shared, query, operation);
    const outer = operations.makeCurrent(operation);
    try {
      return queryFn(context);
    } finally {
      operations.makeCurrent(outer);
    }
  };
}

/** The operation of a query, whose next attempt begins: a new one at its first attempt. */
function nextAttempt(
  { byQuery, lifecycle, operations }: PersisterContext,
  query: Query,
  client: QueryClient,
  isInfinite: boolean,
): Operation {
  const { fetchFailureCount, fetchFailureReason } = query.state;
  // A fetch that the server has begun fails once before it comes here.
  const before = byQuery.get(query);
  const isRetry = fetchFailureCount > 0;
  const known = before ?? (isRetry ? operationOf(reportOf(fetchFailureReason, 0)) : undefined);
  if (!before || !isRetry) lifecycle.meet(client);
  // A new fetch starts with no failure.
  if (isRetry && known && known.attempt === fetchFailureCount) {
    known.next();
    if (!before) byQuery.of(query).begin(known, query);
    return known;
  }
  known?.end('superseded');
  const policy = ownPolicy(query.options);
  const operation = operations.begin(
    'query',
    {
      policy,
      attempt: fetchFailureCount + 1,
      isSingle: policy?.maxRetries === 0,
      // Where it went before, it will go again: so it can be paused before its queryFn runs.
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
