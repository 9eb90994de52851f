import { onlineManager } from '@tanstack/react-query';
import type { Heart } from '../lib/heart.ts';
import type { Network } from '../origin/network.ts';
import { createStore } from '../lib/store.ts';
import { isServer } from './is-server.ts';

/** The network as React Query has it, by the browser's word, where nobody watches it. */
export function createBrowserNetwork(heart: Heart): Network & { readonly dispose: () => void } {
  const { getState, subscribe, set } = createStore(false);
  const look = (): void => set(!onlineManager.isOnline());
  // It would keep all of the instance: on a server, one for each request.
  const stop = isServer() ? undefined : onlineManager.subscribe(look);
  if (stop) look();
  return {
    isOffline: getState,
    retryAt: () => undefined,
    subscribe,
    heart,
    dispose() {
      stop?.();
      set(false);
    },
  };
}
