import { hashKey } from '@tanstack/react-query';
import { createStore, type Readable } from '../../core/lib/store.ts';
import type { OutboxEntry, OutboxFilter } from '../entries.ts';
import type { Outbox } from './outbox.ts';

/** The entries that were asked for; undefined until they are known. */
export type EntriesView = Readable<readonly OutboxEntry[] | undefined>;

/** The results of entries whose delivery has made queries stale that are not loaded yet, by their keys. */
type Unloaded = ReadonlyMap<string, unknown>;

/** The views of an outbox by what they show, and the entries that they still show after their delivery. */
class Views {
  readonly byName = new Map<string, EntriesView>();
  readonly unloaded = createStore<Unloaded>(new Map());
}

const views = new WeakMap<Outbox, Views>();

function viewsOf(outbox: Outbox): Views {
  const known = views.get(outbox) ?? new Views();
  views.set(outbox, known);
  return known;
}

/**
 * Goes on showing an entry that is delivered as `sending` until this is loaded which its delivery has made stale, as React
 * Query's mutation is pending until its `onSettled` is: a list of both never lacks it.
 */
export async function showUntil(
  outbox: Outbox,
  { idempotencyKey, data }: Pick<OutboxEntry, 'idempotencyKey' | 'data'>,
  loaded: Promise<unknown>,
): Promise<void> {
  const { getState, set } = viewsOf(outbox).unloaded;
  set(new Map(getState()).set(idempotencyKey, data));
  await loaded.catch(() => {});
  set(new Map([...getState()].filter(([key]) => key !== idempotencyKey)));
}

/** The entries of an outbox that a filter lets through: one for all who ask alike. */
export function entriesView(outbox: Outbox, filter: OutboxFilter): EntriesView {
  const { state = 'sending' } = filter;
  const load = (): ReturnType<Load> => outbox.list(filter);
  return viewOf(outbox, hashKey(['list', filter]), load, state === 'sending');
}

/** The entry with this key, as a list of one or none. */
export function entryView(outbox: Outbox, key: string | undefined): EntriesView {
  const load: Load = async () => {
    const entry = key === undefined ? undefined : await outbox.find(key);
    return entry ? [entry] : [];
  };
  return viewOf(outbox, hashKey(['find', key]), load, true);
}

type Load = () => Promise<readonly OutboxEntry[]>;

function viewOf(outbox: Outbox, name: string, load: Load, isSendingShown: boolean): EntriesView {
  const { byName, unloaded } = viewsOf(outbox);
  const view =
    byName.get(name) ??
    createView(outbox, load, isSendingShown ? unloaded : undefined, () => byName.delete(name));
  byName.set(name, view);
  return view;
}

/** The entries with those, each in its place, that were shown before and are not loaded yet since their delivery. */
function addUnloaded(
  entries: readonly OutboxEntry[],
  before: readonly OutboxEntry[],
  unloaded: Unloaded,
): readonly OutboxEntry[] {
  const all = entries.filter(({ idempotencyKey }) => !unloaded.has(idempotencyKey));
  const over = {
    state: 'sending',
    processed: 'yes',
    nextRetryAt: undefined,
    pause: undefined,
  } as const;
  for (const [place, entry] of before.entries()) {
    const { idempotencyKey: key } = entry;
    if (unloaded.has(key)) all.splice(place, 0, { ...entry, ...over, data: unloaded.get(key) });
  }
  return all;
}

function createView(
  { onChange }: Outbox,
  load: Load,
  unloaded: Readable<Unloaded> | undefined,
  onUnused: () => void,
): EntriesView {
  const { getState, set, subscribe } = createStore<readonly OutboxEntry[] | undefined>(undefined);
  let watchers = 0;
  let loads = 0;
  let latest: readonly OutboxEntry[] | undefined;
  let stop: readonly (() => void)[] = [];
  let known = unloaded?.getState();
  const show = (): void => {
    const [before, entries] = [getState() ?? [], latest];
    if (entries) set(keepSame(getState(), known ? addUnloaded(entries, before, known) : entries));
  };
  const refresh = async (): Promise<void> => {
    loads += 1;
    const mine = loads;
    const entries = await load().catch(() => undefined);
    if (!entries || mine !== loads) return;
    latest = entries;
    show();
  };
  const follow = (): void => {
    const [before, now] = [known, unloaded?.getState()];
    known = now;
    // An entry whose list is loaded goes at once, and not only when the entries are read again.
    latest = latest?.filter(({ idempotencyKey: key }) => now?.has(key) || !before?.has(key));
    show();
  };
  return {
    getState,
    subscribe(listener) {
      const unsubscribe = subscribe(listener);
      watchers += 1;
      if (watchers === 1) {
        stop = [onChange(() => void refresh()), unloaded?.subscribe(follow) ?? (() => {})];
        void refresh();
      }
      return () => {
        unsubscribe();
        watchers -= 1;
        if (watchers > 0) return;
        for (const end of stop) end();
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
