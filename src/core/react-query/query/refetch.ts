import { focusManager, notifyManager, type Query, QueryClient } from '@tanstack/react-query';
import { reportOf } from '../../operation/error-info.ts';
import type { Operation } from '../../operation/operation.ts';
import { between, type Clock, type Random } from '../../lib/clock.ts';
import { type Alarm, createAlarm, type SleepDetector, startAlarm } from '../../lib/timer.ts';
import { isUnavailable } from '../../policy/outcome.ts';
import { isServer } from '../instance.ts';
import type { QueryRecords } from './records.ts';

/**
 * Replaces the fetch under way by a new one, in the same turn. The promise of the old one settles with the result of the
 * new one, and the query is never idle in between.
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
 * The meta data that a new fetch continues with: without them a fetchNextPage becomes a fetch of page 0. Copied, because
 * React Query takes the same object for the same fetch, and would go on counting its failures.
 */
const metaOf = ({ state: { fetchMeta } }: Query): Parameters<Query['fetch']>[1] =>
  fetchMeta ? { meta: { ...fetchMeta } } : {};

/**
 * Ends the fetch of a query, and its operation, with this error. React Query's own cancel would leave a query
 * without data pending and idle: nothing fetches it again, or, where it is suspended, something does at once.
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

/** Ends the fetch of a query, or one that begins here, as this promise ends. */
function endFetchAs(query: Query, result: Promise<unknown>): void {
  const overrides = { retry: false, retryDelay: 0, networkMode: 'always' } as const;
  replaceFetch(query, overrides, result);
}

/** The parts of an instance that fetching again stands on. */
export interface RefetchContext {
  readonly clock: Clock;
  readonly random: Random;
  /** The record of each query. */
  readonly byQuery: QueryRecords;
}

/** The end of a longer rate limit is not waited for by what has failed. */
const maxLimitMs = 300_000;
/** Queries that failed in an outage are spread over this time after it. */
const spreadMs = 1000;

/**
 * Where the endpoint of a query is down, calls `onBack` when it is up again, unless the watch of its record
 * has ended before. While it is as it was left and a user sees it, it is fetched again now and then, once: no
 * attempt may wait there any more that could be the probe. A probe that fails leaves it as it was, so an app that
 * reports failures reports each outage once. What waits keeps neither the query nor what is known of its failure:
 * its client may be dropped.
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
  // Without an admission it has sent nothing of ours. On a server no user waits for it, and queries end with their page.
  const down = route.down();
  if (!down || isServer()) return;
  const { admission, sent } = down;
  const isUnreached = errors.decision?.reason !== 'cancelled' && isOfOutage(errors.lastError);
  const reference = new WeakRef(query);
  const left = (): Query | undefined => {
    const watched = reference.deref();
    return watched && isLeft(watched) ? watched : undefined;
  };
  const stop = admission.watch({
    place: sent,
    awaitedUntil() {
      const { whenDown, maxPauseMs } = operation.policyOf(sent);
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
 * Fetches a query once, beside it, and ends its fetch with what that shows: data, or a failure that is news. Otherwise
 * it stays as it is, and calls `onSame`. A fetch of its own would have to be cancelled then, which those that have
 * joined it take for their answer.
 */
async function probeBeside(
  query: Query,
  before: Operation,
  byQuery: QueryRecords,
  isLeft: (query: Query) => boolean,
  onSame: () => void,
): Promise<void> {
  const record = byQuery.of(query);
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
  if (!isWanted || !isLeft(query) || operation.isLeft) return;
  if (isSame) return onSame();
  if (isFailed && !query.isActive()) return;
  record.begin(operation, query);
  showingFailure(query, () => endFetchAs(query, result));
}

/** A query like this one, in a client of its own, so that no component and no listener of the app sees it. */
function openBeside(query: Query, byQuery: QueryRecords, before: Operation): Query {
  const { options, state, queryKey } = query;
  const client = new QueryClient();
  const own = { ...options, queryKey, gcTime: Infinity };
  const beside = client.getQueryCache().build(client, own, state);
  before.urge();
  byQuery.of(beside).standFor(beside, byQuery.of(query), before);
  return beside;
}

