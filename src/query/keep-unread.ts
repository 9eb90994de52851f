import type { Query } from '@tanstack/react-query';

/** Queries whose signal a queryFn has read: React Query cancels them on unmount, as it should. */
const read = new WeakSet<Query>();
/** Queries whose last observer has gone while a fetch was under way. */
const abandoned = new WeakSet<Query>();

/**
 * React Query cancels a fetch on unmount only when its queryFn has read the signal; otherwise the
 * attempt under way ends, and is not retried. For an infinite query with a persister it reads the
 * signal itself, and would so cancel every one of them (and send twice in StrictMode). This gives
 * such a query the one rule back.
 */
export function keepUnread(query: Query, signal: AbortSignal): void {
  // When a page's queryFn reads the signal, React Query adds a listener to it: the one visible trace.
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    read.add(query);
    add(...args);
  };
  if (Object.hasOwn(query, 'removeObserver')) return;
  const remove = query.removeObserver.bind(query);
  query.removeObserver = (observer) => {
    if (query.observers.length > 1 || read.has(query)) return remove(observer);
    abandoned.add(query);
    // React Query cancels when the list becomes empty: so, for this once, it does not.
    const standIn = Object.create(observer) as typeof observer;
    query.observers.push(standIn);
    remove(observer);
    query.observers = query.observers.filter((other) => other !== standIn);
  };
}

/** Whether nobody has been there for this fetch since its last observer went. */
export function isAbandoned(query: Query): boolean {
  return abandoned.has(query) && query.getObserversCount() === 0;
}

/** A new fetch has begun: whoever left the old one does not matter to it. */
export function forgetAbandoned(query: Query): void {
  abandoned.delete(query);
}
