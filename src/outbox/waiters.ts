/** Those in this tab who wait for the end of an entry. */
export interface Waiters {
  readonly has: (id: string) => boolean;
  readonly ids: () => readonly string[];
  /** The end of the entry with this id, for as many as ask. */
  readonly wait: (id: string) => Promise<unknown>;
  readonly resolve: (id: string, data: unknown) => void;
  readonly reject: (id: string, error: unknown) => void;
  /** It has another id from now on. */
  readonly rename: (id: string, next: string) => void;
}

interface Waiter {
  readonly promise: Promise<unknown>;
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export function createWaiters(): Waiters {
  const waiting = new Map<string, Waiter>();
  const take = (id: string): Waiter | undefined => {
    const one = waiting.get(id);
    waiting.delete(id);
    return one;
  };
  return {
    has: (id) => waiting.has(id),
    ids: () => [...waiting.keys()],
    wait(id) {
      const one = waiting.get(id) ?? createWaiter();
      waiting.set(id, one);
      return one.promise;
    },
    resolve: (id, data) => take(id)?.resolve(data),
    reject: (id, error) => take(id)?.reject(error),
    rename(id, next) {
      const one = take(id);
      if (one) waiting.set(next, one);
    },
  };
}

function createWaiter(): Waiter {
  let resolve!: Waiter['resolve'];
  let reject!: Waiter['reject'];
  const promise = new Promise<unknown>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { promise, resolve, reject };
}
