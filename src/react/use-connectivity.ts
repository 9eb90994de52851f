import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import type { Connectivity, ConnectivityState } from '../connectivity/connectivity.ts';
import { instanceOf } from '../react-query/instance.ts';

/** The state of the network, with a control. */
export interface ConnectivityControls extends ConnectivityState {
  /** Checks the network now. A no-op while a check is running. */
  readonly checkNow: () => void;
}

/** A server does not know the user's network. */
const onServer: ConnectivityState = { status: 'online', since: 0, nextCheckAt: undefined };

/**
 * Whether there is a network, as shown by requests and checks: `online`; `suspect`, while there is evidence
 * against it and it is being checked; or `offline`. Also since when, and when the next check is due. Renders
 * only at transitions.
 *
 * @throws Error if the QueryClient has no default options of Steadfetch, or those of an instance without
 * `connectivity`.
 *
 * @example
 * ```tsx
 * const { status, checkNow } = useConnectivity();
 * return status === 'offline' && <p role="status">You are offline. <button onClick={checkNow}>Try now</button></p>;
 * ```
 */
export function useConnectivity(): ConnectivityControls {
  const client = useQueryClient();
  const { getState, subscribe, checkNow } = useMemo(() => connectivityOf(client), [client]);
  const state = useSyncExternalStore(subscribe, getState, () => onServer);
  return useMemo(() => ({ ...state, checkNow }), [state, checkNow]);
}

function connectivityOf(client: QueryClient): Connectivity {
  const { connectivity } = instanceOf(client, 'useConnectivity');
  if (connectivity) return connectivity;
  const remedy =
    process.env.NODE_ENV === 'production'
      ? ''
      : ' Create it with createSteadfetch({ connectivity: watchConnectivity() }).';
  throw new Error(`useConnectivity: this instance does not watch the network.${remedy}`);
}
