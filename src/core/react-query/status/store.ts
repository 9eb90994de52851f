import {
  focusManager,
  notifyManager,
  onlineManager,
  type QueryClient,
} from '@tanstack/react-query';
import { findInstance, type Instance, isServer } from '../instance.ts';
import { warnOfModule } from '../misuse.ts';
import type { Clock } from '../../lib/clock.ts';
import { inDevelopment } from '../../lib/development.ts';
import { createSlot, type Slot } from '../../lib/slot.ts';
import { keepIfSame } from '../../lib/store.ts';
import { idle, type RetryState } from './status.ts';

/** The statuses of all queries, or of all mutations, in one QueryClient. */
export interface StatusStore<T extends object> {
  /** Undefined if its client has no instance. Then every status is idle. */
  readonly instance: Instance | undefined;
  readonly find: (id: string) => T | undefined;
  readonly getState: (id: string) => RetryState;
  readonly subscribe: (id: string, listener: () => void) => () => void;
}

/** The part of a store that its source sees. */
interface Watch {
  /** No status is watched. */
  readonly isIdle: () => boolean;
  /** Reads a status again, because it may have changed; without an id, all of them. */
  readonly refresh: (id?: string) => void;
  /** The ids whose status is watched. */
  readonly ids: () => Iterable<string>;
}

/** Where statuses come from. */
export interface StatusSource<T extends object> {
  readonly find: (id: string) => T | undefined;
  readonly read: (found: T | undefined, before: RetryState | undefined) => RetryState;
  /** Emits changes until the returned functions are called. */
  readonly start: () => readonly (() => void)[];
  /** A wait may end without an event. */
  readonly endsInSilence?: boolean;
  /** Development only: warns that the status of an unknown id is watched for a while. */
  readonly explain?: ((id: string) => void) | undefined;
}

/** A status may be shown this long before its query or mutation exists. */
const unknownMs = 10_000;

const nothing = (): undefined => undefined;

/**
 * Makes one store for each QueryClient. Its single subscription to the cache serves the listeners of all statuses: with a
 * subscription for each component, every event would wake every component.
 *
 * If the client has no default options of Steadfetch, every status is idle.
 */
export function createStatusStores<T extends object>(
  open: (client: QueryClient, instance: Instance, watch: Watch) => StatusSource<T>,
): (client: QueryClient, operation: string) => StatusStore<T> {
  const stores = new WeakMap<QueryClient, StatusStore<T>>();
  return (client, operation) => {
    // Its default options may be set, or be those of another instance, after a component has read it.
    const instance = findInstance(client, operation);
    if (!instance) return idleStore;
    let store = stores.get(client);
    if (store?.instance !== instance) {
      inDevelopment(() => isServer() && warnOfModule(instance.operations));
      store = new Statuses(instance, (watch) => open(client, instance, watch));
      stores.set(client, store);
    }
    return store;
  };
}

/** For a client without an instance. */
const idleStore: StatusStore<never> = {
  instance: undefined,
  find: nothing,
  getState: () => idle,
  subscribe: () => nothing,
};

/** The status of one id, and its listeners. */
class Watched {
  readonly listeners: Set<() => void> = new Set();
  #status: RetryState;
  #timer: unknown;

  constructor(status: RetryState) {
    this.#status = status;
  }

  get status(): RetryState {
    return this.#status;
  }

  /** Shows it to its listeners, with React Query's own notifications, so that both are rendered together. */
  show(status: RetryState): void {
    this.#status = status;
    for (const listener of this.listeners) notifyManager.schedule(listener);
  }

  /** Sets its timer, in place of an earlier one. `Infinity` stops it. */
  plan(clock: Clock, action: () => void, afterMs: number): void {
    clock.clearTimeout(this.#timer);
    this.#timer = afterMs < Infinity ? clock.setTimeout(action, afterMs) : undefined;
  }
}

class Statuses<T extends object> implements StatusStore<T> {
  readonly instance: Instance;
  readonly find: StatusStore<T>['find'];
  readonly #source: StatusSource<T>;
  readonly #watched: Map<string, Watched> = new Map();
  readonly #last: Slot<T, RetryState> = createSlot();
  #stops: readonly (() => void)[] = [];

  constructor(instance: Instance, open: (watch: Watch) => StatusSource<T>) {
    const watched = this.#watched;
    this.instance = instance;
    this.#source = open({
      isIdle: () => watched.size === 0,
      refresh: (id) => {
        if (id !== undefined) this.#refresh(id);
        else for (const one of watched.keys()) this.#refresh(one);
      },
      ids: () => watched.keys(),
    });
    this.find = this.#source.find;
  }

  readonly getState = (id: string): RetryState => {
    const found = this.find(id);
    const before = found && this.#last.get(found);
    const now = this.#source.read(found, before);
    // The time shown is that of the wall clock, also after it was set back.
    const shown =
      now.retryAt === undefined ? now : { ...now, retryAt: now.retryAt - this.#setBackMs() };
    const kept = keepIfSame(before, shown);
    if (found) this.#last.set(found, kept);
    return kept;
  };

  readonly subscribe = (id: string, listener: () => void): (() => void) => {
    const watched = this.#watched;
    if (watched.size === 0) this.#start();
    const { listeners } = watched.get(id) ?? this.#watch(id);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      const entry = watched.get(id);
      if (listeners.size > 0 || entry?.listeners !== listeners) return;
      entry.plan(this.instance.clock, nothing, Infinity);
      watched.delete(id);
      if (watched.size === 0) for (const end of this.#stops) end();
    };
  };

  #start(): void {
    const refreshPaused = (): void => {
      for (const [id, { status }] of this.#watched)
        if (status.status === 'paused') this.#refresh(id);
    };
    this.#stops = [
      ...this.#source.start(),
      // The reason of a pause can change while it lasts.
      onlineManager.subscribe(refreshPaused),
      focusManager.subscribe(refreshPaused),
    ];
  }

  #watch(id: string): Watched {
    const entry = new Watched(this.getState(id));
    this.#watched.set(id, entry);
    this.#planEnd(id, entry);
    const { find } = this;
    const { explain } = this.#source;
    if (explain && !find(id))
      entry.plan(this.instance.clock, () => void (find(id) ?? explain(id)), unknownMs);
    return entry;
  }

  #refresh(id: string): void {
    const entry = this.#watched.get(id);
    const status = entry && this.getState(id);
    if (!status || status === entry.status) return;
    entry.show(status);
    this.#planEnd(id, entry);
  }

  /** A wait may end without an event. */
  #planEnd(id: string, entry: Watched): void {
    if (!this.#source.endsInSilence) return;
    const { clock } = this.instance;
    const { status, retryAt = Infinity } = entry.status;
    const dueAt = status === 'waiting' ? retryAt + this.#setBackMs() : Infinity;
    entry.plan(clock, () => this.#refresh(id), dueAt - clock.now());
  }

  #setBackMs(): number {
    return this.instance.clock.setBackMs?.() ?? 0;
  }
}
