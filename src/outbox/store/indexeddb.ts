import type { Clock } from '../../lib/clock.ts';
import type { Backend, Range, Transaction } from './backend.ts';
import { toWhole } from './damage.ts';
import { DatabaseError, type NotDurableReason, openDatabase } from './open-database.ts';
import { ask, complete, walk } from './requests.ts';
import { createSalvage } from './salvage.ts';
import type { OwnerRecord, Row } from './schema.ts';

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
        return inTime(clock, native, () => work(wrap(native)));
      }),
    write: (durability, work) =>
      insist(async () => {
        const native = begin('readwrite', { durability });
        const done = complete(native);
        // Said by the work or by `done`, whichever is first.
        done.catch(() => {});
        try {
          return await inTime(clock, native, async () => {
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

/**
 * A transaction that has not ended after six times so long is given up: the browser hangs. After the
 * machine has slept, one late look is not enough.
 */
const lookMs = 5000;
const looks = 6;

async function inTime<T>(clock: Clock, native: IDBTransaction, work: () => Promise<T>): Promise<T> {
  let timer: unknown;
  const waitTooLong = async (): Promise<never> => {
    for (let look = 0; look < looks; look += 1)
      await new Promise<void>((over) => {
        timer = clock.setTimeout(over, lookMs);
        clock.unref?.(timer);
      });
    abort(native);
    throw new DatabaseError('blocked');
  };
  const late = waitTooLong();
  try {
    return await Promise.race([work(), late]);
  } finally {
    clock.clearTimeout(timer);
  }
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
