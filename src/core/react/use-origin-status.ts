import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import type { Readable } from '../lib/store.ts';
import { originStatus, type OriginState, up } from '../origin/status.ts';
import { findInstance } from '../react-query/instance.ts';

/** The status without default options of Steadfetch on the QueryClient. */
const unknown: Readable<OriginState> = { getState: () => up, subscribe: () => () => {} };

/**
 * The health of an origin (`up`, `recovering`, `down`, `rate-limited`), when the next attempt is due, and how
 * many attempts wait for it. Without an origin: the worst health of all origins in use, and the total number
 * of waiting attempts. Renders only at transitions.
 *
 * @param origin - The origin, or any URL of it, such as 'https://api.example'.
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 *
 * @example
 * ```tsx
 * const { status, waiting } = useOriginStatus();
 * return status === 'down' && <p role="status">The server is down. {waiting} requests wait for it.</p>;
 * ```
 */
export function useOriginStatus(origin?: string, queryClient?: QueryClient): OriginState {
  const instance = findInstance(useQueryClient(queryClient), 'useOriginStatus');
  const { getState, subscribe } = useMemo(
    () => (instance ? originStatus(instance.origins, origin) : unknown),
    [instance, origin],
  );
  return useSyncExternalStore(subscribe, getState, () => up);
}
