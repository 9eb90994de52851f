import { useSyncExternalStore } from 'react';

/** The URL hash, which says what is on the screen. */
export const useHash = (): string =>
  useSyncExternalStore(
    (listener) => {
      window.addEventListener('hashchange', listener);
      return () => window.removeEventListener('hashchange', listener);
    },
    () => location.hash,
  );
