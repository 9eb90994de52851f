import type { Query, QueryClient } from '@tanstack/react-query';
import { resolveFallback } from '../fetch/fallback.ts';
import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Operations } from '../fetch/operations.ts';
import { headersLimit } from '../fetch/time-limit.ts';
import type { Clock } from '../lib/clock.ts';
import { stopWatch, watchRecovery } from './when-back.ts';

/** The failure that a query shows a fallback for. */
interface ShownFallback {
  readonly error: unknown;
  /** The last data that was none. */
  readonly lastData: unknown;
  /** Which one of its data it is, counted as React Query does. */
  readonly count: number;
}

const shown = new WeakMap<Query, ShownFallback>();

/** What a fallback of a query stands on. */
interface FallbackSource {
  readonly clock: Clock;
  readonly operations: Operations;
  readonly byQuery: WeakMap<Query, LiveOperation>;
}

/** What a query shows a fallback for right now; undefined when its data are its own. */
export function fallbackOf(query: Query | undefined): ShownFallback | undefined {
  const note = query && shown.get(query);
  return note?.count === query?.state.dataUpdateCount ? note : undefined;
}

/**
 * What to show in the place of a failure; undefined when there is nothing. React Query takes it for
 * the data of the query: so it is marked as stale at once, and fetched again when its origin is back.
 */
export async function fallBack(
  { clock, operations, byQuery }: FallbackSource,
  fallback: unknown,
  query: Query,
  live: LiveOperation,
  error: unknown,
  client: QueryClient,
): Promise<unknown> {
  const before = fallbackOf(query);
  const lastData = before ? before.lastData : query.state.data;
  const limitMs = headersLimit(operations.policyOf(live, {}).timeout);
  const data = await resolveFallback(fallback, { error, lastData }, clock, limitMs);
  // A newer fetch, or a cancel, has come in between: this is no data of the query's.
  const isWanted = byQuery.get(query) === live && query.state.fetchStatus !== 'idle';
  if (data === undefined || !isWanted) return undefined;
  const note = { error, lastData, count: query.state.dataUpdateCount + 1 };
  shown.set(query, note);
  const stop = client.getQueryCache().subscribe((event) => {
    if (event.query !== query || event.type !== 'updated') return;
    stop();
    if (fallbackOf(query) === note) query.invalidate();
  });
  refetchWhenBack(query, live, note);
  return data;
}

/** Where its endpoint was down, the real thing is fetched as soon as it is not. */
function refetchWhenBack(query: Query, live: LiveOperation, { count }: ShownFallback): void {
  const { gate, sent } = live;
  stopWatch(query);
  if (!gate || !sent || !gate.isDown(sent.endpoint)) return;
  watchRecovery(query, live, (watched) => {
    const isShown = fallbackOf(watched)?.count === count;
    if (isShown && watched.isActive()) void watched.fetch().catch(() => {});
  });
}
