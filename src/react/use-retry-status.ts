import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { controlsOf } from '../query/controls.ts';
import type { RetryControls } from '../query/query-controls.ts';
import type { RetryStatus } from '../query/retry-status.ts';
import { type MutationTarget, type StatusTarget, statusStoreOf } from '../query/status-store.ts';

/**
 * What is going on with a query or a mutation, and what the user can do about it. Works from any
 * component, also in a Suspense fallback; renders at transitions only.
 *
 * A mutation is that of one `useSteadyMutation` (its `target`), or the newest with a `mutationKey`:
 * one of `mutationOptions`, or a plain one. Of a plain one, only a wait that our `retryDelay`
 * has given can be ended: not that of an app's own `retryDelay`.
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
export function useRetryStatus(target: MutationTarget): RetryStatus & RetryControls;
export function useRetryStatus(target: {
  readonly mutationKey: QueryKey;
}): RetryStatus & RetryControls;
export function useRetryStatus(target: StatusTarget): RetryStatus & RetryControls {
  const store = statusStoreOf(useQueryClient(), 'useRetryStatus');
  const id = store.idOf(target);
  const subscribe = useCallback(
    (listener: () => void) => store.subscribe(id, listener),
    [store, id],
  );
  const getState = (): RetryStatus => store.getState(id);
  const status = useSyncExternalStore(subscribe, getState, getState);
  const controls = useMemo(() => controlsOf(store, id), [store, id]);
  return useMemo(() => ({ ...status, ...controls }), [status, controls]);
}
