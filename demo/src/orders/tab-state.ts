/** A value that this tab keeps over a reload, as JSON in its sessionStorage. */
export interface TabState<T> {
  readonly getState: () => T;
  readonly subscribe: (listener: () => void) => () => void;
  /** One write: what belongs together is never kept in halves. */
  readonly update: (change: (state: T) => T) => void;
}

export function createTabState<T>(name: string, initial: T): TabState<T> {
  const listeners = new Set<() => void>();
  const kept = sessionStorage.getItem(name);
  let state = kept === null ? initial : (JSON.parse(kept) as T);
  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    update(change) {
      state = change(state);
      sessionStorage.setItem(name, JSON.stringify(state));
      for (const listener of listeners) listener();
    },
  };
}
