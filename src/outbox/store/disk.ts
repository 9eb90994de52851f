import type { Clock } from '../../core/lib/clock.ts';
import { ifAllowed } from '../../core/lib/browser/page.ts';
import { untilAborted, withLimit } from '../../core/lib/timer.ts';
import { LargeFields, largeOf, rangeOf, slimDown, type SlimRow } from './large-fields.ts';
import { type Row, setAside } from './row.ts';
import {
  type Database,
  layOut,
  type OwnerRecord,
  type Range,
  stores,
  type Transaction,
} from './schema.ts';
import { texts } from './transitions.ts';

const version = 2;

/** A browser that says nothing for so long is not waited for. */
const patienceMs = 5000;

/** Why nothing is kept on the disk at the moment. */
export type NotDurableReason =
  /** There is no IndexedDB: a private window of some browsers, a sandboxed frame, a server. */
  | 'unavailable'
  /** The disk is full, or the site's share of it. */
  | 'quota'
  /** Another tab, with an earlier version open, does not let go; or the browser does not answer. */
  | 'blocked'
  /** A later version of the app has laid it out anew: this tab must be loaded again. */
  | 'newer-version'
  /** The database was deleted, or its connection has broken: it is opened again. */
  | 'lost';

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError' as const;
  readonly reason: NotDurableReason;
  /** The connection works: what cannot be read or written is one entry. */
  readonly isOfEntry: boolean;
  constructor(reason: NotDurableReason, cause?: unknown, isOfEntry: boolean = false) {
    const { message = reason } = Object(cause) as { readonly message?: unknown };
    super(`The outbox cannot use IndexedDB: ${String(message)}.`, { cause });
    this.reason = reason;
    this.isOfEntry = isOfEntry;
  }
}

const nameOf = (error: unknown): unknown => (Object(error) as { readonly name?: unknown }).name;

/** The error of a request or a transaction. Only a full disk is believed by its name. */
const failed = (cause: unknown): DatabaseError =>
  new DatabaseError(nameOf(cause) === 'QuotaExceededError' ? 'quota' : 'lost', cause);

const findIndexedDb = (): IDBFactory | undefined => ifAllowed(() => indexedDB);

/** Whether this environment has any database at all: else there is nothing in it. */
export const hasIndexedDb = (): boolean => !!findIndexedDb();

async function openDatabase(
  name: string,
  clock: Clock,
  { onErased }: DiskListener,
): Promise<IDBDatabase> {
  const factory = findIndexedDb();
  if (!factory) throw new DatabaseError('unavailable');
  let isLate = false;
  const open = async (): Promise<IDBDatabase> => {
    const request = factory.open(name, version);
    request.addEventListener('upgradeneeded', (event) => {
      layOut(request.result);
      // Only Chromium says so.
      if (Reflect.get(event, 'dataLoss') === 'total') onErased?.();
    });
    const database = await resultOf(() => request);
    if (isLate) database.close();
    return database;
  };
  const expire = (): DatabaseError => {
    isLate = true;
    return new DatabaseError('blocked');
  };
  try {
    return await withLimit({ clock }, open, expire, patienceMs);
  } catch (error) {
    const cause = error instanceof DatabaseError ? (error.cause ?? error) : error;
    if (cause instanceof DatabaseError) throw cause;
    throw new DatabaseError(openFailures.get(nameOf(cause)) ?? 'unavailable', cause);
  }
}

const openFailures = new Map<unknown, NotDurableReason>([
  ['VersionError', 'newer-version'],
  ['QuotaExceededError', 'quota'],
]);

/** Why the disk does not work; undefined where an error says nothing of it. */
export const reasonOf = (error: unknown): NotDurableReason | undefined =>
  error instanceof DatabaseError && !error.isOfEntry ? error.reason : undefined;

/** Calls `act`, and says of what it throws that it is the database's. */
function attempt<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw failed(error);
  }
}

/**
 * Settles as the request that `begin` returns; one for a cursor goes on until `isThrough`.
 *
 * @throws DatabaseError (as a rejection).
 */
function resultOf<T>(
  begin: () => IDBRequest<T>,
  isThrough: (result: T) => boolean = () => true,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = attempt(begin);
    request.addEventListener('success', () => {
      if (attempt(() => isThrough(request.result))) resolve(request.result);
    });
    request.addEventListener('error', () => reject(failed(request.error)));
  });
}

function complete(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(failed(transaction.error)));
  });
}

/** A transaction that has not ended after this time is given up: the browser hangs. */
const hangsMs = 30_000;
/** Whether a connection works at all is found out within this time. */
const probeMs = 5000;

