import type { IDBPTransaction } from 'idb';
import type { Clock } from '../lib/clock.ts';
import type { Backend, Transaction } from './backend.ts';
import type { OutboxDatabase, OutboxSchema } from './database-layout.ts';
import type { NewRow, Row, RowState } from './row.ts';
import { createSalvage } from './salvage.ts';

const stores = ['rows', 'owners'] as const;
type Stores = typeof stores;
type Native<M extends 'readonly' | 'readwrite'> = IDBPTransaction<OutboxSchema, Stores, M>;

export function createIdbBackend(database: OutboxDatabase, clock: Clock): Backend {
  const salvage = createSalvage(database, clock);
  /** Once more, where what was in its way is salvaged. */
  const insist = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      if (await salvage(error)) return act();
      throw error;
    }
  };
  return {
    isDurable: true,
    read: (work) =>
      insist(async () => {
        const native = database.transaction(stores, 'readonly');
        // Said by the work.
        native.done.catch(() => {});
        return work(wrap(native));
      }),
    write: (durability, work) =>
      insist(async () => {
        const native = database.transaction(stores, 'readwrite', { durability });
        // Said by the work or by `done`, whichever is first.
        native.done.catch(() => {});
        let result;
        try {
          result = await work(wrap(native));
        } catch (error) {
          abort(native);
          // What has aborted it says more than the request that was aborted.
          throw native.error ?? error;
        }
        // Only now it is there.
        await native.done;
        return result;
      }),
    close: () => database.close(),
  };
}

function abort(native: Native<'readwrite'>): void {
  try {
    native.abort();
  } catch {
    // It has aborted by itself.
  }
}

function wrap(native: Native<'readonly'> | Native<'readwrite'>): Transaction {
  // One type for both modes: a transaction that only reads is never asked to write.
  const writable = native as Native<'readwrite'>;
  const rows = writable.objectStore('rows');
  const owners = writable.objectStore('owners');
  const until = (owner: string, nowMs: number): IDBKeyRange =>
    IDBKeyRange.bound([owner], [owner, nowMs]);
  const later = (key: readonly string[], nowMs: number): IDBKeyRange =>
    IDBKeyRange.bound([...key, nowMs], [...key, []], true);
  /** An index can say where to go on only to a cursor. */
  const page = async (
    index: 'state' | 'deadReason' | 'waitsFor',
    value: string,
    after: number,
    limit: number,
  ): Promise<readonly Row[]> => {
    const found: Row[] = [];
    let cursor = await rows.index(index).openCursor(value);
    if (cursor && cursor.primaryKey <= after)
      cursor = await cursor.continuePrimaryKey(value, after + 1);
    while (cursor) {
      found.push(cursor.value);
      if (found.length >= limit) break;
      cursor = await cursor.continue();
    }
    return found;
  };
  return {
    row: (seq) => rows.get(seq),
    rowById: (id) => rows.index('id').get(id),
    add: (row: NewRow) => rows.add(row as Row),
    put: (row) => rows.put(row),
    remove: (seq) => rows.delete(seq),
    headOf: (scope) => rows.index('blocks').get(scope),
    async lanes(owner) {
      const names: string[] = [];
      let cursor = await rows.index('lanes').openKeyCursor(IDBKeyRange.bound([owner], [owner, []]));
      while (cursor) {
        const [, lane] = cursor.key;
        names.push(lane);
        // Beyond all of its times.
        cursor = await cursor.continue([owner, lane, []] as never);
      }
      return names;
    },
    due: (owner, lane, nowMs, limit) =>
      rows.index('lanes').getAllKeys(IDBKeyRange.bound([owner, lane], [owner, lane, nowMs]), limit),
    nextDueAt: async (owner, lane, nowMs) =>
      (await rows.index('lanes').openKeyCursor(later([owner, lane], nowMs)))?.key[2],
    planned: (owner, lane, nowMs, limit) =>
      lane === undefined
        ? rows.index('due').getAll(later([owner], nowMs), limit)
        : rows.index('lanes').getAll(later([owner, lane], nowMs), limit),
    countDue: (owner, nowMs) => rows.index('due').count(until(owner, nowMs)),
    postdated: (owner, nowMs, limit) => rows.index('planned').getAll(later([owner], nowMs), limit),
    hasLive: async (owner) => (await rows.index('liveOwner').getKey(owner)) !== undefined,
    async list(state, after, limit) {
      const beyond = IDBKeyRange.lowerBound(after, true);
      if (state === undefined) return rows.getAll(beyond, limit);
      return page('state', state, after, limit);
    },
    count: (state) => rows.index('state').count(state),
    tooNew: (after, limit) => page('waitsFor', 'newer-version', after, limit),
    dead: (reason, after, limit) => page('deadReason', reason, after, limit),
    doneBefore: (ms, limit) =>
      rows.index('doneAt').getAllKeys(IDBKeyRange.upperBound(ms, true), limit),
    async hasStrays() {
      const of = (state: RowState): Promise<number> => rows.index('state').count(state);
      const live = rows.index('liveOwner');
      const known = await owners.getAll();
      const [all, done, dead, pending, sending, waiting, timed, inLanes, owned, ...ofOwners] =
        await Promise.all([
          rows.count(),
          of('done'),
          of('dead'),
          of('pending'),
          of('sending'),
          rows.index('waitsFor').count(),
          rows.index('due').count(),
          rows.index('lanes').count(),
          live.count(),
          ...known.map(({ owner }) => live.count(owner)),
        ]);
      const isAllFound =
        all === done + dead + pending + sending &&
        pending + sending === owned + waiting &&
        timed === inLanes &&
        owned === ofOwners.reduce((sum, count) => sum + count, 0);
      return !isAllFound;
    },
    owner: (owner) => owners.get(owner),
    owners: () => owners.getAll(),
    putOwner: (record) => owners.put(record),
    removeOwner: (owner) => owners.delete(owner),
    clear: () => Promise.all([rows.clear(), owners.clear()]),
  };
}
