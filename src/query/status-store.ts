import {
  focusManager,
  hashKey,
  type Mutation,
  notifyManager,
  onlineManager,
  type Query,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query';
import { definitionBehind, checkSpread } from './mutation-definition.ts';
import { onRunChange } from './mutation-run.ts';
import { mutationStatus } from './mutation-status.ts';
import { queryStatus } from './query-status.ts';
import { type Instance, instanceOf } from './registry.ts';
import { keepIfSame, type RetryStatus } from './retry-status.ts';

/** The mutations of one `useSteadyMutation`; made by the hook. */
export interface MutationTarget {
  /** Which hook it is; empty while it has no mutation to show. */
  readonly mutation: string;
}

/**
 * Whose status is asked for: a query, the newest mutation with this key, or that of one
 * `useSteadyMutation`.
 */
export type StatusTarget =
  | { readonly queryKey: QueryKey; readonly mutationKey?: never; readonly mutation?: never }
  | { readonly mutationKey: QueryKey; readonly queryKey?: never; readonly mutation?: never }
  | (MutationTarget & { readonly queryKey?: never; readonly mutationKey?: never });

/** The statuses of everything in one QueryClient. */
export interface StatusStore {
  readonly instance: Instance;
  /** Names a target: equal keys have equal ids. */
  readonly idOf: (target: StatusTarget) => string;
  readonly findQuery: (id: string) => Query | undefined;
  readonly findMutation: (id: string) => Mutation | undefined;
  readonly getState: (id: string) => RetryStatus;
  readonly subscribe: (id: string, listener: () => void) => () => void;
}

interface Watched {
  readonly listeners: Set<() => void>;
  status: RetryStatus;
  timer: unknown;
}

const stores = new WeakMap<QueryClient, StatusStore>();

/**
 * The store of a QueryClient: one subscription to each cache feeds everybody who watches a status.
 * (A subscription per component is quadratic: every event wakes everyone.)
 *
 * @throws Error when the client carries no default options of Steadfetch.
 */
export function statusStoreOf(client: QueryClient, operation: string): StatusStore {
  let store = stores.get(client);
  if (!store)
    stores.set(client, (store = createStatusStore(client, instanceOf(client, operation))));
  return store;
}

const mutationId = (mutationKey: QueryKey): string => `m${hashKey(mutationKey)}`;
/** A hash begins with a bracket, so no key is taken for a hook. */
const targetId = (target: string): string => `m${target}`;

function idsOfMutation({ options: { mutationKey, mutationFn } }: Mutation): string[] {
  const target = definitionBehind(mutationFn)?.target;
  return [
    ...(mutationKey ? [mutationId(mutationKey)] : []),
    ...(target === undefined ? [] : [targetId(target)]),
  ];
}

function createStatusStore(client: QueryClient, instance: Instance): StatusStore {
  const queries = client.getQueryCache();
  const mutations = client.getMutationCache();
  const watched = new Map<string, Watched>();
  const newest = new Map<string, Mutation>();
  const last = new WeakMap<Query | Mutation, RetryStatus>();

  const setBackMs = (): number => instance.clock.setBackMs?.() ?? 0;
  const queryId = (queryKey: QueryKey): string =>
    `q${client.defaultQueryOptions({ queryKey }).queryHash}`;
  const findQuery = (id: string): Query | undefined => queries.get(id.slice(1));
  const findMutation = (id: string): Mutation | undefined =>
    watched.size > 0 ? newest.get(id) : indexMutations().get(id);

  function indexMutations(): Map<string, Mutation> {
    newest.clear();
    for (const mutation of mutations.getAll()) noteMutation(mutation);
    return newest;
  }
  function noteMutation(mutation: Mutation): void {
    for (const id of idsOfMutation(mutation)) {
      const known = newest.get(id);
      if (!known || known.mutationId <= mutation.mutationId) newest.set(id, mutation);
    }
  }
  const refreshMutation = (mutation: Mutation): void => idsOfMutation(mutation).forEach(refresh);

  const getState = (id: string): RetryStatus => {
    const found = id.startsWith('q') ? findQuery(id) : findMutation(id);
    const before = found && last.get(found);
    const now =
      found && 'mutationId' in found
        ? mutationStatus(found, mutations, instance, before)
        : queryStatus(found, instance, before);
    // Shown is the time on the wall, also where that was set.
    const shown = now.retryAt === undefined ? now : { ...now, retryAt: now.retryAt - setBackMs() };
    const kept = keepIfSame(before, shown);
    if (found) last.set(found, kept);
    return kept;
  };

  const refresh = (id: string): void => {
    const entry = watched.get(id);
    if (!entry) return;
    const status = getState(id);
    if (status === entry.status) return;
    entry.status = status;
    plan(id, entry);
    // With React Query's own notifications, so that both are rendered together.
    for (const listener of entry.listeners) notifyManager.schedule(listener);
  };

  /** Nobody knows whose change it is: that of a plain mutation. */
  const refreshPlain = (): void => {
    for (const id of watched.keys()) if (id.startsWith('m')) refresh(id);
  };

  const refreshPaused = (): void => {
    for (const [id, { status }] of watched) if (status.status === 'paused') refresh(id);
  };

  /** The wait of a plain mutation ends without an event. */
  const plan = (id: string, entry: Watched): void => {
    const { clock } = instance;
    clock.clearTimeout(entry.timer);
    const { status, retryAt } = entry.status;
    if (status === 'waiting' && id.startsWith('m') && retryAt !== undefined) {
      entry.timer = clock.setTimeout(() => refresh(id), retryAt + setBackMs() - clock.now());
    }
  };

  let stop: (() => void)[] = [];
  const start = (): void => {
    indexMutations();
    stop = [
      queries.subscribe(({ query }) => refresh(`q${query.queryHash}`)),
      mutations.subscribe(({ type, mutation }) => {
        if (!mutation) return;
        if (process.env.NODE_ENV !== 'production' && type === 'added') checkSpread(mutation);
        if (type === 'removed') indexMutations();
        else noteMutation(mutation);
        refreshMutation(mutation);
      }),
      onRunChange((mutation) => (mutation ? refreshMutation(mutation) : refreshPlain())),
      // What holds an operation can change while it is paused.
      onlineManager.subscribe(refreshPaused),
      focusManager.subscribe(refreshPaused),
      // A retry starts without an event of React Query.
      instance.emitter.subscribe(({ type, operation: { queryKey, attempt } }) => {
        const isChange = type === 'pause:start' || type === 'pause:end';
        if (!isChange && (type !== 'attempt:start' || attempt === 1)) return;
        if (queryKey) refresh(queryId(queryKey));
      }),
    ];
  };
  return {
    instance,
    idOf: ({ queryKey, mutationKey, mutation }) =>
      queryKey
        ? queryId(queryKey)
        : mutationKey
          ? mutationId(mutationKey)
          : targetId(mutation ?? ''),
    findQuery,
    findMutation,
    getState,
    subscribe(id, listener) {
      if (watched.size === 0) start();
      let entry = watched.get(id);
      if (!entry) {
        watched.set(id, (entry = { listeners: new Set(), status: getState(id), timer: undefined }));
        plan(id, entry);
      }
      const { listeners } = entry;
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0 || watched.get(id)?.listeners !== listeners) return;
        instance.clock.clearTimeout(watched.get(id)?.timer);
        watched.delete(id);
        if (watched.size === 0) for (const end of stop) end();
      };
    },
  };
}