/** Fetches a query without a retry. Not with `retry: false`, which the app's own policy would be taken for. */
function fetchOnce(query: Query): Promise<unknown> {
  const { options } = query;
  const fetching = query.fetch({ ...options, retry: () => false }, metaOf(query));
  query.setOptions(options);
  return fetching;
}

/** It was not sent, or not answered by its server. What always answers 500 is not asked for ever. */
function isOfOutage(error: unknown): boolean {
  const { failure, decision } = reportOf(error, 0);
  if (decision?.reason === 'paused-too-long') return true;
  if (failure.kind === 'http') return isUnavailable(failure.status);
  return failure.kind === 'network' || failure.kind === 'timeout';
}

/** Fetches a query again that a component shows, for as long as it is as it was left: its next page, where that has failed. */
export function refetchIf(query: Query, isLeft: boolean): void {
  if (isLeft && query.isActive())
    showingFailure(query, () => void query.fetch(undefined, metaOf(query)).catch(() => {}));
}

/**
 * Fetches a query that goes on showing its failure until there are data. A user has not asked for that, and React
 * Query takes one without data for `pending` again: a component that shows a spinner only once, by `isFetched`,
 * reads data then that are not there.
 */
function showingFailure(query: Query, fetch: () => void): void {
  const { status, error } = query.state;
  notifyManager.batch(() => {
    fetch();
    if (status === 'error' && query.state.status === 'pending') query.setState({ status, error });
  });
}

/**
 * A query that fails while its endpoint is down or rate-limited, and is still on screen at the end of that,
 * is fetched again then, once, as React Query does when the network is back.
 */
export function refetchWhenBack(
  query: Query,
  operation: Operation,
  { clock, random, byQuery }: RefetchContext,
): void {
  const record = byQuery.of(query);
  record.endWatch();
  const { at } = operation.route;
  // One that was cancelled before an attempt of it had failed stays as the user left it.
  if (!at || operation.errors.failedAt === undefined) return;
  if (operation.policyOf(at.sent).whenBack === 'leave') return;
  const own = new WeakRef(operation);
  const isFailed = (failed: Query): boolean =>
    byQuery.get(failed) === own.deref() &&
    failed.state.status === 'error' &&
    failed.state.fetchStatus === 'idle';
  // It keeps neither the query, whose client may be dropped, nor a process.
  const refetchSoon = (failed: Query, afterMs = 0): Alarm => {
    const reference = new WeakRef(failed);
    return startAlarm(clock, afterMs + between(random, 0, spreadMs), () => {
      const waiting = reference.deref();
      if (waiting) refetchIf(waiting, isFailed(waiting));
    });
  };
  const limitedMs = at.admission.origin.limits.until(at.sent.limitScope) - clock.now();
  if (operation.route.down())
    watchRecovery(query, operation, byQuery, isFailed, (failed) => void refetchSoon(failed));
  else if (limitedMs > 0 && limitedMs <= maxLimitMs && !isServer()) {
    const setAlarm = refetchSoon(query, limitedMs);
    record.watch(() => setAlarm(Infinity));
  }
}

/** After a sleep, timers that are overdue have rung by then. */
const overdueMs = 1000;

/** Retries the queries whose retry became due while the device slept. */
export interface OverdueRetries {
  /** A query waits until then for its retry, by a timer of React Query's. */
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
  /** The tab is seen, or hidden: another one may be waited for. */
  onFocus: () => void,
): OverdueRetries {
  let retryUntil = 0;
  let isOwed = false;

  const retryOverdue = (): void => {
    const now = clock.now();
    // A query waits for its tab, too.
    isOwed = !focusManager.isFocused();
    if (isOwed) return;
    const isOverdue = (query: Query): boolean => {
      const phase = operationOf(query)?.phase;
      return phase?.kind === 'waiting' && (phase.decision?.retryAt ?? now) < now;
    };
    const filter = { fetchStatus: 'fetching', predicate: isOverdue } as const;
    // React Query itself gives up queries without observers.
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
