import type { Clock } from '../../lib/clock.ts';
import { untilAborted, withLimit } from '../../lib/timer.ts';
import {
  ask,
  attempt,
  complete,
  DatabaseError,
  type NotDurableReason,
  openDatabase,
  walk,
} from './open-database.ts';
import { parseRow, type Row, setAside } from './row.ts';
import {
  type Backend,
  type Index,
  type Key,
  type OwnerRecord,
  type Range,
  type Transaction,
  indexes,
} from './schema.ts';
import { texts, unblock } from './transitions.ts';
import { Salvage } from './salvage.ts';

/** A transaction that has not ended after this time is given up: the browser hangs. */
const hangsMs = 30_000;
/** Whether a connection works at all is found out within this time. */
const probeMs = 5000;

/** Is told what becomes of a connection. */
export interface DiskListener {
  /** It is of no use any more. Called once. */
  readonly onLost?: (reason: NotDurableReason) => void;
  /** The browser has found the database damaged, and has made it anew. */
  readonly onErased?: () => void;
  /** What is left of a row that could not be read, and whose turn has come by that. */
  readonly onSetAside?: (left: Row, next: Row | undefined) => void;
}

/**
 * Rows on the disk.
 *
 * @throws DatabaseError (as a rejection, and soon).
 */
export async function openIndexedDb(
  name: string,
  clock: Clock,
  listener: DiskListener = {},
): Promise<Backend> {
  const made: { disk?: Disk } = {};
  const end = (reason: NotDurableReason): void => made.disk?.end(reason);
  const database = await openDatabase(name, clock, end, () => listener.onErased?.());
  made.disk = new Disk(database, clock, listener);
  return made.disk;
}

/** Rows that were read, and are none: by their places, and what is there. */
class DamagedError extends Error {
  readonly rows: ReadonlyMap<number, unknown>;
  constructor(rows: ReadonlyMap<number, unknown>) {
    super('A row of the outbox is damaged.');
    this.rows = rows;
  }
}

/** @throws DamagedError where one of them is none. */
function parseAll(read: readonly unknown[]): readonly Row[] {
  const rows = read.map(parseRow);
  if (rows.every((row) => row !== undefined)) return rows;
  const damaged = read.filter((_, at) => !rows[at]);
  throw new DamagedError(new Map(damaged.map((raw) => [(raw as Row).seq, raw])));
}

/**
 * A connection to the database. One that fails is replaced, not used again. An error's name is not its cause:
 * after an error, each kind of request is tried once with nothing of an entry's in it. If they all work, the
 * entry is what cannot be read or written; if not, the connection is over.
 */
class Disk implements Backend {
  readonly isDurable = true;
  readonly #database: IDBDatabase;
  readonly #clock: Clock;
  readonly #listener: DiskListener;
  readonly #over: AbortController = new AbortController();
  readonly #salvage: Salvage;
  #probing: Promise<boolean> | undefined;

  constructor(database: IDBDatabase, clock: Clock, listener: DiskListener) {
    this.#database = database;
    this.#clock = clock;
    this.#listener = listener;
    this.#salvage = new Salvage(database, clock);
  }

  readonly read: Backend['read'] = (work) => this.#insist('readonly', {}, work);

  readonly write: Backend['write'] = (durability, work) =>
    this.#insist('readwrite', { durability }, work);

  readonly close = (): void => {
    this.#over.abort(new DatabaseError('lost'));
    this.#database.close();
  };

