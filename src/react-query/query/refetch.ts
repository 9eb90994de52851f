import { focusManager, type Query, type QueryClient } from '@tanstack/react-query';
import type { Operation } from '../../operation/operation.ts';
import { between, type Clock, type Random } from '../../lib/clock.ts';
import { createAlarm, type SleepDetector } from '../../lib/timer.ts';
import type { Slot } from '../../lib/slot.ts';
import { isServer } from '../instance.ts';

/**
 * Puts a new fetch in the place of the one under way, in the same turn: whoever awaits the old one
 * gets the result of the new one, and nobody sees the query idle in between.
 */
export function replaceFetch(
  query: Query,
  overrides?: Partial<Query['options']>,
  initialPromise?: Promise<never>,
): void {
  const { options } = query;
  const { fetchMeta } = query.state;
  void query.cancel({ silent: true });
  query
    .fetch(overrides && { ...options, ...overrides }, {
      // Without the meta a fetchNextPage becomes a fetch of page 0. Copied, because React Query
      // takes the same object for the same fetch, and would go on counting its failures.
      ...(fetchMeta && { meta: { ...fetchMeta } }),
      ...(initialPromise && { initialPromise }),
    })
    .catch(() => {});
  if (overrides) query.setOptions(options);
}

/** The parts of an instance that fetching again stands on. */
export interface RefetchContext {
  readonly clock: Clock;
  readonly random: Random;
  /** The newest operation of each query. */
  readonly byQuery: Slot<Query, Operation>;
}

/** What failed in an outage is fetched again within this time after it: not all at once. */
const spreadMs = 1000;

/** Ends the watch of each query. */
const watches = new WeakMap<Query, () => void>();

/** It is gone from its cache, or fetched anew: nothing is to be fetched again for it. */
export function stopWatch(query: Query): void {
  watches.get(query)?.();
  watches.delete(query);
}

/**
 * Where the endpoint of a query is down, calls `onBack` when it is up again, unless `stopWatch` has been
 * called before. What waits keeps neither the query nor what is known of its failure: its client may be
 * dropped.
 */
export function watchRecovery(
  query: Query,
  { route }: Operation,
  onBack: (query: Query) => void,
): void {
  stopWatch(query);
  // Without an admission it has sent nothing of ours. On a server nobody looks, and queries go with their page.
  const down = route.down();
  if (!down || isServer()) return;
  const { admission, sent } = down;
  const { endpoint } = sent;
  const reference = new WeakRef(query);
  const stop = admission.outcomes.onRecovery(() => {
    const watched = reference.deref();
    if (watched && admission.isDown(endpoint)) return;
    stop();
    if (watched) onBack(watched);
  });
  watches.set(query, stop);
}

/** Fetches a query again that somebody sees, for as long as it is as it was left. */
export function refetchIf(query: Query, isLeft: boolean): void {
  if (isLeft && query.isActive()) void query.fetch().catch(() => {});
}

/**
 * A query that fails while its endpoint is down, and is still on screen at the end of the outage,
 * is fetched again then, once, as React Query does when the network is back.
 */
export function refetchWhenBack(
  query: Query,
  operation: Operation,
  { clock, random, byQuery }: RefetchContext,
): void {
  stopWatch(query);
  // One that was cancelled before an attempt of it had failed stays as the user left it.
  const down = operation.errors.failedAt === undefined ? undefined : operation.route.down();
  if (!down || operation.policyOf(down.sent).whenBack === 'leave') return;
  const own = new WeakRef(operation);
  const isFailed = (failed: Query): boolean =>
    byQuery.get(failed) === own.deref() &&
    failed.state.status === 'error' &&
    failed.state.fetchStatus === 'idle';
  watchRecovery(query, operation, (failed) => {
    if (!isFailed(failed)) return;
    clock.setTimeout(() => refetchIf(failed, isFailed(failed)), between(random, 0, spreadMs));
  });
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
    // What nobody sees is React Query's to give up.
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