export interface DiskListener {
  readonly onLost?: (reason: NotDurableReason) => void;
  /** The browser has found the database damaged, and has made it anew. */
  readonly onErased?: () => void;
  /** The remains of a row that could not be read. */
  readonly onSetAside?: (left: Row) => void;
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
): Promise<Database> {
  return new Disk(await openDatabase(name, clock, listener), clock, listener);
}

/**
 * A connection to the database. One that fails is replaced, not used again. An error's name is not its cause:
 * after an error, each kind of request is tried once with nothing of an entry's in it. If they all work, the
 * entry is what cannot be read or written; if not, the connection is over.
 */
class Disk implements Database {
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
    // A later version wants it, or it is being deleted: holding on would hang that.
    database.addEventListener('versionchange', ({ newVersion }) =>
      this.#end(newVersion === null ? 'lost' : 'newer-version'),
    );
    database.addEventListener('close', () => this.#end('lost'));
  }

  readonly read: Database['read'] = (work) => this.#insist('readonly', {}, work);

  readonly write: Database['write'] = (durability, work) =>
    durability === 'page' ? this.read(work) : this.#insist('readwrite', { durability }, work);

  readonly close = (): void => {
    this.#over.abort(new DatabaseError('lost'));
    this.#database.close();
  };

  #end(reason: NotDurableReason): void {
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
    if (!(error instanceof DatabaseError && error.isOfEntry)) return false;
    const gone = await this.#salvage.findGone(error.cause);
    const nowMs = this.#clock.now();
    for (const seq of gone) {
      const left = setAside(seq, await this.#salvage.known(seq), nowMs);
      await this.#run('readwrite', { durability: 'strict' }, (tx) => tx.put(left));
      this.#listener.onSetAside?.(left);
    }
    return gone.length > 0;
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
      native = attempt(() => this.#database.transaction(stores, mode, options));
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
      // The error that has aborted the transaction says more than that of a request in it.
      const cause = nameOf(native?.error) === 'QuotaExceededError' ? native?.error : error.cause;
      throw await this.#explain(error.reason === 'blocked', cause);
    }
  }

  async #explain(isHanging: boolean, cause: unknown): Promise<DatabaseError> {
    const isQuota = nameOf(cause) === 'QuotaExceededError';
    if (!isHanging && (await this.#isAlive(isQuota)))
      return new DatabaseError(isQuota ? 'quota' : 'unavailable', cause, !isQuota);
    const reason = isHanging ? 'blocked' : 'lost';
    this.#end(reason);
    return new DatabaseError(reason, cause);
  }

  /** Whether requests of each kind work. A full disk has no room for a record. */
  #isAlive(isFull: boolean): Promise<boolean> {
    const probe = async (): Promise<boolean> => {
      const mode = isFull ? 'readonly' : 'readwrite';
      const native = this.#database.transaction(stores, mode);
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
    // The transaction has aborted by itself.
  }
}

const toKeys = ([first, last = first, isAfter = false]: Range): IDBKeyRange =>
  IDBKeyRange.bound(first, last, isAfter);

function wrap(native: IDBTransaction): Transaction & {
  readonly probe: (record: OwnerRecord) => Promise<unknown>;
} {
  const rows = attempt(() => native.objectStore('rows'));
  const owners = attempt(() => native.objectStore('owners'));
  const apart = attempt(() => native.objectStore('large'));
  const large = new LargeFields(apart, resultOf);
  const join = async (found: Promise<readonly SlimRow[]>): Promise<readonly Row[]> =>
    Promise.all((await found).map((slim) => large.join(slim)));
  const put = (row: Row): Promise<unknown> => {
    // Begun at once, in the order of the calls.
    const { slim, written } = large.split(row);
    return Promise.all([...written, resultOf(() => rows.put(slim))]);
  };
  return {
    async row(seq) {
      const slim = await resultOf<SlimRow | undefined>(() => rows.get(seq));
      return slim && large.join(slim);
    },
    rows: (index, range, limit) =>
      join(resultOf<SlimRow[]>(() => rows.index(index).getAll(toKeys(range), limit))),
    places: (index, range, limit) =>
      resultOf(() => rows.index(index).getAllKeys(toKeys(range), limit)) as Promise<number[]>,
    firstKey: async (index, range) =>
      (await resultOf(() => rows.index(index).openKeyCursor(toKeys(range))))?.key as never,
    count: (index, range) =>
      resultOf(() => (index ? rows.index(index) : rows).count(range && toKeys(range))),
    page: (index, key, after, limit) =>
      join(
        key === undefined
          ? resultOf<SlimRow[]>(() => rows.getAll(IDBKeyRange.lowerBound(after, true), limit))
          : pageOf(rows.index(index), key, after, limit),
      ),
    async add(row) {
      const fields = largeOf(row);
      const seq = (await resultOf(() => rows.add(slimDown(row, fields)))) as number;
      if (fields[0]) await put({ ...row, seq });
      return seq;
    },
    put,
    remove: (seq) => Promise.all([...large.remove(seq), resultOf(() => rows.delete(seq))]),
    owner: (owner) => resultOf<OwnerRecord | undefined>(() => owners.get(owner)),
    owners: () => resultOf<OwnerRecord[]>(() => owners.getAll()),
    putOwner: (record) => resultOf(() => owners.put(record)),
    removeOwner: (owner) => resultOf(() => owners.delete(owner)),
    clear: () => Promise.all([rows, owners, apart].map((store) => resultOf(() => store.clear()))),
    async probe(record) {
      await resultOf(() => owners.put(record));
      await resultOf(() => owners.delete(record.owner));
      await resultOf(() => owners.add(record));
      await resultOf(() => owners.delete(record.owner));
    },
  };
}

/** An index can say where to go on only to a cursor. */
async function pageOf(
  index: IDBIndex,
  key: string,
  after: number,
  limit: number,
): Promise<readonly SlimRow[]> {
  const found: SlimRow[] = [];
  await resultOf(
    () => index.openCursor(key),
    (cursor) => {
      if (!cursor) return true;
      if ((cursor.primaryKey as number) <= after) {
        cursor.continuePrimaryKey(key, after + 1);
        return false;
      }
      found.push(cursor.value as SlimRow);
      if (found.length >= limit) return true;
      cursor.continue();
      return false;
    },
  );
  return found;
}

/** A row that fails for a reason that may pass is tried for so long. */
const passesMs = 60_000;
/** All rows are read one by one no more often. */
const gapMs = 10_000;
/** Failures that lie so far apart are not one. */
const apartMs = 600_000;

/** Finds the rows that the browser cannot read any more, where an error may be theirs. */
class Salvage {
  readonly #database: IDBDatabase;
  readonly #clock: Clock;
  readonly #failingSince: Map<number, number> = new Map();
  #triedAt = -Infinity;

