import type { Heart } from './heart.ts';

/** The device's way to all origins, as a gate sees it. */
export interface Network {
  /** Nothing may go out that must leave the device. */
  readonly isOffline: () => boolean;
  /** When it is tried next, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: () => number | undefined;
  /** Calls the listener when any of this has changed, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly heart: Heart;
}
