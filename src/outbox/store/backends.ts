import type { Clock } from '../../lib/clock.ts';
import { withLimit } from '../../lib/timer.ts';
import { createSalvage, toWhole } from './damage.ts';
import {
  ask,
  complete,
  DatabaseError,
  type NotDurableReason,
  openDatabase,
  walk,
} from './open-database.ts';
import {
  type Backend,
  type Index,
  indexes,
  type Key,
  type OwnerRecord,
  type Range,
  type Row,
  type Transaction,
} from './schema.ts';

/**
 * Rows on the disk. `onLost` is told once, when the database is taken away later; `onErased` when the
 * browser has found it damaged, and has made it anew.
 *
 * @throws an error (as a rejection, and soon) whose reason `reasonOf` knows.
 */
export async function openIndexedDb(
  name: string,
  clock: Clock,
  onLost: (reason: NotDurableReason) => void = () => {},
  onErased: () => void = () => {},
): Promise<Backend> {
  const database = await openDatabase(name, clock, onLost, onErased);
  const salvage = createSalvage(database, clock);
  const begin = (mode: IDBTransactionMode, options?: IDBTransactionOptions): IDBTransaction =>
    database.transaction(['rows', 'owners'], mode, options);
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
      insist(() => {
        const native = begin('readonly');
        return endInTime(clock, native, () => work(wrap(native)));
      }),
    write: (durability, work) =>
      insist(async () => {
        const native = begin('readwrite', { durability });
        const done = complete(native);
        // Said by the work or by `done`, whichever is first.
        done.catch(() => {});
        try {
          return await endInTime(clock, native, async () => {
            const result = await work(wrap(native));
            // Only now it is there.
            await done;
            return result;
          });
        } catch (error) {
          abort(native);
          // What has aborted it says more than the request that was aborted.
          throw native.error ?? error;
        }
      }),
    close: () => database.close(),
  };
}

/** A transaction that has not ended after so long is given up: the browser hangs. */
const hangsMs = 30_000;

function endInTime<T>(
  clock: Clock,
  native: IDBTransaction,
  work: () => Promise<T>,
): Promise<Awaited<T>> {
  const expire = (): DatabaseError => {
    abort(native);
    return new DatabaseError('blocked');
  };
  return withLimit({ clock }, work, expire, hangsMs);
}

function abort(native: IDBTransaction): void {
  try {
    native.abort();
  } catch {
    // It has aborted by itself.
  }
}

const toKeys = ([first, last = first, isAfter = false]: Range): IDBKeyRange =>
  IDBKeyRange.bound(first, last, isAfter);

function wrap(native: IDBTransaction): Transaction {
  const rows = native.objectStore('rows');
  const owners = native.objectStore('owners');
  return {
    row: async (seq) => {
      const raw = await ask<Row | undefined>(rows.get(seq));
      return raw && toWhole(raw);
    },
    rows: async (index, range, limit) =>
      (await ask<Row[]>(rows.index(index).getAll(toKeys(range), limit))).map(toWhole),
    places: (index, range, limit) =>
      ask(rows.index(index).getAllKeys(toKeys(range), limit)) as Promise<number[]>,
    firstKey: async (index, range) =>
      (await ask(rows.index(index).openKeyCursor(toKeys(range))))?.key as never,
    count: (index, range) => ask((index ? rows.index(index) : rows).count(range && toKeys(range))),
    page: async (index, key, after, limit) => {
      const found =
        key === undefined
          ? await ask<Row[]>(rows.getAll(IDBKeyRange.lowerBound(after, true), limit))
          : await pageOf(rows.index(index), key, after, limit);
      return found.map(toWhole);
    },
    add: (row) => ask(rows.add(row)) as Promise<number>,
    put: (row) => ask(rows.put(row)),
    remove: (seq) => ask(rows.delete(seq)),
    owner: (owner) => ask<OwnerRecord | undefined>(owners.get(owner)),
    owners: () => ask<OwnerRecord[]>(owners.getAll()),
    putOwner: (record) => ask(owners.put(record)),
    removeOwner: (owner) => ask(owners.delete(owner)),
    clear: () => Promise.all([ask(rows.clear()), ask(owners.clear())]),
  };
}

