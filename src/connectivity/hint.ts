/** What has happened to the page: the browser has changed its mind, or somebody looks at it. */
export type HintEvent = 'online' | 'offline' | 'visible';

/** What the browser says of the network: a reason to look, and never proof. */
export interface Hint {
  /** `navigator.onLine === false`. */
  readonly isOffline: () => boolean;
  /** Calls the listener until the returned function is called. */
  readonly watch: (listener: (event: HintEvent) => void) => () => void;
}

/** Undefined where there is no page: on a server, in a worker, in React Native. */
export function browserHint(): Hint | undefined {
  const { document, navigator } = globalThis as Partial<typeof globalThis>;
  if (!document) return undefined;
  return {
    isOffline: () => navigator?.onLine === false,
    watch(listener) {
      const stop = new AbortController();
      const { signal } = stop;
      addEventListener('online', () => listener('online'), { signal });
      addEventListener('offline', () => listener('offline'), { signal });
      const look = (): void => {
        if (document.visibilityState === 'visible') listener('visible');
      };
      document.addEventListener('visibilitychange', look, { signal });
      // Back from the back-forward cache, or from being frozen.
      addEventListener('pageshow', look, { signal });
      document.addEventListener('resume', look, { signal });
      return () => stop.abort();
    },
  };
}