  constructor(database: IDBDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async findGone(error: unknown): Promise<readonly number[]> {
    const agoMs = this.#clock.now() - this.#triedAt;
    const isEarly = agoMs >= 0 && agoMs < gapMs;
    if (!isSure(error) && (mayPass(error) || isEarly)) return [];
    this.#triedAt = this.#clock.now();
    if (agoMs < 0 || agoMs > apartMs) this.#failingSince.clear();
    const gone: number[] = [];
    for (const seq of (await resultOf(() => this.#rows().getAllKeys())) as number[])
      if (await this.#isGone(seq)) gone.push(seq);
    return gone;
  }

  #rows(): IDBObjectStore {
    return this.#database.transaction('rows').objectStore('rows');
  }

  async #isGone(seq: number): Promise<boolean> {
    try {
      const native = this.#database.transaction(stores);
      await resultOf(() => native.objectStore('rows').get(seq));
      await resultOf(() => native.objectStore('large').getAll(rangeOf(seq)));
      this.#failingSince.delete(seq);
      return false;
    } catch (thrown) {
      const { cause: error } = thrown as Error;
      if (isSure(error)) return true;
      if (mayPass(error)) return false;
      const since = this.#failingSince.get(seq) ?? this.#clock.now();
      this.#failingSince.set(seq, since);
      return this.#clock.now() - since >= passesMs;
    }
  }

  /** The fields by which it is in the indexes. */
  async known(seq: number): Promise<Partial<Row>> {
    const rows = this.#rows();
    const known: Record<string, unknown> = {};
    for (const index of Array.from(rows.indexNames, (name) => rows.index(name)))
      await resultOf(
        () => index.openKeyCursor(),
        (cursor) => {
          if (cursor && cursor.primaryKey !== seq) {
            cursor.continue();
            return false;
          }
          // An index of several fields has none that a dead letter needs.
          if (cursor && typeof index.keyPath === 'string') known[index.keyPath] = cursor.key;
          return true;
        },
      );
    return known;
  }
}

/** The standard's name for a record that is there and whose file is gone. */
const isSure = (error: unknown): boolean => nameOf(error) === 'NotReadableError';
/** Chromium says so where only its memory is short; of other browsers it is not known. */
const mayPass = (error: unknown): boolean =>
  String(Object(error).message).includes('Failed to read large IndexedDB value');
