import { useSyncExternalStore } from 'react';

const getHash = (): string => location.hash;

/** The URL hash, which says what is on the screen. */
export const useHash = (): string =>
  useSyncExternalStore(
    (listener) => {
      window.addEventListener('hashchange', listener);
      return () => window.removeEventListener('hashchange', listener);
    },
    getHash,
    // What is in the HTML is that of the hash, too.
    getHash,
  );
