import { useSyncExternalStore } from 'react';

/** What a mock API answers. */
export interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly answer: (info: { readonly request: Request }) => Promise<Response>;
}

/** The mock API of one page. */
export interface Serving {
  /** Rejects where the browser has no service worker. */
  readonly started: Promise<void>;
  readonly isServing: () => boolean;
  readonly subscribe: (listener: () => void) => () => void;
}

/** Starts a mock API. The page is shown meanwhile: what it needs is loaded after its first picture. */
export function serve(...routes: readonly Route[]): Serving {
  const listeners = new Set<() => void>();
  let isServing = false;
  const start = async (): Promise<void> => {
    const { answerByWorker } = await import('./worker.ts');
    await answerByWorker(routes);
    isServing = true;
    for (const listener of listeners) listener();
  };
  return {
    started: start(),
    isServing: () => isServing,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Whether requests are answered: nothing is asked for before. */
export const useServing = ({ subscribe, isServing }: Serving): boolean =>
  useSyncExternalStore(subscribe, isServing);
