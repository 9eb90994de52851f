import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import { originStatus, type OriginState, up } from '../origin/status.ts';
import { instanceOf } from '../react-query/instance.ts';

/**
 * The health of an origin (`up`, `recovering`, `down`, `rate-limited`), when it is tried next, and how many
 * attempts wait for it. Without an origin: the worst health of all origins that requests have gone to, and
 * how many attempts wait in all. Renders at transitions only.
 *
 * @param origin - The origin, or any URL of it, such as 'https://api.example'.
 * @throws Error when the QueryClient carries no default options of Steadfetch.
 *
 * @example
 * ```tsx
 * const { status, waiting } = useOriginStatus();
 * return status === 'down' && <p role="status">The server is down. {waiting} requests wait for it.</p>;
 * ```
 */
export function useOriginStatus(origin?: string): OriginState {
  const client = useQueryClient();
  const { getState, subscribe } = useMemo(
    () => originStatus(instanceOf(client, 'useOriginStatus').origins, origin),
    [client, origin],
  );
  return useSyncExternalStore(subscribe, getState, () => up);
}