/** An index can say where to go on only to a cursor. */
async function pageOf(
  index: IDBIndex,
  key: string,
  after: number,
  limit: number,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  await walk(index.openCursor(key), (cursor) => {
    if ((cursor.primaryKey as number) <= after) {
      cursor.continuePrimaryKey(key, after + 1);
      return false;
    }
    found.push(cursor.value as Row);
    if (found.length >= limit) return true;
    cursor.continue();
    return false;
  });
  return found;
}

/** Rows of this page alone: what is left where there is no IndexedDB. */
export function createMemoryBackend(): Backend {
  const rows = new Map<number, Row>();
  const owners = new Map<string, OwnerRecord>();
  let lastSeq = 0;
  let turn: Promise<unknown> = Promise.resolve();

  const find = (index: Index, [first, last = first, isAfter = false]: Range) =>
    [...rows.values()]
      .map((row) => ({ row, key: keyOf(row, index) }))
      .filter(
        (one): one is { row: Row; key: Key } =>
          one.key !== undefined &&
          compare(one.key, first) >= (isAfter ? 1 : 0) &&
          compare(one.key, last) <= 0,
      )
      .toSorted((one, other) => compare(one.key, other.key));
  const tx: Transaction = {
    // As on the disk: nobody can change what is kept by changing what he was given.
    row: async (seq) => structuredClone(rows.get(seq)),
    rows: async (index, range, limit) =>
      find(index, range)
        .slice(0, limit)
        .map(({ row }) => structuredClone(row)),
    places: async (index, range, limit) =>
      find(index, range)
        .slice(0, limit)
        .map(({ row }) => row.seq),
    firstKey: async (index, range) => find(index, range)[0]?.key,
    count: async (index, range = [-Infinity, []]) =>
      index ? find(index, range).length : rows.size,
    page: async (index, key, after, limit) =>
      [...rows.values()]
        .filter((row) => row.seq > after && (key === undefined || keyOf(row, index) === key))
        .slice(0, limit)
        .map((row) => structuredClone(row)),
    async add(row) {
      lastSeq += 1;
      rows.set(lastSeq, structuredClone({ ...row, seq: lastSeq }));
      return lastSeq;
    },
    put: async (row) => rows.set(row.seq, structuredClone(row)),
    remove: async (seq) => rows.delete(seq),
    owner: async (owner) => owners.get(owner),
    owners: async () => [...owners.values()],
    putOwner: async (record) => owners.set(record.owner, record),
    removeOwner: async (owner) => owners.delete(owner),
    async clear() {
      rows.clear();
      owners.clear();
    },
  };

  const inTurn = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const result = turn.then(() => work(tx));
    turn = result.catch(() => {});
    return result;
  };
  return {
    isDurable: false,
    read: inTurn,
    write: (_, work) => inTurn(work),
    isSending: (scope) =>
      [...rows.values()].some(({ state, blocks }) => state === 'sending' && blocks === scope),
    close: () => {},
  };
}

/** Undefined where a field of the index is missing: the row is not in it. */
function keyOf(row: Row, index: Index): Key | undefined {
  const keys = [indexes[index]].flat().map((field) => row[field]);
  if (keys.includes(undefined)) return undefined;
  return (keys.length > 1 ? keys : keys[0]) as Key;
}

const rank = (key: Key | undefined): number =>
  ['undefined', 'number', 'string', 'object'].indexOf(typeof key);

/** As IndexedDB orders keys. */
function compare(one: Key | undefined, other: Key | undefined): number {
  if (Array.isArray(one) && Array.isArray(other)) {
    for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
      const order = compare(one[at], other[at]);
      if (order !== 0) return order;
    }
    return 0;
  }
  const [less, more] = [one, other] as [Key, Key];
  return rank(one) - rank(other) || Number(less > more) - Number(less < more);
}
