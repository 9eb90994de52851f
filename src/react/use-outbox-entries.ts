import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import type { OutboxFilter } from '../outbox/desk.ts';
import type { OutboxEntry } from '../outbox/entry.ts';
import { outboxOf } from '../query/outbox-registry.ts';
import type { AnyOutboxHandlers, EntryOf, Outbox } from '../query/outbox.ts';
import { entriesView, entryView } from '../query/outbox-view.ts';

const nothing = (): undefined => undefined;

/**
 * The entries of the outbox, the oldest first, at most a hundred unless `limit` says otherwise;
 * undefined until they are read. An entry that has not changed stays the same object.
 *
 * @param outbox Whose entries; that of the QueryClient where it is left out. Where it is given, the
 *   entries of one handler are of its types.
 * @throws Error when the QueryClient has no outbox, and none is given.
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
export function useOutboxEntries(filter?: OutboxFilter): readonly OutboxEntry[] | undefined;
export function useOutboxEntries<H extends AnyOutboxHandlers, N extends string>(
  filter: OutboxFilter<N>,
  outbox: Outbox<H>,
): readonly EntryOf<H, N>[] | undefined;
export function useOutboxEntries(
  filter: OutboxFilter = {},
  outbox?: Outbox,
): readonly OutboxEntry[] | undefined {
  const client = useQueryClient();
  const shown = useMemo(() => outbox ?? outboxOf(client, 'useOutboxEntries'), [client, outbox]);
  const { state, handler, scope, limit } = filter;
  const view = useMemo(
    () => entriesView(shown, { state, handler, scope, limit }),
    [shown, state, handler, scope, limit],
  );
  return useSyncExternalStore(view.subscribe, view.getState, nothing);
}

/** An entry, and what a user can do with it. */
export interface OutboxEntryControls {
  /** Undefined while it is read, and where there is none: it is delivered, or discarded. */
  readonly entry: OutboxEntry | undefined;
  /** It is not known yet whether there is one. */
  readonly isLoading: boolean;
  readonly retry: () => Promise<string | undefined>;
  readonly edit: (variables: unknown) => Promise<string | undefined>;
  readonly discard: () => Promise<boolean>;
}

/**
 * The entry with this idempotency key, also after a reload.
 *
 * @throws Error when the QueryClient has no outbox.
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
export function useOutboxEntry(idempotencyKey: string | undefined): OutboxEntryControls {
  const client = useQueryClient();
  const outbox = useMemo(() => outboxOf(client, 'useOutboxEntry'), [client]);
  const view = useMemo(() => entryView(outbox, idempotencyKey), [outbox, idempotencyKey]);
  const entries = useSyncExternalStore(view.subscribe, view.getState, nothing);
  return useMemo(
    () => ({
      entry: entries?.[0],
      isLoading: entries === undefined,
      ...controlsOf(outbox, idempotencyKey),
    }),
    [outbox, entries, idempotencyKey],
  );
}

function controlsOf(
  outbox: Outbox,
  key: string | undefined,
): Pick<OutboxEntryControls, 'retry' | 'edit' | 'discard'> {
  return {
    retry: async () => (key === undefined ? undefined : outbox.retry(key)),
    edit: async (variables) => (key === undefined ? undefined : outbox.edit(key, variables)),
    discard: async () => key !== undefined && outbox.discard(key),
  };
}