  /** It is of no use any more. */
  end(reason: NotDurableReason): void {
    if (this.#over.signal.aborted) return;
    this.close();
    this.#listener.onLost?.(reason);
  }

  /** Once more, where what was in its way is set aside. */
  async #insist<T>(
    mode: IDBTransactionMode,
    options: IDBTransactionOptions,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      try {
        return await this.#run(mode, options, work);
      } catch (error) {
        if (!(await this.#setAside(error))) throw error;
      }
    }
  }

  /** Sets the rows aside that an error is of. @returns whether there are any. */
  async #setAside(error: unknown): Promise<boolean> {
    const known = new Map(error instanceof DamagedError ? error.rows : []);
    if (error instanceof DatabaseError && error.isOfEntry)
      for (const seq of await this.#salvage.findGone(error.cause))
        known.set(seq, await this.#salvage.known(seq));
    const nowMs = this.#clock.now();
    for (const [seq, raw] of known) {
      const fields = raw as Readonly<Record<string, unknown>>;
      const left = setAside(seq, fields, nowMs);
      await this.#run('readwrite', { durability: 'strict' }, (tx) => tx.put(left));
      const next = await this.write('relaxed', (tx) => unblock(tx, left.scope, nowMs));
      this.#listener.onSetAside?.(left, next);
    }
    return known.size > 0;
  }

  async #run<T>(
    mode: IDBTransactionMode,
    options: IDBTransactionOptions,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const { signal } = this.#over;
    if (signal.aborted) throw signal.reason;
    let native: IDBTransaction | undefined;
    try {
      native = attempt(() => this.#database.transaction(['rows', 'owners'], mode, options));
      const begun = inTransaction(native, work);
      const expire = (): DatabaseError => new DatabaseError('blocked');
      return await withLimit(
        { clock: this.#clock },
        () => untilAborted(signal, begun),
        expire,
        hangsMs,
      );
    } catch (error) {
      if (native) abort(native);
      if (!(error instanceof DatabaseError) || signal.aborted) throw error;
      // What has aborted the transaction says more than the request that was aborted with it.
      const cause = nameOf(native?.error) === 'QuotaExceededError' ? native?.error : error.cause;
      throw await this.#explain(error.reason === 'blocked', cause);
    }
  }

  async #explain(isHanging: boolean, cause: unknown): Promise<DatabaseError> {
    const isQuota = nameOf(cause) === 'QuotaExceededError';
    if (!isHanging && (await this.#isAlive(isQuota)))
      return new DatabaseError(isQuota ? 'quota' : 'unavailable', cause, !isQuota);
    const reason = isHanging ? 'blocked' : 'lost';
    this.end(reason);
    return new DatabaseError(reason, cause);
  }

  /** Whether requests of each kind work. A full disk has no room for a record. */
  #isAlive(isFull: boolean): Promise<boolean> {
    const probe = async (): Promise<boolean> => {
      const mode = isFull ? 'readonly' : 'readwrite';
      const native = this.#database.transaction(['rows', 'owners'], mode);
      await inTransaction(native, async (tx) => {
        const { owner } = probeRecord;
        if (!isFull) await tx.probe(probeRecord);
        await Promise.all([tx.owner(owner), tx.row(0), tx.count(), tx.rows('id', [owner], 1)]);
        await Promise.all([tx.firstKey('id', texts), tx.places('id', texts, 1)]);
      });
      return true;
    };
    this.#probing ??= withLimit({ clock: this.#clock }, probe, () => new Error(), probeMs)
      .catch(() => false)
      .finally(() => (this.#probing = undefined));
    return this.#probing;
  }
}

const probeRecord: OwnerRecord = { owner: 'probe', token: '', signedAt: 0 };
const nameOf = (error: unknown): unknown => (Object(error) as { readonly name?: unknown }).name;

/** Does the work, and resolves once all of it is there. */
async function inTransaction<T>(
  native: IDBTransaction,
  work: (tx: ReturnType<typeof wrap>) => Promise<T>,
): Promise<T> {
  if (native.mode === 'readonly') return work(wrap(native));
  const done = complete(native);
  // Said by the work or by `done`, whichever is first.
  done.catch(() => {});
  // A transaction that is aborted may say nothing of its requests.
  const isAborted = new Promise<never>((_, reject) => void done.catch(reject));
  const result = await Promise.race([work(wrap(native)), isAborted]);
  await done;
  return result;
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

function wrap(native: IDBTransaction): Transaction & {
  readonly probe: (record: OwnerRecord) => Promise<unknown>;
} {
  const rows = attempt(() => native.objectStore('rows'));
  const owners = attempt(() => native.objectStore('owners'));
  return {
    async row(seq) {
      const raw: unknown = await ask(() => rows.get(seq));
      return raw === undefined ? undefined : parseAll([raw])[0];
    },
    rows: async (index, range, limit) =>
      parseAll(await ask(() => rows.index(index).getAll(toKeys(range), limit))),
    places: (index, range, limit) =>
      ask(() => rows.index(index).getAllKeys(toKeys(range), limit)) as Promise<number[]>,
    firstKey: async (index, range) =>
      (await ask(() => rows.index(index).openKeyCursor(toKeys(range))))?.key as never,
    count: (index, range) =>
      ask(() => (index ? rows.index(index) : rows).count(range && toKeys(range))),
    page: async (index, key, after, limit) => {
      const found =
        key === undefined
          ? await ask(() => rows.getAll(IDBKeyRange.lowerBound(after, true), limit))
          : await pageOf(rows.index(index), key, after, limit);
      return parseAll(found);
    },
    add: (row) => ask(() => rows.add(row)) as Promise<number>,
    put: (row) => ask(() => rows.put(row)),
    remove: (seq) => ask(() => rows.delete(seq)),
    owner: (owner) => ask<OwnerRecord | undefined>(() => owners.get(owner)),
    owners: () => ask<OwnerRecord[]>(() => owners.getAll()),
    putOwner: (record) => ask(() => owners.put(record)),
    removeOwner: (owner) => ask(() => owners.delete(owner)),
    clear: () => Promise.all([ask(() => rows.clear()), ask(() => owners.clear())]),
    async probe(record) {
      await ask(() => owners.put(record));
      await ask(() => owners.delete(record.owner));
      await ask(() => owners.add(record));
      await ask(() => owners.delete(record.owner));
    },
  };
}

/** An index can say where to go on only to a cursor. */
async function pageOf(
  index: IDBIndex,
  key: string,
  after: number,
  limit: number,
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  await walk(
    () => index.openCursor(key),
    (cursor) => {
      if ((cursor.primaryKey as number) <= after) {
        cursor.continuePrimaryKey(key, after + 1);
        return false;
      }
      found.push(cursor.value);
      if (found.length >= limit) return true;
      cursor.continue();
      return false;
    },
  );
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
