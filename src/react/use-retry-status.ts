import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { cancel, retryNow, type RetryControls } from '../query/query-controls.ts';
import type { RetryStatus } from '../query/retry-status.ts';
import { type StatusTarget, statusStoreOf } from '../query/status-store.ts';

/**
 * What is going on with a query, and what the person can do about it. Works from any component,
 * also in a Suspense fallback; renders at transitions only.
 *
 * For a plain mutation (the newest with this `mutationKey`) it tells the status. React Query lets
 * nobody end a plain mutation's wait, so there is nothing to press.
 *
 * @throws Error when the QueryClient carries no default options of Steadfetch.
 *
 * @example
 * ```tsx
 * const { status, retryAt, retryNow } = useRetryStatus({ queryKey: ['products'] });
 * const seconds = useCountdown(retryAt);
 * return status === 'waiting' && <button onClick={retryNow}>Retry now ({seconds} s)</button>;
 * ```
 */
export function useRetryStatus(target: {
  readonly queryKey: QueryKey;
}): RetryStatus & RetryControls;
export function useRetryStatus(target: { readonly mutationKey: QueryKey }): RetryStatus;
export function useRetryStatus(target: StatusTarget): RetryStatus & Partial<RetryControls> {
  const store = statusStoreOf(useQueryClient(), 'useRetryStatus');
  const id = store.idOf(target);
  const subscribe = useCallback(
    (listener: () => void) => store.subscribe(id, listener),
    [store, id],
  );
  const getState = (): RetryStatus => store.getState(id);
  const status = useSyncExternalStore(subscribe, getState, getState);
  const controls = useMemo(() => {
    if (!id.startsWith('q')) return {};
    const withQuery = (act: typeof retryNow) => () => {
      const query = store.findQuery(id);
      if (query) act(query, store.instance);
    };
    return { retryNow: withQuery(retryNow), cancel: withQuery(cancel) };
  }, [store, id]);
  return useMemo(() => ({ ...status, ...controls }), [status, controls]);
}
