import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import type { Connectivity, ConnectivityState } from '../connectivity/connectivity.ts';
import { instanceOf } from '../query/registry.ts';

/** What is known, and a way to know more. */
export interface ConnectivityControls extends ConnectivityState {
  /** Looks for the network at once. Does nothing while that is under way. */
  readonly checkNow: () => void;
}

/** Nothing is known before there is a page. */
const onServer: ConnectivityState = { status: 'online', since: 0, nextCheckAt: undefined };

/**
 * Whether the network is there, as far as requests have shown: `online`; `suspect`, when something
 * speaks against it and it is being looked for; or `offline`, since when, and when it is looked for
 * next. Renders at transitions only.
 *
 * @throws Error when the QueryClient carries no default options of Steadfetch, or those of an instance
 * without `connectivity`.
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
  throw new Error(
    'useConnectivity: this instance does not watch the network. Make it with ' +
      'createSteadfetch({ connectivity: watchConnectivity() }).',
  );
}
