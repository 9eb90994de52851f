/** Something with a state that can be read and watched, as React's useSyncExternalStore takes it. */
export interface Readable<S> {
  /** The present state; the same value until something changes. */
  readonly getState: () => S;
  /** Calls the listener after every change, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A state of one's own to read, watch and set. */
export interface Store<S> extends Readable<S> {
  readonly set: (state: S) => void;
}

export function createStore<S>(initial: S): Store<S> {
  const listeners = new Set<() => void>();
  let state = initial;
  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set(next) {
      if (Object.is(next, state)) return;
      state = next;
      for (const listener of listeners) {
        try {
          listener();
        } catch (error) {
          // Surfaces as an unhandled rejection: a watcher's mistake must not cost anybody their turn.
          void Promise.reject(error);
        }
      }
    },
  };
}
