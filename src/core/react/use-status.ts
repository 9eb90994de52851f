import {
  type QueryClient,
  type MutationKey,
  type QueryKey,
  type UseQueryOptions,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { mutationControlsOf, queryControlsOf } from '../react-query/controls.ts';
import {
  mutationIdOf,
  mutationStatusesOf,
  type MutationStatusTarget,
  type MutationTarget,
} from '../react-query/status/mutation.ts';
import { reject, requireKey } from '../lib/input/check.ts';
import { queryStatusesOf } from '../react-query/status/query.ts';
import { idle, type RetryControls, type RetryState } from '../react-query/status/status.ts';
import type { StatusStore } from '../react-query/status/store.ts';
import { inDevelopment } from '../lib/development.ts';

/**
 * The status of a query, and its controls. Works in any component, including a Suspense fallback. Renders
 * only at transitions. For mutations, use `useMutationStatus`. In development, a key that no query has causes
 * a warning. The query's full options are accepted too, and required if they have a `queryKeyHashFn`.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 * @throws TypeError without a key.
 *
 * @example
 * ```tsx
 * const { status, retryAt, retryNow } = useRetryStatus({ queryKey: ['products'] });
 * const seconds = useCountdown(retryAt);
 * return status === 'waiting' && <button onClick={retryNow}>Retry now ({seconds} s)</button>;
 * ```
 */
export function useRetryStatus(
  options: {
    readonly queryKey: QueryKey;
    readonly queryKeyHashFn?: ((queryKey: never) => string) | undefined;
  },
  queryClient?: QueryClient,
): RetryState & RetryControls {
  const client = useQueryClient(queryClient);
  inDevelopment(() => {
    const { queryKey } = Object(options) as Partial<typeof options>;
    requireKey('useRetryStatus', 'queryKey', queryKey, 'the key of a query: { queryKey: [...] }');
  });
  const { queryHash } = client.defaultQueryOptions(options as UseQueryOptions);
  return useStatus(queryStatusesOf(client, 'useRetryStatus'), queryHash, queryControlsOf);
}

/**
 * The status of a mutation, and its controls: of one `useSteadyMutation` or form (its `target`), or of the
 * newest mutation with a `mutationKey`. Renders only at transitions. The controls have no effect on a plain
 * mutation. In development, a key that no mutation has, but some nearly have, causes a warning.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 *
 * @example
 * ```tsx
 * const { mutate, target } = useSteadyMutation(placeOrder);
 * const { status, cancel } = useMutationStatus(target);
 * return status === 'waiting' && <button onClick={cancel}>Cancel</button>;
 * ```
 */
export function useMutationStatus(
  target: { readonly mutationKey: MutationKey },
  queryClient?: QueryClient,
): RetryState & RetryControls;
export function useMutationStatus(
  target: MutationTarget,
  queryClient?: QueryClient,
): RetryState & RetryControls;
export function useMutationStatus(
  target: MutationStatusTarget,
  queryClient?: QueryClient,
): RetryState & RetryControls {
  const client = useQueryClient(queryClient);
  inDevelopment(() => {
    const { mutationKey, mutation } = Object(target) as Partial<MutationStatusTarget>;
    if (!Array.isArray(mutationKey) && typeof mutation !== 'string')
      reject('useMutationStatus', 'target', target, 'that of a hook, or { mutationKey: [...] }');
  });
  const store = mutationStatusesOf(client, 'useMutationStatus');
  return useStatus(store, mutationIdOf(target), mutationControlsOf);
}

/** The status with this id, and its controls. */
function useStatus<T extends object>(
  store: StatusStore<T>,
  id: string,
  controlsOf: (store: StatusStore<T>, id: string) => RetryControls,
): RetryState & RetryControls {
  const subscribe = useCallback(
    (listener: () => void) => store.subscribe(id, listener),
    [store, id],
  );
  const getState = (): RetryState => store.getState(id);
  // The server's own operations are not those of the page that it renders.
  const status = useSyncExternalStore(subscribe, getState, () => idle);
  const controls = useMemo(() => controlsOf(store, id), [store, id, controlsOf]);
  return useMemo(() => ({ ...status, ...controls }), [status, controls]);
}
