import { inDevelopment } from '../../lib/development.ts';
import type {
  Query,
  QueryClient,
  QueryFunction,
  QueryFunctionContext,
  QueryKey,
} from '@tanstack/react-query';
import { reportOf, toClientError } from '../../operation/error-info.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { LoopContext } from '../../operation/loop.ts';
import type { Signals } from '../../operation/operations.ts';
import type { Admissions } from '../../fetch/admit.ts';
import type { FetchContext } from '../../fetch/attempt/attempt.ts';
import type { WaitingWrites } from '../../fetch/order/waiting-writes.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { FailureLedger } from './failure-ledger.ts';
import { codeOf } from '../../lib/input/made-by.ts';
import type { FallbackCode } from './fallback.ts';
import { isWish, QueryOwner } from './owner.ts';
import type { QueryRecord, QueryRecords } from './records.ts';
import { replaceFetch } from './refetch.ts';
import {
  type InnerPersister,
  isServer,
  instanceBehind,
  ownFallback,
  ownPolicy,
  registerPersister,
} from '../instance.ts';
import type { AnyPersister, SteadyPersister } from '../steadfetch.ts';
import { warnIfUnlinked } from '../misuse.ts';

/** The dependencies of the persister. */
export interface PersisterContext extends LoopContext {
  readonly ledger: FailureLedger;
  /** The record of each query. */
  readonly byQuery: QueryRecords;
  readonly pauseBefore: Admissions['pauseBefore'];
  /** Writes that wait. They are sent before a refetch, which would otherwise show the state before them. */
  readonly waitingWrites: WaitingWrites;
  readonly connectivity: FetchContext['connectivity'];
  readonly lifecycle: Lifecycle;
}

/** Makes an operation of every query fetch. The operation begins here, and the error of a failed attempt leads back to it. */
export function createPersister(shared: PersisterContext, inner?: InnerPersister): SteadyPersister {
  const { byQuery, waitingWrites } = shared;
  const persister = <T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    context: QueryFunctionContext<K>,
    query: Query,
  ): Promise<T> => {
    const record = byQuery.of(query);
    // A query that was disabled meanwhile is retried no more, unless React Query decides that alone.
    if (
      record.isItsFetch(query) &&
      record.isDisabled(query) &&
      instanceBehind(query.options.retry)
    ) {
      void query.cancel({ revert: true });
      return Promise.reject(record.operation?.errors.lastError);
    }
    const begun = read(shared, record, inner, queryFn, context, query);
    const { operation } = record;
    if (!operation) return begun;
    const mayBeBehind =
      query.state.data !== undefined && (waitingWrites.isAny() || isKeptBack(operation));
    const again = (): Promise<T> => read(shared, record, inner, queryFn, context, query);
    return begun.then((data) =>
      mayBeBehind || operation.isSplit ? readAgain(shared, query, operation, data, again) : data,
    );
  };
  return registerPersister(persister as AnyPersister as SteadyPersister);
}

/** Runs one attempt. It is no async function: most of the cost of an attempt is its garbage. */
function read<T, K extends QueryKey>(
  shared: PersisterContext,
  record: QueryRecord,
  inner: InnerPersister | undefined,
  queryFn: QueryFunction<T, K>,
  context: QueryFunctionContext<K>,
  query: Query,
): Promise<T> {
  const client = record.meet(context.client);
  // React Query has read the signal of an infinite query already.
  const { value: known } = Object.getOwnPropertyDescriptor(context, 'signal') ?? {};
  const isInfinite = known instanceof AbortSignal;
  const operation = nextAttempt(shared, record, query, client, isInfinite);
  operation.attend(new QueryOwner(client, query, shared.lifecycle, !inner));
  const link = new Link(operation, shared.signals, record);
  const linked = new Proxy<typeof context>(context, link);
  if (isInfinite) shared.signals.set(known, operation);
  // Called before React Query calls `retryDelay` and `retry`.
  const onFail = (error: unknown): void => {
    inDevelopment(() => warnIfUnlinked(shared.operations, query, operation, error, !!link.isRead));
    recordFailure(shared, query, operation, error);
  };
  const waitForTurn = (): Promise<void> | undefined =>
    isKeptBack(operation) || isBehind(shared, query, operation)
      ? untilItsTurn(shared, query, operation)
      : undefined;
  const [run, passed] = inner
    ? inner(queryFn, linked, query, operation, waitForTurn)
    : [queryFn, [linked] as const];
  const send = (): Promise<T> => {
    // In the same turn: StrictMode unmounts the first component before it mounts the next one.
    const begun = shared.operations.run<T, readonly never[]>(operation, run, passed as never[], {
      onFail,
    });
    // React Query emits no event when a retry starts.
    if (operation.attempt > 1) shared.byQuery.changes.emit(query);
    return begun;
  };
  // The app's own persister may restore stored data while the origin is down: only its request waits.
  const waiting = inner ? undefined : waitForTurn();
  const begun = waiting
    ? waiting.then(send, (error: unknown) => {
        operation.route.returnPermit();
        onFail(error);
        throw error;
      })
    : send();
  // For hydrated data the target is known only now. A request that was sent may pause others, but is not paused itself.
  const isWaiting = !inner && query.state.data !== undefined && !operation.effects.wasSent();
  if (isWaiting && isKeptBack(operation)) shared.lifecycle.pauses.showKnown(query, operation);
  const fallback = ownFallback(query.options);
  if (!fallback || record.isProbe) return begun;
  return begun.catch((error: unknown) => {
    if (operation.phase.kind === 'ended') throw error;
    const { given, replace } = codeOf<FallbackCode>(fallback);
    return replace(shared, given, query, operation, error, client);
  });
}

