import { focusManager, notifyManager, type Query, QueryClient } from '@tanstack/react-query';
import { reportOf } from '../../operation/error-info.ts';
import type { Operation } from '../../operation/operation.ts';
import { between, type Clock, type Random } from '../../lib/clock.ts';
import { type Alarm, createAlarm, type SleepDetector, startAlarm } from '../../lib/timer.ts';
import { isUnavailable } from '../../policy/outcome.ts';
import { isServer } from '../instance.ts';
import type { QueryRecords } from './records.ts';

/**
 * Replaces the fetch under way by a new one, in the same turn. The query is never idle in between, and the promise of the
 * old fetch settles with the result of the new one.
 */
export function replaceFetch(
  query: Query,
  overrides?: Partial<Query['options']>,
  initialPromise?: Promise<unknown>,
): void {
  const { options } = query;
  const meta = metaOf(query);
  void query.cancel({ silent: true });
  query
    .fetch(overrides && { ...options, ...overrides }, {
      ...meta,
      ...(initialPromise && { initialPromise }),
    })
    .catch(() => {});
  if (overrides) query.setOptions(options);
}

/**
 * The meta data for a new fetch. Without them a fetchNextPage becomes a fetch of page 0. They are copied, because React
 * Query takes the same object for the same fetch, and continues to count its failures.
 */
const metaOf = ({ state: { fetchMeta } }: Query): Parameters<Query['fetch']>[1] =>
  fetchMeta ? { meta: { ...fetchMeta } } : {};

/**
 * Ends the fetch of a query, and its operation, with this error. React Query's own cancel would leave a query without
 * data pending and idle: then nothing fetches it again or, if it is suspended, it is fetched again at once.
 */
export function endFetchWith(
  query: Query,
  operation: Operation,
  error: unknown,
  nowMs: number,
): void {
  operation.cancel(error, reportOf(error, nowMs));
  endFetchAs(query, Promise.reject(error));
}

/** Ends the fetch of a query with the result of this promise. An idle query begins a fetch that ends so. */
function endFetchAs(query: Query, result: Promise<unknown>): void {
  const overrides = { retry: false, retryDelay: 0, networkMode: 'always' } as const;
  replaceFetch(query, overrides, result);
}

/** The dependencies of fetching again. */
export interface RefetchContext {
  readonly clock: Clock;
  readonly random: Random;
  /** The record of each query. */
  readonly byQuery: QueryRecords;
}

/** A failed query is not fetched again after a rate limit that is longer than this. */
const maxLimitMs = 300_000;
/** Queries that failed in an outage are spread over this time after it. */
const spreadMs = 1000;

/**
 * Calls `onBack` when the endpoint of a failed query is up again, unless the watch of its record ends before. While a
 * user sees the failure, the query itself is fetched again now and then as the probe, because no other attempt may be
 * waiting that could probe. A probe that fails changes nothing, so an app reports each outage once. The watch holds
 * only weak references, because the client may be dropped.
 */
export function watchRecovery(
  query: Query,
  operation: Operation,
  byQuery: QueryRecords,
  isLeft: (query: Query) => boolean,
  onBack: (query: Query) => void,
): void {
  const record = byQuery.of(query);
  record.endWatch();
  const { errors, route } = operation;
  // Without an admission it has sent no request of ours. On a server no user waits, and queries end with their page.
  const down = route.down();
  if (!down || isServer()) return;
  const { admission } = down;
  const isUnreached = errors.decision?.reason !== 'cancelled' && isOfOutage(errors.lastError);
  const reference = new WeakRef(query);
  const left = (): Query | undefined => {
    const watched = reference.deref();
    return watched && isLeft(watched) ? watched : undefined;
  };
  const stop = admission.watch({
    place: down,
    awaitedUntil() {
      const { whenDown, maxPauseMs } = operation.policyOf(down);
      const isAwaited = whenDown === 'pause' && left()?.state.data === undefined;
      return isAwaited ? operation.ref.startedAt + maxPauseMs : 0;
    },
    isSeen: () => isUnreached && focusManager.isFocused() && !!left()?.isActive(),
    probe() {
      const watched = left();
      const before = watched && byQuery.get(watched);
      if (!before) return;
      void probeBeside(watched, before, byQuery, isLeft, () =>
        watchRecovery(watched, before, byQuery, isLeft, onBack),
      );
    },
    onBack() {
      const watched = left();
      if (watched) onBack(watched);
    },
  });
  record.watch(stop);
}

