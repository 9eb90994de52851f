import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { fallbackOf } from '../query/fallback.ts';
import { statusStoreOf } from '../query/status-store.ts';

/**
 * Whether what a query shows is a fallback, and for which failure; undefined when it shows its own
 * data.
 *
 * @throws Error when the QueryClient carries no default options of Steadfetch.
 *
 * @example
 * ```tsx
 * const fallback = useFallback(['prices']);
 * return fallback && <p>These prices may be out of date.</p>;
 * ```
 */
export function useFallback(queryKey: QueryKey): { readonly error: unknown } | undefined {
  const store = statusStoreOf(useQueryClient(), 'useFallback');
  const id = store.idOf({ queryKey });
  const subscribe = useCallback(
    (listener: () => void) => store.subscribe(id, listener),
    [store, id],
  );
  const getState = (): { readonly error: unknown } | undefined => fallbackOf(store.findQuery(id));
  return useSyncExternalStore(subscribe, getState, getState);
}
