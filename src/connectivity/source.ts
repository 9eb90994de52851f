import type { Hint } from './page-life.ts';

/** What a source says of the network; null is not known. */
export interface ConnectivitySourceState {
  readonly isConnected: boolean | null;
  readonly isInternetReachable?: boolean | null | undefined;
}

/** What knows of the network where no browser does. NetInfo of React Native has this form. */
export interface ConnectivitySource {
  /** Calls the listener with the state, at each change and at first, until the returned function is called. */
  readonly addEventListener: (listener: (state: ConnectivitySourceState) => void) => () => void;
}

/** What a source says about the network: a reason to check, as the word of a browser is. */
export function sourceHint(
  source: ConnectivitySource,
  onSeen: (listener: (isSeen: boolean) => void) => () => void,
): Hint {
  let isOffline = false;
  return {
    isOffline: () => isOffline,
    watch(listener) {
      let told = false;
      const stops = [
        source.addEventListener(({ isConnected, isInternetReachable }) => {
          isOffline = [isConnected, isInternetReachable].includes(false);
          if (told === isOffline) return;
          told = isOffline;
          listener(told ? 'offline' : 'online');
        }),
        onSeen((isSeen) => isSeen && listener('visible')),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
