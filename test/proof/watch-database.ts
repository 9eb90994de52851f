/** What a page has asked its database, and whether it was held up. */
export interface Watched {
  /** Transactions that write. */
  writes: number;
  /** Rows and keys that were read. */
  reads: number;
  /** The most that one request has read. */
  largest: number;
  /** How long its main thread was held up, each time that it was for over 50 ms. */
  readonly longTasksMs: number[];
}

declare global {
  interface Window {
    readonly watched: Watched;
  }
}

/** Runs in a page before its scripts: counts into `window.watched`. */
export function watchDatabase(): void {
  const watched: Watched = { writes: 0, reads: 0, largest: 0, longTasksMs: [] };
  Object.assign(window, { watched });
  const note = (count: number): void => {
    watched.reads += count;
    watched.largest = Math.max(watched.largest, count);
  };
  const begin = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function transaction(names, mode, options) {
    if (mode === 'readwrite') watched.writes += 1;
    return begin.call(this, names, mode, options);
  };
  const names = ['get', 'getKey', 'getAll', 'getAllKeys', 'openCursor', 'openKeyCursor'] as const;
  for (const one of [IDBObjectStore, IDBIndex]) {
    for (const name of names) {
      const ask = one.prototype[name] as (...all: unknown[]) => IDBRequest<unknown>;
      const asked = function asked(this: unknown, ...all: unknown[]): IDBRequest<unknown> {
        const request = ask.apply(this, all);
        request.addEventListener('success', () => {
          const { result } = request;
          if (result !== undefined && result !== null)
            note(Array.isArray(result) ? result.length : 1);
        });
        return request;
      };
      Object.assign(one.prototype, { [name]: asked });
    }
  }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) watched.longTasksMs.push(duration);
  }).observe({ type: 'longtask', buffered: true });
}
