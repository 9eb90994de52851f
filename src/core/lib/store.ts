import { notifyApp } from './input/callback.ts';

/** A state that can be read and watched, as React's useSyncExternalStore needs it. */
export interface Readable<S> {
  /** The current state: the same value until it changes. */
  readonly getState: () => S;
  /** Calls the listener after every change, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A state that can also be set. */
export interface Store<S> extends Readable<S> {
  readonly set: (state: S) => void;
}

/** Creates a state that notifies its listeners of every change. */
export function createStore<S>(initial: S): Store<S> {
  const { emit, on: subscribe } = createEmitter();
  let state = initial;
  return {
    getState: () => state,
    subscribe,
    set(next) {
      if (Object.is(next, state)) return;
      state = next;
      emit();
    },
  };
}

/** An event. */
export interface Emitter<T> {
  readonly emit: (value: T) => void;
  /** Calls the listener at each event, until the returned function is called. */
  readonly on: (listener: (value: T) => void) => () => void;
}

export function createEmitter<T = void>(): Emitter<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    emit(value) {
      for (const listener of listeners) notifyApp(listener, value);
    },
    on(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Deletes all but the latest entries. */
export function keepLast(all: Map<unknown, unknown> | Set<unknown>, most: number): void {
  for (const first of all.keys()) {
    if (all.size <= most) break;
    all.delete(first);
  }
}

/** Returns the previous state if all properties of the next one are identical, so that its identity is kept. */
export function keepIfSame<S extends object>(before: S | undefined, next: S): S {
  const names = Object.keys({ ...before, ...next }) as (keyof S)[];
  return before && names.every((name) => Object.is(before[name], next[name])) ? before : next;
}
