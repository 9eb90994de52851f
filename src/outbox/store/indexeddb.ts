import type { Clock } from '../../lib/clock.ts';
import { waitForStillness } from '../../lib/wait.ts';
import { toWhole } from './damage.ts';
import {
  ask,
  complete,
  DatabaseError,
  type NotDurableReason,
  openDatabase,
  walk,
} from './open-database.ts';
import type { Backend, OwnerRecord, Range, Row, Transaction } from './schema.ts';

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

/** A transaction that has not ended after so long is given up: the browser hangs. */
const hangsMs = 30_000;

async function inTime<T>(clock: Clock, native: IDBTransaction, work: () => Promise<T>): Promise<T> {
  const { promise, stop } = waitForStillness(clock, hangsMs, () => 0);
  const late = promise.then(() => {
    abort(native);
    throw new DatabaseError('blocked');
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    stop();
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

/** What fails for a reason that may pass is tried for so long. */
const patienceMs = 60_000;
/** All rows are read one by one no more often. */
const gapMs = 10_000;
/** Failures that lie so far apart are not one. */
const apartMs = 600_000;

/**
 * Takes an error of the database. Where rows have caused it that the browser cannot read any more, they are
 * replaced by what their indexes know of them; all else of them is gone. @returns whether there were any.
 */
type Salvage = (error: unknown) => Promise<boolean>;

function createSalvage(database: IDBDatabase, clock: Clock): Salvage {
  const failingSince = new Map<number, number>();
  let triedAt = -Infinity;

  const isGone = async (seq: number): Promise<boolean> => {
    try {
      await ask(database.transaction('rows').objectStore('rows').get(seq));
      failingSince.delete(seq);
      return false;
    } catch (error) {
      if (isSure(error)) return true;
      if (mayPass(error)) return false;
      const since = failingSince.get(seq) ?? clock.now();
      failingSince.set(seq, since);
      return clock.now() - since >= patienceMs;
    }
  };

  return async (error) => {
    const agoMs = clock.now() - triedAt;
    const isEarly = agoMs >= 0 && agoMs < gapMs;
    if (!isSure(error) && (nameOf(error) !== 'UnknownError' || mayPass(error) || isEarly))
      return false;
    triedAt = clock.now();
    if (agoMs < 0 || agoMs > apartMs) failingSince.clear();
    let isAny = false;
    const all = ask(database.transaction('rows').objectStore('rows').getAllKeys());
    for (const seq of (await all) as number[]) {
      if (!(await isGone(seq))) continue;
      await replace(database, seq, clock.now());
      isAny = true;
    }
    return isAny;
  };
}

const nameOf = (error: unknown): string => String(Object(error).name);
/** The standard's name for a record that is there and whose file is gone. */
const isSure = (error: unknown): boolean => nameOf(error) === 'NotReadableError';
/** Chromium says so where only its memory is short; of other browsers it is not known. */
const mayPass = (error: unknown): boolean =>
  String(Object(error).message).includes('Failed to read large IndexedDB value');

async function replace(database: IDBDatabase, seq: number, nowMs: number): Promise<void> {
  const transaction = database.transaction('rows', 'readwrite', { durability: 'strict' });
  const store = transaction.objectStore('rows');
  const known: Record<string, unknown> = {};
  for (const name of store.indexNames) {
    const index = store.index(name);
    const paths = [index.keyPath].flat();
    await walk(index.openKeyCursor(), (cursor) => {
      if (cursor.primaryKey !== seq) {
        cursor.continue();
        return false;
      }
      for (const [place, key] of [cursor.key].flat().entries()) known[paths[place] ?? ''] = key;
      return true;
    });
  }
  const { plannedAt, blocks } = known as Partial<Row>;
  // Whoever reads it makes it whole.
  store.put({
    createdAt: plannedAt ?? nowMs,
    ...(blocks !== undefined && { scope: blocks }),
    ...known,
    // Nobody knows any more.
    isInDoubt: true,
    isGone: true,
    seq,
  });
  await complete(transaction);
}
