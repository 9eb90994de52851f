import { inDevelopment } from '../../lib/development.ts';
import { reporterOf, textOf } from '../../lib/input/callback.ts';
import type { Clock } from '../../lib/clock.ts';
import { withLimit } from '../../lib/timer.ts';
import type { Query, QueryClient } from '@tanstack/react-query';
import type { Operation } from '../../operation/operation.ts';
import { headersLimit } from '../../operation/time-limit.ts';
import { type MadeBy, code } from '../../lib/input/made-by.ts';
import type { Decision } from '../../policy/decide.ts';
import { instanceBehind } from '../instance.ts';
import type { FailureLedger } from './failure-ledger.ts';
import type { QueryRecords, ShownFallback } from './records.ts';
import { refetch, watchRecovery } from './refetch.ts';

/** The dependencies of a fallback. */
interface FallbackSource {
  readonly clock: Clock;
  readonly byQuery: QueryRecords;
  readonly ledger: FailureLedger;
}

/** The code of a fallback. */
export interface FallbackCode {
  readonly by: 'fallback';
  readonly given: unknown;
  readonly resolve: typeof resolveFallback;
  readonly replace: typeof replace;
}

type Awaitable<T> = T | Promise<T>;

/** The value of an option `fallback`, made by the function `fallback`. */
export interface Fallback<T = unknown> extends MadeBy<'fallback'> {
  readonly [code]: { readonly by: 'fallback'; readonly given: T | (() => T) };
}

/**
 * Replaces the failure of a query, or of `retry`, by a value, or by the result of a function of the failure, which may
 * be asynchronous. The failure stands if that is `undefined`, throws, rejects, or takes longer than `timeout`.
 *
 * @example
 * ```ts
 * useQuery({ queryKey, queryFn, ...steady.queryPolicy({ fallback: fallback(({ lastData }) => lastData) }) });
 * ```
 */
export function fallback<T>(
  make: (context: FallbackContext) => Awaitable<T | undefined>,
): Fallback<T>;
export function fallback<T>(value: T): Fallback<T>;
export function fallback(given: unknown): Fallback {
  const made: FallbackCode = { by: 'fallback', given, resolve: resolveFallback, replace };
  return { [code]: made };
}

/** Whether React Query retries after this failure: by our decision, or by the app's own `retry`, which is called once more. */
function isRetried(
  { options: { retry }, state: { fetchFailureCount } }: Query,
  { kind }: Decision,
  error: Error,
  maxRetries: number = 3,
): boolean {
  if (instanceBehind(retry)) return kind === 'retry';
  try {
    if (typeof retry === 'function') return retry(fetchFailureCount, error);
  } catch {
    // React Query will call it, too.
    return true;
  }
  return fetchFailureCount < maxRetries;
}

/**
 * Returns the data to show in place of a failure. React Query treats them as data of the query, so they are marked as
 * stale at once, and fetched again when the origin is back.
 *
 * @throws the failure, if another attempt follows, or there is nothing to show.
 */
async function replace(
  { clock, byQuery, ledger }: FallbackSource,
  given: unknown,
  query: Query,
  operation: Operation,
  error: unknown,
  client: QueryClient,
): Promise<never> {
  const decision = operation.fail(error, clock.now());
  if (isRetried(query, decision, error as Error, operation.policy?.maxRetries)) throw error;
  const before = fallbackOf(query, byQuery);
  const lastData = before ? before.lastData : query.state.data;
  const limitMs = headersLimit(operation.policyOf({}).timeout);
  const data = await resolveFallback(given, { error, lastData }, clock, limitMs);
  // A newer fetch or a cancel came in between.
  const isWanted = byQuery.get(query) === operation && query.state.fetchStatus !== 'idle';
  if (data === undefined || !isWanted) {
    // React Query asks only now, which may be long after the failure: the decision stands.
    ledger.add(operation, error, clock.now(), operation.errors.decision);
    throw error;
  }
  const made: ShownFallback = { error, lastData, count: query.state.dataUpdateCount + 1 };
  byQuery.of(query).show(made);
  const stop = client.getQueryCache().subscribe((event) => {
    if (event.query !== query || event.type !== 'updated') return;
    stop();
    made.shownAt = query.state.dataUpdatedAt;
    if (fallbackOf(query, byQuery) === made) query.invalidate();
  });
  // Real data are fetched as soon as the endpoint is up again.
  const { count } = made;
  const isShown = (one: Query): boolean => fallbackOf(one, byQuery)?.count === count;
  watchRecovery(query, operation, byQuery, isShown, (one) => {
    if (isShown(one)) refetch(one);
  });
  operation.end('failed');
  return data as never;
}

/** The fallback that a query shows now; undefined if its data are its own. */
export function fallbackOf(
  query: Query | undefined,
  byQuery: QueryRecords,
): ShownFallback | undefined {
  const made = query && byQuery.find(query)?.fallback;
  const { dataUpdateCount, dataUpdatedAt } = { ...query?.state };
  const isIt =
    made?.count === dataUpdateCount && (made?.shownAt ?? dataUpdatedAt) === dataUpdatedAt;
  return isIt ? made : undefined;
}

/** The argument of a fallback's function. */
export interface FallbackContext {
  /** The failure that the operation ended in. */
  readonly error: unknown;
  /** The last good data of the query; undefined when there is none, or no query. */
  readonly lastData: unknown;
}

/**
 * The value of a fallback for an operation that fails for good. Undefined, so that the failure stands, if its function
 * returns undefined, throws, rejects or has not settled within `limitMs`.
 */
async function resolveFallback(
  given: unknown,
  context: FallbackContext,
  clock: Clock,
  limitMs: number,
): Promise<unknown> {
  const late = {};
  const make = (): unknown =>
    typeof given === 'function' ? (given as (context: FallbackContext) => unknown)(context) : given;
  try {
    return await withLimit({ clock }, make, () => late, limitMs);
  } catch (mistake) {
    if (mistake === late) return undefined;
    const rule = inDevelopment(() => 'the failure stands');
    const what = inDevelopment(() => `threw ${textOf(mistake)}`) ?? '';
    reporterOf(given as object, 'fallback', rule)(what);
    return undefined;
  }
}
