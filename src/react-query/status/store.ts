import {
  focusManager,
  notifyManager,
  onlineManager,
  type QueryClient,
} from '@tanstack/react-query';
import { type Instance, instanceOf, isServer } from '../instance.ts';
import { warnOfModule } from '../misuse.ts';
import { keepIfSame } from '../../lib/store.ts';
import type { RetryState } from './status.ts';

/** What a source of statuses knows of the store that watches it. */
interface Watch {
  /** No status is watched. */
  readonly isIdle: () => boolean;
  /** It may have changed; all may, where none is named. */
  readonly refresh: (id?: string) => void;
  /** Whose status is watched. */
  readonly ids: () => Iterable<string>;
}

/** Where statuses come from. */
export interface StatusSource<T extends object> {
  readonly find: (id: string) => T | undefined;
  readonly read: (found: T | undefined, before: RetryState | undefined) => RetryState;
  /** From now on it tells of changes, until the returned functions are called. */
  readonly start: () => readonly (() => void)[];
  /** A wait may end without an event. */
  readonly endsInSilence?: boolean;
  /** For development: a status is watched of a query that has not been there for a while. */
  readonly explain?: (id: string) => void;
}

/** A component may be shown before its query is there, by as much. */
const unknownMs = 10_000;

interface Watched {
  readonly listeners: Set<() => void>;
  status: RetryState;
  timer: unknown;
}

/**
 * Makes the one store of each QueryClient.
 *
 * @throws Error when the client carries no default options of Steadfetch.
 */
export function createStatusStores<T extends object>(
  open: (client: QueryClient, instance: Instance, watch: Watch) => StatusSource<T>,
): (client: QueryClient, operation: string) => StatusStore<T> {
  const stores = new WeakMap<QueryClient, StatusStore<T>>();
  return (client, operation) => {
    let store = stores.get(client);
    if (!store) {
      const instance = instanceOf(client, operation);
      if (process.env.NODE_ENV !== 'production' && isServer()) warnOfModule(instance.operations);
      stores.set(client, (store = new StatusStore(instance, open.bind(null, client, instance))));
    }
    return store;
  };
}

/**
 * The statuses of all queries, or of all mutations, in one QueryClient. One subscription to its cache serves
 * every component that shows a status: a subscription per component is quadratic, as every event wakes all.
 */
export class StatusStore<T extends object> {
  readonly instance: Instance;
  readonly #source: StatusSource<T>;
  readonly #watched: Map<string, Watched> = new Map();
  readonly #latest: WeakMap<T, RetryState> = new WeakMap();
  #stops: readonly (() => void)[] = [];

  constructor(instance: Instance, open: (watch: Watch) => StatusSource<T>) {
    const watched = this.#watched;
    this.instance = instance;
    this.#source = open({
      isIdle: () => watched.size === 0,
      refresh: (id) => {
        for (const one of id === undefined ? watched.keys() : [id]) this.#refresh(one);
      },
      ids: () => watched.keys(),
    });
  }

  find(id: string): T | undefined {
    return this.#source.find(id);
  }

  getState(id: string): RetryState {
    const found = this.find(id);
    const before = found && this.#latest.get(found);
    const now = this.#source.read(found, before);
    // Shown is the time on the wall, also where that was set.
    const { retryAt } = now;
    const shown = retryAt === undefined ? now : { ...now, retryAt: retryAt - this.#setBackMs() };
    const kept = keepIfSame(before, shown);
    if (found) this.#latest.set(found, kept);
    return kept;
  }

  subscribe(id: string, listener: () => void): () => void {
    const watched = this.#watched;
    if (watched.size === 0) this.#start();
    let entry = watched.get(id);
    if (!entry) {
      entry = { listeners: new Set(), status: this.getState(id), timer: undefined };
      watched.set(id, entry);
      this.#plan(id, entry);
      if (process.env.NODE_ENV !== 'production') this.#planExplanation(id, entry);
    }
    const { listeners } = entry;
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || watched.get(id)?.listeners !== listeners) return;
      this.instance.clock.clearTimeout(watched.get(id)?.timer);
      watched.delete(id);
      if (watched.size === 0) for (const stop of this.#stops) stop();
    };
  }

  #start(): void {
    // What holds an operation can change while it is paused.
    const refreshPaused = (): void => {
      for (const [id, { status }] of this.#watched)
        if (status.status === 'paused') this.#refresh(id);
    };
    this.#stops = [
      ...this.#source.start(),
      onlineManager.subscribe(refreshPaused),
      focusManager.subscribe(refreshPaused),
    ];
  }

  #refresh(id: string): void {
    const entry = this.#watched.get(id);
    if (!entry) return;
    const status = this.getState(id);
    if (status === entry.status) return;
    entry.status = status;
    this.#plan(id, entry);
    // With React Query's own notifications, so that both are rendered together.
    for (const listener of entry.listeners) notifyManager.schedule(listener);
  }

  #plan(id: string, entry: Watched): void {
    if (!this.#source.endsInSilence) return;
    const { clock } = this.instance;
    clock.clearTimeout(entry.timer);
    const { status, retryAt } = entry.status;
    if (status !== 'waiting' || retryAt === undefined) return;
    const leftMs = retryAt + this.#setBackMs() - clock.now();
    entry.timer = clock.setTimeout(() => this.#refresh(id), leftMs);
  }

  #planExplanation(id: string, entry: Watched): void {
    const { explain } = this.#source;
    if (!explain || this.find(id)) return;
    entry.timer = this.instance.clock.setTimeout(() => {
      if (!this.find(id)) explain(id);
    }, unknownMs);
  }

  #setBackMs(): number {
    return this.instance.clock.setBackMs?.() ?? 0;
  }
}
