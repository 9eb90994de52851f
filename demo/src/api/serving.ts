import { startTransition, useEffect, useState } from 'react';
import { inBackground } from '../background.ts';
import type { Route } from './route.ts';

/** The mock API of one page. */
export interface Serving {
  /** Rejects where the browser has no service worker. */
  readonly started: Promise<void>;
  readonly isServing: () => boolean;
}

/** Starts a mock API. The page is shown meanwhile: what it needs is loaded after its first picture. */
export function serve(...routes: readonly Route[]): Serving {
  let isServing = false;
  const start = async (): Promise<void> => {
    const { answerByWorker } = await import('./worker.ts');
    await answerByWorker(routes);
    isServing = true;
  };
  return { started: start(), isServing: () => isServing };
}

/**
 * Whether requests are answered: nothing is asked for before. What asks then is rendered in slices; what
 * `isSecond` after what else asks at the same time.
 */
export function useServing({ started, isServing }: Serving, isSecond = false): boolean {
  const [isReady, setReady] = useState(isServing);
  useEffect(() => {
    const show = (): void => startTransition(() => setReady(true));
    // Where it cannot start, the app says so.
    started.then(
      () => (isSecond ? void inBackground(show) : show()),
      () => {},
    );
  }, [started, isSecond]);
  return isReady;
}
