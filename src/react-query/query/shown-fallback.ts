import type { Query } from '@tanstack/react-query';

/** The failure that a query shows a fallback for. */
export interface ShownFallback {
  readonly error: unknown;
  /** The last data that was none. */
  readonly lastData: unknown;
  /** Which one of its data it is, counted as React Query does. */
  readonly count: number;
}

const shown = new WeakMap<Query, ShownFallback>();

/** From now on the query shows one. */
export function showFallback(query: Query, note: ShownFallback): void {
  shown.set(query, note);
}

/** What a query shows a fallback for right now; undefined when its data are its own. */
export function fallbackOf(query: Query | undefined): ShownFallback | undefined {
  const note = query && shown.get(query);
  return note?.count === query?.state.dataUpdateCount ? note : undefined;
}
