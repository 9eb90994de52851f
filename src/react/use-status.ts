import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { RetryControls, RetryStatus } from '../query/retry-status.ts';
import type { StatusStore } from '../query/status-store.ts';

/** The status with this id, and what the user can do about it. */
export function useStatus<T extends object>(
  store: StatusStore<T>,
  id: string,
  controlsOf: (store: StatusStore<T>, id: string) => RetryControls,
): RetryStatus & RetryControls {
  const subscribe = useCallback(
    (listener: () => void) => store.subscribe(id, listener),
    [store, id],
  );
  const getState = (): RetryStatus => store.getState(id);
  const status = useSyncExternalStore(subscribe, getState, getState);
  const controls = useMemo(() => controlsOf(store, id), [store, id, controlsOf]);
  return useMemo(() => ({ ...status, ...controls }), [status, controls]);
}