/**
 * Fetches a copy of a query once. The query gets the result if there are data, or a new kind of failure. If it fails as
 * before, the query stays as it is, and `onSame` is called. A fetch of the query itself would have to be cancelled then,
 * and callers that have joined it would get the cancellation as their answer. If the queryFn has written to the query
 * meanwhile, as that of `streamedQuery` does, the query ends like the probe.
 */
async function probeBeside(
  query: Query,
  before: Operation,
  byQuery: QueryRecords,
  isLeft: (query: Query) => boolean,
  onSame: () => void,
): Promise<void> {
  const record = byQuery.of(query);
  const { state } = query;
  const probe = openBeside(query, byQuery, before);
  let isWanted = true;
  record.watch(() => {
    isWanted = false;
    void probe.cancel({ silent: true });
  });
  const result = fetchOnce(probe);
  const [ended] = await Promise.allSettled([result]);
  const isFailed = ended.status === 'rejected';
  const operation = byQuery.get(probe) ?? before;
  const isSame = isFailed && !!operation.route.down() && isOfOutage(ended.reason);
  if (isFailed) operation.end('failed');
  if (!isWanted || operation.isLeft) return;
  const { hasClient } = byQuery.of(probe);
  const isWritten = hasClient && query.state !== state && record.operation === before;
  if (!isWritten) {
    if (!isLeft(query)) return;
    if (isSame) return onSame();
    if (isFailed && !query.isActive()) return;
  }
  record.begin(operation, query);
  showingFailure(query, () => endFetchAs(query, result));
}

/** A copy of this query in a client of its own, which no component and no listener of the app sees. */
function openBeside(query: Query, byQuery: QueryRecords, before: Operation): Query {
  const { options, state, queryKey } = query;
  const client = new QueryClient();
  const own = { ...options, queryKey, gcTime: Infinity };
  const beside = client.getQueryCache().build(client, own, state);
  before.urge();
  byQuery.of(beside).standFor(beside, byQuery.of(query), before);
  return beside;
}

/** Fetches a query without a retry. `retry: false` would look like an option of the app's own. */
function fetchOnce(query: Query): Promise<unknown> {
  const { options } = query;
  const fetching = query.fetch({ ...options, retry: () => false }, metaOf(query));
  query.setOptions(options);
  return fetching;
}

/** Whether the failure is that of an outage: not sent, or no answer of the server itself. A plain 500 is none. */
export function isOfOutage(error: unknown): boolean {
  const { failure, decision } = reportOf(error, 0);
  if (decision?.reason === 'paused-too-long') return true;
  if (failure.kind === 'http') return isUnavailable(failure.status);
  return failure.kind === 'network' || failure.kind === 'timeout';
}

/** Fetches a query again that a component shows, if nothing has changed it since. Only its next page, if that had failed. */
export function refetch(query: Query): void {
  if (query.isActive())
    showingFailure(query, () => void query.fetch(undefined, metaOf(query)).catch(() => {}));
}

/**
 * Fetches a query that keeps showing its failure until there are data. React Query would set a query without data to
 * `pending` again, although no user has asked for this fetch: a component that shows its spinner only until `isFetched`
 * would then read data that are not there.
 */
function showingFailure(query: Query, fetch: () => void): void {
  const { status, error } = query.state;
  notifyManager.batch(() => {
    fetch();
    if (status === 'error' && query.state.status === 'pending') query.setState({ status, error });
  });
}

