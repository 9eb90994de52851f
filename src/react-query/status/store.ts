import {
  focusManager,
  notifyManager,
  onlineManager,
  type QueryClient,
} from '@tanstack/react-query';
import { findInstance, type Instance, isServer } from '../instance.ts';
import { warnOfModule } from '../misuse.ts';
import { keepIfSame } from '../../lib/store.ts';
import { idle, type RetryState } from './status.ts';

/** The statuses of all queries, or of all mutations, in one QueryClient. */
export interface StatusStore<T extends object> {
  readonly instance: Instance;
  readonly find: (id: string) => T | undefined;
  readonly getState: (id: string) => RetryState;
  readonly subscribe: (id: string, listener: () => void) => () => void;
}

/** What a store of statuses shows to those who watch. */
interface Watch {
  /** Nobody watches. */
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
  /** For development: somebody watches what there has not been for a while. */
  readonly explain?: (id: string) => void;
}

/** What is shown before its component is may be found later. */
const unknownMs = 10_000;

const nothing = (): undefined => undefined;

interface Watched {
  readonly listeners: Set<() => void>;
  status: RetryState;
  timer: unknown;
}

/**
 * The one store of each QueryClient: one subscription to a cache feeds everybody who watches a status.
 * (A subscription per component is quadratic: every event wakes everyone.)
 *
 * Where the client carries no default options of Steadfetch, everything is idle.
 */
export function createStatusStores<T extends object>(
  open: (client: QueryClient, instance: Instance, watch: Watch) => StatusSource<T>,
): (client: QueryClient, operation: string) => StatusStore<T> {
  const stores = new WeakMap<QueryClient, StatusStore<T>>();
  return (client, operation) => {
    let store = stores.get(client);
    if (!store) {
      const instance = findInstance(client, operation);
      if (!instance) return idleStore;
      if (process.env.NODE_ENV !== 'production' && isServer()) warnOfModule(instance.operations);
      stores.set(client, (store = createStatusStore(instance, open.bind(null, client, instance))));
    }
    return store;
  };
}

/** For a client without an instance, which only a query or a mutation that was found is asked for. */
const idleStore: StatusStore<never> = {
  instance: undefined as never,
  find: nothing,
  getState: () => idle,
  subscribe: () => nothing,
};

function createStatusStore<T extends object>(
  instance: Instance,
  open: (watch: Watch) => StatusSource<T>,
): StatusStore<T> {
  const { clock } = instance;
  const watched = new Map<string, Watched>();
  const last = new WeakMap<T, RetryState>();
  const setBackMs = (): number => clock.setBackMs?.() ?? 0;

  const getState = (id: string): RetryState => {
    const found = source.find(id);
    const before = found && last.get(found);
    const now = source.read(found, before);
    // Shown is the time on the wall, also where that was set.
    const shown = now.retryAt === undefined ? now : { ...now, retryAt: now.retryAt - setBackMs() };
    const kept = keepIfSame(before, shown);
    if (found) last.set(found, kept);
    return kept;
  };
  const refreshOne = (id: string): void => {
    const entry = watched.get(id);
    if (!entry) return;
    const status = getState(id);
    if (status === entry.status) return;
    entry.status = status;
    plan(id, entry);
    // With React Query's own notifications, so that both are rendered together.
    for (const listener of entry.listeners) notifyManager.schedule(listener);
  };
  const refreshPaused = (): void => {
    for (const [id, { status }] of watched) if (status.status === 'paused') refreshOne(id);
  };
  const plan = (id: string, entry: Watched): void => {
    if (!source.endsInSilence) return;
    clock.clearTimeout(entry.timer);
    const { status, retryAt } = entry.status;
    if (status === 'waiting' && retryAt !== undefined) {
      entry.timer = clock.setTimeout(() => refreshOne(id), retryAt + setBackMs() - clock.now());
    }
  };
  const source = open({
    isIdle: () => watched.size === 0,
    refresh(id) {
      if (id !== undefined) refreshOne(id);
      else for (const one of watched.keys()) refreshOne(one);
    },
    ids: () => watched.keys(),
  });
  let stop: readonly (() => void)[] = [];
  return {
    instance,
    find: source.find,
    getState,
    subscribe(id, listener) {
      if (watched.size === 0) {
        stop = [
          ...source.start(),
          // What holds an operation can change while it is paused.
          onlineManager.subscribe(refreshPaused),
          focusManager.subscribe(refreshPaused),
        ];
      }
      let entry = watched.get(id);
      if (!entry) {
        watched.set(id, (entry = { listeners: new Set(), status: getState(id), timer: undefined }));
        plan(id, entry);
        if (process.env.NODE_ENV !== 'production' && source.explain && !source.find(id)) {
          const explain = (): void => void (source.find(id) ?? source.explain?.(id));
          entry.timer = clock.setTimeout(explain, unknownMs);
        }
      }
      const { listeners } = entry;
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0 || watched.get(id)?.listeners !== listeners) return;
        clock.clearTimeout(watched.get(id)?.timer);
        watched.delete(id);
        if (watched.size === 0) for (const end of stop) end();
      };
    },
  };
}
