/** A value that the browser keeps over a reload, as JSON. */
export interface KeptState<T> {
  readonly getState: () => T;
  readonly subscribe: (listener: () => void) => () => void;
  /** One write: what belongs together is never kept in halves. */
  readonly update: (change: (state: T) => T) => void;
}

/** For this tab alone, in its sessionStorage. */
export const createTabState = <T>(name: string, initial: T): KeptState<T> =>
  createKeptState('sessionStorage', name, initial);

/** For all tabs of this browser, also those of tomorrow, in its localStorage. */
export const createBrowserState = <T>(name: string, initial: T): KeptState<T> =>
  createKeptState('localStorage', name, initial);

function createKeptState<T>(
  where: 'sessionStorage' | 'localStorage',
  name: string,
  initial: T,
): KeptState<T> {
  const listeners = new Set<() => void>();
  const storage = openStorage(where);
  let state = initial;
  const read = (): T => {
    const kept = storage?.getItem(name) ?? null;
    return kept === null ? state : (JSON.parse(kept) as T);
  };
  state = read();
  const show = (next: T): void => {
    state = next;
    for (const listener of listeners) listener();
  };
  // Another tab has written.
  window.addEventListener('storage', ({ storageArea, key }) => {
    if (storageArea === storage && key === name) show(read());
  });
  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    update(change) {
      const next = change(read());
      storage?.setItem(name, JSON.stringify(next));
      show(next);
    },
  };
}

/** Undefined where the browser refuses it: then nothing outlives the page. */
function openStorage(where: 'sessionStorage' | 'localStorage'): Storage | undefined {
  try {
    return window[where];
  } catch {
    return undefined;
  }
}
