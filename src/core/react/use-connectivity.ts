import { onlineManager, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import type { Connectivity, ConnectivityState } from '../connectivity/connectivity.ts';
import { systemClock } from '../lib/clock.ts';
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
 * Without `connectivity` it is what React Query's `onlineManager` says, and `checkNow` does nothing.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 *
 * @example
 * ```tsx
 * const { status, checkNow } = useConnectivity();
 * return status === 'offline' && <p role="status">You are offline. <button onClick={checkNow}>Try now</button></p>;
 * ```
 */
export function useConnectivity(queryClient?: QueryClient): ConnectivityControls {
  const watched = findInstance(useQueryClient(queryClient), 'useConnectivity')?.connectivity;
  const { getState, subscribe, checkNow } = useMemo(() => watched ?? believeBrowser(), [watched]);
  const state = useSyncExternalStore(subscribe, getState, () => onServer);
  return useMemo(() => ({ ...state, checkNow }), [state, checkNow]);
}

type Watched = Pick<Connectivity, 'getState' | 'subscribe' | 'checkNow'>;

/** The network as React Query has it, where nothing else watches it. */
function believeBrowser(): Watched {
  let state = onServer;
  return {
    getState() {
      const status = onlineManager.isOnline() ? 'online' : 'offline';
      if (status !== state.status)
        state = { status, since: systemClock.now(), nextCheckAt: undefined };
      return state;
    },
    subscribe: (listener) => onlineManager.subscribe(listener),
    checkNow() {},
  };
}
