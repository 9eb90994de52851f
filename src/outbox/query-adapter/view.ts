import { hashKey } from '@tanstack/react-query';
import { createStore, type Readable } from '../../core/lib/store.ts';
import type { OutboxEntry, OutboxFilter } from '../entries.ts';
import type { Outbox } from './outbox.ts';

/** The entries that were asked for; undefined until they are known. */
export type EntriesView = Readable<readonly OutboxEntry[] | undefined>;

const views = new WeakMap<Outbox, Map<string, EntriesView>>();

/** The entries of an outbox that a filter lets through: one for all who ask alike. */
export function entriesView(outbox: Outbox, filter: OutboxFilter): EntriesView {
  return viewOf(outbox, hashKey(['list', filter]), () => outbox.list(filter));
}

/** The entry with this key, as a list of one or none. */
export function entryView(outbox: Outbox, key: string | undefined): EntriesView {
  return viewOf(outbox, hashKey(['find', key]), async () => {
    const entry = key === undefined ? undefined : await outbox.find(key);
    return entry ? [entry] : [];
  });
}

function viewOf(
  outbox: Outbox,
  name: string,
  load: () => Promise<readonly OutboxEntry[]>,
): EntriesView {
  const known = views.get(outbox) ?? new Map<string, EntriesView>();
  views.set(outbox, known);
  const view = known.get(name) ?? createView(outbox, load, () => known.delete(name));
  known.set(name, view);
  return view;
}

function createView(
  { onChange }: Outbox,
  load: () => Promise<readonly OutboxEntry[]>,
  onUnused: () => void,
): EntriesView {
  const { getState, set, subscribe } = createStore<readonly OutboxEntry[] | undefined>(undefined);
  let watchers = 0;
  let loads = 0;
  let stop: (() => void) | undefined;
  const refresh = async (): Promise<void> => {
    loads += 1;
    const mine = loads;
    const entries = await load().catch(() => undefined);
    if (entries && mine === loads) set(keepSame(getState(), entries));
  };
  return {
    getState,
    subscribe(listener) {
      const unsubscribe = subscribe(listener);
      watchers += 1;
      if (watchers === 1) {
        stop = onChange(() => void refresh());
        void refresh();
      }
      return () => {
        unsubscribe();
        watchers -= 1;
        if (watchers > 0) return;
        stop?.();
        onUnused();
      };
    },
  };
}

/** Entries that have not changed stay the same objects, so that no component renders for nothing. */
function keepSame(
  before: readonly OutboxEntry[] | undefined,
  now: readonly OutboxEntry[],
): readonly OutboxEntry[] {
  const known = new Map(before?.map((entry) => [entry.idempotencyKey, entry]));
  const kept = now.map((entry) => {
    const one = known.get(entry.idempotencyKey);
    return one && isSame(one, entry) ? one : entry;
  });
  return before?.length === kept.length && kept.every((entry, index) => entry === before[index])
    ? before
    : kept;
}

/** Variables and data never change for a key; an entry that was edited has another. */
function isSame(one: OutboxEntry, other: OutboxEntry): boolean {
  const shape = ({ variables, data, ...rest }: OutboxEntry): string =>
    hashKey([rest, variables === undefined, data === undefined]);
  return shape(one) === shape(other);
}
