import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import type { Connectivity, ConnectivityState } from '../connectivity/connectivity.ts';
import { inDevelopment } from '../lib/development.ts';
import { findInstance } from '../react-query/instance.ts';

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
 * Under a QueryClient without default options of Steadfetch it is `online`; in development a warning says so.
 *
 * @throws Error if the QueryClient has those of an instance without `connectivity`.
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

type Watched = Pick<Connectivity, 'getState' | 'subscribe' | 'checkNow'>;

const unwatched: Watched = {
  getState: () => onServer,
  subscribe: () => () => {},
  checkNow() {},
};

function connectivityOf(client: QueryClient): Watched {
  const instance = findInstance(client, 'useConnectivity');
  if (!instance) return unwatched;
  if (instance.connectivity) return instance.connectivity;
  let message = 'useConnectivity: this instance does not watch the network.';
  inDevelopment(() => {
    message += ' Create it with createSteadfetch({ connectivity: watchConnectivity() }).';
  });
  throw new Error(message);
}