/**
 * Records a failed attempt. If another client sent its request and got no answer, connectivity does not know of that
 * failure yet. Without it, React Query would retry again and again while the device is offline.
 */
function recordFailure(
  { clock, ledger, lifecycle, connectivity }: PersisterContext,
  query: Query,
  operation: Operation,
  error: unknown,
): void {
  const nowMs = clock.now();
  if (operation.phase.kind !== 'ended') {
    ledger.add(operation, error, nowMs);
    lifecycle.pauses.recordFailure(query, operation, nowMs);
  }
  const { operation: sender, failure } = reportOf(error, nowMs);
  const isCertain = failure.kind === 'network' || failure.kind === 'timeout';
  if (!sender && (isCertain || failure.kind === 'error'))
    connectivity.recordNoAnswer(nowMs, '', () => {}, isCertain);
}

/** Whether the attempt would be paused before it is sent. */
function isKeptBack({ route: { at }, owner: { mayBeOffline } }: Operation): boolean {
  if (!at) return false;
  const { endpoint, resource, limitScope, risk, isOnce } = at;
  return !at.admission.isOpen({ endpoint, resource, limitScope, risk, isOnce, mayBeOffline });
}

/** Whether a write that waits must be sent first. The data on screen may show its result already. */
function isBehind(
  { waitingWrites }: PersisterContext,
  { state }: Query,
  operation: Operation,
): boolean {
  return state.data !== undefined && waitingWrites.isAheadOf(operation);
}

/**
 * Reads data again that were read before a write that waits, because a probe may overtake that write. Or whose parts are of
 * two times: a queryFn that makes do with what is answered would leave out the part that has failed as the probe, and
 * nothing would fetch that again.
 */
async function readAgain<T>(
  { byQuery, waitingWrites }: PersisterContext,
  query: Query,
  operation: Operation,
  data: T,
  again: () => Promise<T>,
): Promise<T> {
  if (!operation.isSplit) {
    if (!waitingWrites.isAheadOf(operation)) return data;
    if (!(await waitingWrites.letGoFirst(operation))) return data;
  }
  const isIts = byQuery.get(query) === operation && query.state.fetchStatus !== 'idle';
  if (!isIts) return data;
  // React Query's function for all pages would continue behind the last page that it has read, so a new fetch begins.
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
  // The operation was cancelled meanwhile.
  if (operation.phase.kind === 'ended') throw operation.errors.lastError;
  // The instance was disposed of.
  if (!isSent) throw toClientError(operation.errors.abortUnsent(undefined, {}), operation.route.at);
}

/** The operation whose next attempt begins. A new fetch makes a new operation. */
function nextAttempt(
  { lifecycle, operations }: PersisterContext,
  record: QueryRecord,
  query: Query,
  client: QueryClient,
  isInfinite: boolean,
): Operation {
  const before = record.operation;
  if (before && record.isItsFetch(query)) {
    before.next();
    return before;
  }
  lifecycle.meet(client);
  const { fetchFailureCount, fetchFailureReason } = query.state;
  // A fetch that the server has begun fails once before the persister is called.
  const begun = fetchFailureCount > 0 ? operationOf(reportOf(fetchFailureReason, 0)) : undefined;
  if (begun?.attempt === fetchFailureCount) {
    begun.next();
    record.begin(begun, query);
    return begun;
  }
  const known = before ?? begun;
  known?.end('superseded');
  const policy = ownPolicy(query.options);
  const operation = operations.begin(
    'query',
    {
      policy,
      attempt: fetchFailureCount + 1,
      // The same target as before: so the attempt can be paused before its queryFn runs.
      at: known?.route.at,
      isUrged: known?.isUrged,
      isWish: !known?.isUrged && isWish(query, known),
      // A retry continues at the page that has failed.
      isResumed: isInfinite,
      within: operations.current?.ref.id,
      endsWithOwner: !isServer() && !instanceBehind(query.options.retry),
    },
    query.queryKey,
  );
  record.begin(operation, query);
  return operation;
}

/**
 * Links the signal to the operation when the queryFn reads it. We must not read it ourselves, because that makes React
 * Query cancel the query on unmount.
 */
class Link {
  readonly operation: Operation;
  /** In development. */
  isRead: boolean | undefined;
  readonly #signals: Signals;
  readonly #record: QueryRecord;
  constructor(operation: Operation, signals: Signals, record: QueryRecord) {
    this.operation = operation;
    this.#signals = signals;
    this.#record = record;
  }
  get(context: { readonly signal: AbortSignal }, key: PropertyKey): unknown {
    if (key === 'client') return this.#record.takeClient();
    if (key !== 'signal') return Reflect.get(context, key);
    const { signal } = context;
    inDevelopment(() => (this.isRead = true));
    this.#signals.set(signal, this.operation);
    return signal;
  }
}
