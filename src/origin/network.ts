/** The device's way to all origins, as a gate sees it. */
export interface Network {
  /**
   * How many may go out now: as many as like; none, while the device is offline; or one, which finds
   * out whether it still is.
   */
  readonly permits: () => number;
  /** One goes. */
  readonly spend: () => void;
  /** When it is tried next, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: () => number | undefined;
  /** Calls the listener when any of this has changed, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** Nobody knows anything against it. */
export const openNetwork: Network = {
  permits: () => Infinity,
  spend() {},
  retryAt: () => undefined,
  subscribe: () => () => {},
};
