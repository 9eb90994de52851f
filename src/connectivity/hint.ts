import { hasPage } from '../origin/has-page.ts';
import { onPageEvent } from './page-events.ts';

/** A reason to look for the network: the browser has changed its mind, or somebody looks at the page. */
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
  const { navigator } = globalThis as Partial<typeof globalThis>;
  if (!hasPage()) return undefined;
  return {
    isOffline: () => navigator?.onLine === false,
    watch: (listener) =>
      onPageEvent((event) => {
        if (event === 'online' || event === 'offline' || event === 'visible') listener(event);
      }),
  };
}