/**
 * Fetches a query again, once, if it failed while its endpoint was down or rate-limited, and is still on screen when that
 * ends. React Query does the same when the network is back.
 */
export function refetchWhenBack(
  query: Query,
  operation: Operation,
  { clock, random, byQuery }: RefetchContext,
): void {
  const record = byQuery.of(query);
  record.endWatch();
  const { at } = operation.route;
  // A query that was cancelled before any attempt failed stays as the user left it.
  if (!at || operation.errors.failedAt === undefined) return;
  if (operation.policyOf(at).whenBack === 'leave') return;
  const own = new WeakRef(operation);
  const isFailed = (failed: Query): boolean =>
    byQuery.get(failed) === own.deref() &&
    failed.state.status === 'error' &&
    failed.state.fetchStatus === 'idle';
  // A weak reference, because the client may be dropped; and a timer that keeps no process alive.
  const refetchSoon = (failed: Query, afterMs = 0): Alarm => {
    const reference = new WeakRef(failed);
    return startAlarm(clock, afterMs + between(random, 0, spreadMs), () => {
      const waiting = reference.deref();
      if (!waiting || !isFailed(waiting)) return;
      refetch(waiting);
      byQuery.of(waiting).refetched = byQuery.get(waiting);
    });
  };
  const limitedMs = at.admission.origin.limits.until(at) - clock.now();
  if (operation.route.down())
    watchRecovery(query, operation, byQuery, isFailed, (failed) => void refetchSoon(failed));
  else if (
    limitedMs > 0 &&
    limitedMs <= maxLimitMs &&
    record.refetched !== operation &&
    !isServer()
  ) {
    const setAlarm = refetchSoon(query, limitedMs);
    record.watch(() => setAlarm(Infinity));
  }
}

/** After a sleep, overdue timers have fired within this time. */
const overdueMs = 1000;

/** Retries the queries whose retry became due while the device slept. */
export interface OverdueRetries {
  /** A timer of React Query's retries a query at this time. */
  readonly expectRetry: (retryAt: number) => void;
  readonly dispose: () => void;
}

/**
 * Retries the queries whose retry became due while the device slept. On some systems timers stand still
 * during sleep, and React Query's timers are not ours.
 */
export function createOverdueRetries(
  clock: Clock,
  sleepDetector: SleepDetector,
  clients: () => readonly QueryClient[],
  operationOf: (query: Query) => Operation | undefined,
  /** Called when the tab becomes visible or hidden, because another tab may now be the one that probes. */
  onFocus: () => void,
): OverdueRetries {
  let retryUntil = 0;
  let isOwed = false;

  const retryOverdue = (): void => {
    const now = clock.now();
    // React Query retries nothing in a hidden tab.
    isOwed = !focusManager.isFocused();
    if (isOwed) return;
    const isOverdue = (query: Query): boolean => {
      const phase = operationOf(query)?.phase;
      return phase?.kind === 'waiting' && (phase.decision?.retryAt ?? now) < now;
    };
    const filter = { fetchStatus: 'fetching', predicate: isOverdue } as const;
    // React Query itself drops queries without observers.
    for (const query of clients().flatMap((client) => client.getQueryCache().findAll(filter)))
      if (query.getObserversCount() > 0) replaceFetch(query);
  };
  const retrySoon = (): void => {
    setAlarm(clock.now() + overdueMs);
  };
  const setAlarm = createAlarm(clock, retryOverdue);
  const watchSleepUntil = sleepDetector.watch(retrySoon);

  // A server does not sleep.
  const stop = isServer()
    ? undefined
    : focusManager.subscribe((isFocused) => {
        if (isFocused && isOwed) retrySoon();
        onFocus();
      });

  return {
    expectRetry(retryAt) {
      watchSleepUntil((retryUntil = Math.max(retryUntil, retryAt)));
    },
    dispose() {
      watchSleepUntil(0);
      setAlarm(Infinity);
      stop?.();
    },
  };
}
