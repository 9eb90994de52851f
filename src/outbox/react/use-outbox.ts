import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import type { OutboxEntry, OutboxFilter } from '../entries.ts';
import { type OutboxState, unopened } from '../state.ts';
import { entriesView, entryView } from '../query-adapter/view.ts';
import {
  type AnyOutboxHandlers,
  type EntryOf,
  type Outbox,
  findOutbox,
  missingOutbox,
  outboxRegistry,
} from '../query-adapter/outbox.ts';

/** The state of the outbox, and actions on its entries. */
export interface OutboxControls extends OutboxState, Pick<Outbox, Control> {}
type Control = 'retry' | 'retryAll' | 'edit' | 'discard' | 'clear';

/**
 * The outbox of the client, or the given one. It may be made or replaced once the component is there: at a log-in, or by
 * a hot update.
 */
export function useFoundOutbox(
  operation: string,
  queryClient?: QueryClient,
  given?: Outbox,
): Outbox | undefined {
  const client = useQueryClient(queryClient);
  const { subscribe, getState } = outboxRegistry;
  const registry = useSyncExternalStore(subscribe, getState, getState);
  return useMemo(
    () => given ?? findOutbox(registry, client, operation),
    [registry, client, operation, given],
  );
}

/**
 * The number of entries that are due, waiting, sending, paused and dead, the age of the oldest, and whether
 * they are on disk. Counts are at most 100 ms old.
 *
 * If the QueryClient has no outbox, it is empty and its controls reject; in development a warning says so.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 *
 * @example
 * ```tsx
 * const { due = 0, waiting = 0, sending = 0, paused = 0, dead = 0, retryAll } = useOutbox();
 * return (
 *   <p role="status">
 *     {due + waiting + sending + paused} to be sent.
 *     {dead > 0 && <button onClick={() => void retryAll()}>Retry {dead}</button>}
 *   </p>
 * );
 * ```
 */
export function useOutbox(queryClient?: QueryClient): OutboxControls {
  const found = useFoundOutbox('useOutbox', queryClient);
  const outbox = useMemo(() => found ?? noOutbox('useOutbox'), [found]);
  const state = useSyncExternalStore(outbox.subscribe, outbox.getState, () => unopened);
  return useMemo(() => {
    const { retry, retryAll, edit, discard, clear } = outbox;
    return { ...state, retry, retryAll, edit, discard, clear };
  }, [state, outbox]);
}

const nothing = (): undefined => undefined;
const noView = { subscribe: () => () => {}, getState: nothing };

const empty = { ...unopened, due: 0, waiting: 0, sending: 0, paused: 0, dead: 0 };

/** Stands in for a missing outbox: it is empty, and its actions reject. */
function noOutbox(operation: string): Pick<Outbox, Control | 'subscribe' | 'getState'> {
  const refuse = (): Promise<never> => Promise.reject(new Error(missingOutbox(operation)));
  const actions = { retry: refuse, retryAll: refuse, edit: refuse, discard: refuse, clear: refuse };
  return { ...noView, ...actions, getState: () => empty };
}

/**
 * The entries of the outbox, oldest first, 100 at most unless `limit` says otherwise; undefined until they
 * are read. A delivered entry stays, as `sending` and `processed: 'yes'`, until the queries are loaded that its handler
 * `invalidates`. An entry that has not changed stays the same object. Where no outbox is given and the QueryClient has
 * none, it stays undefined; in development a warning says so.
 *
 * @param filter - Which entries. @default all
 * @param outbox - The outbox to read. With it, entries have the types of the handler in `filter`.
 *   @default the outbox of the QueryClient
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 *
 * @example
 * ```tsx
 * const letters = useOutboxEntries({ state: 'dead' }) ?? [];
 * return <ul>{letters.map((one) => <li key={one.idempotencyKey}>{one.lastError?.message}</li>)}</ul>;
 * ```
 *
 * @example
 * ```tsx
 * const orders = useOutboxEntries({ handler: 'placeOrder' }, outbox) ?? [];
 * return <ul>{orders.map((one) => <li key={one.idempotencyKey}>{one.variables?.sku}</li>)}</ul>;
 * ```
 */
export function useOutboxEntries(
  filter?: OutboxFilter,
  outbox?: undefined,
  queryClient?: QueryClient,
): readonly OutboxEntry[] | undefined;
export function useOutboxEntries<H extends AnyOutboxHandlers, N extends string>(
  filter: OutboxFilter<N>,
  outbox: Outbox<H>,
  queryClient?: QueryClient,
): readonly EntryOf<H, N>[] | undefined;
export function useOutboxEntries(
  filter: OutboxFilter = {},
  outbox?: Outbox,
  queryClient?: QueryClient,
): readonly OutboxEntry[] | undefined {
  const shown = useFoundOutbox('useOutboxEntries', queryClient, outbox);
  const { state, handler, scope, limit } = filter;
  const view = useMemo(
    () => (shown ? entriesView(shown, { state, handler, scope, limit }) : noView),
    [shown, state, handler, scope, limit],
  );
  return useSyncExternalStore(view.subscribe, view.getState, nothing);
}

/** One entry, and actions on it. */
export interface OutboxEntryControls {
  /** Undefined while it is being read, and when there is none: it was delivered or discarded. */
  readonly entry: OutboxEntry | undefined;
  /** Whether the entry is still being read. */
  readonly isLoading: boolean;
  /** Sends the entry now: see `Outbox.retry`. */
  readonly retry: () => Promise<string | undefined>;
  /** Sends the entry with other variables, under a new key: see `Outbox.edit`. */
  readonly edit: (variables: unknown) => Promise<string | undefined>;
  /** Drops the entry: see `Outbox.discard`. */
  readonly discard: () => Promise<boolean>;
}

/**
 * The entry with this idempotency key, or that had it before it was edited or sent again under a new one: also after a
 * reload.
 *
 * Where the QueryClient has no outbox there is none, and its controls reject; in development a warning says so.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 *
 * @example
 * ```tsx
 * const { entry, retry, discard } = useOutboxEntry(orderKey);
 * return (
 *   entry?.state === 'dead' && (
 *     <p role="alert">
 *       It did not arrive: {entry.lastError?.message}
 *       <button onClick={() => void retry()}>Send again</button>
 *       <button onClick={() => void discard()}>Discard</button>
 *     </p>
 *   )
 * );
 * ```
 */
export function useOutboxEntry(
  idempotencyKey: string | undefined,
  queryClient?: QueryClient,
): OutboxEntryControls {
  const outbox = useFoundOutbox('useOutboxEntry', queryClient);
  const view = useMemo(
    () => (outbox ? entryView(outbox, idempotencyKey) : noView),
    [outbox, idempotencyKey],
  );
  const entries = useSyncExternalStore(view.subscribe, view.getState, nothing);
  return useMemo(
    () => ({
      entry: entries?.[0],
      isLoading: !!outbox && entries === undefined,
      ...controlsOf(outbox ?? noOutbox('useOutboxEntry'), idempotencyKey),
    }),
    [outbox, entries, idempotencyKey],
  );
}

function controlsOf(
  outbox: Pick<Outbox, 'retry' | 'edit' | 'discard'>,
  key: string | undefined,
): Pick<OutboxEntryControls, 'retry' | 'edit' | 'discard'> {
  return {
    retry: async () => (key === undefined ? undefined : outbox.retry(key)),
    edit: async (variables) => (key === undefined ? undefined : outbox.edit(key, variables)),
    discard: async () => key !== undefined && outbox.discard(key),
  };
}
