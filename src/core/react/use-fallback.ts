import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { fallbackOf } from '../react-query/query/fallback.ts';
import { inDevelopment } from '../lib/development.ts';
import { requireKey } from '../lib/input/check.ts';
import { queryStatusesOf } from '../react-query/status/query.ts';

/**
 * The failure whose fallback a query shows; undefined while the query shows its own data.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 *
 * @example
 * ```tsx
 * const fallback = useFallback(['prices']);
 * return fallback && <p>These prices may be out of date.</p>;
 * ```
 */
export function useFallback(
  queryKey: QueryKey,
  queryClient?: QueryClient,
): { readonly error: unknown } | undefined {
  const client = useQueryClient(queryClient);
  inDevelopment(() =>
    requireKey('useFallback', 'its argument', queryKey, 'the key of a query: [...]'),
  );
  const store = queryStatusesOf(client, 'useFallback');
  const { queryHash: id } = client.defaultQueryOptions({ queryKey });
  const subscribe = useCallback(
    (listener: () => void) => store.subscribe(id, listener),
    [store, id],
  );
  const getState = (): { readonly error: unknown } | undefined => {
    const query = store.find(id);
    return store.instance && fallbackOf(query, store.instance.byQuery);
  };
  return useSyncExternalStore(subscribe, getState, () => undefined);
}
