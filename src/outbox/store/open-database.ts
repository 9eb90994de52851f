import type { Clock } from '../../lib/clock.ts';
import { withLimit } from '../../lib/timer.ts';
import { layOut } from './schema.ts';

/** Of the database's layout. */
const version = 1;

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

/** The database does not do what it is asked. */
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

const world = globalThis as Partial<typeof globalThis>;

/** Whether this environment has any database at all: else there is nothing in it. */
export const hasIndexedDb = (): boolean => !!world.indexedDB;

/** Opens the database, or rejects soon. @see openIndexedDb */
export async function openDatabase(
  name: string,
  clock: Clock,
  onLost: (reason: NotDurableReason) => void,
  onErased: () => void,
): Promise<IDBDatabase> {
  const { indexedDB } = world;
  if (!indexedDB) throw new DatabaseError('unavailable');
  let isLate = false;
  const open = async (): Promise<IDBDatabase> => {
    const request = indexedDB.open(name, version);
    request.addEventListener('upgradeneeded', (event) => {
      layOut(request.result);
      // Only Chromium says so.
      if (Reflect.get(event, 'dataLoss') === 'total') onErased();
    });
    const database = await ask(() => request);
    if (isLate) database.close();
    return database;
  };
  const expire = (): DatabaseError => {
    isLate = true;
    return new DatabaseError('blocked');
  };
  try {
    const database = await withLimit({ clock }, open, expire, patienceMs);
    database.addEventListener('versionchange', ({ newVersion }) => {
      // A later version wants it, or somebody deletes it: holding on would hang them.
      database.close();
      onLost(newVersion === null ? 'lost' : 'newer-version');
    });
    database.addEventListener('close', () => onLost('lost'));
    return database;
  } catch (error) {
    const cause = error instanceof DatabaseError ? (error.cause ?? error) : error;
    if (cause instanceof DatabaseError) throw cause;
    if (nameOf(cause) === 'VersionError') throw new DatabaseError('newer-version', cause);
    throw new DatabaseError(
      nameOf(cause) === 'QuotaExceededError' ? 'quota' : 'unavailable',
      cause,
    );
  }
}

/** Why the disk does not work; undefined where an error says nothing of it. */
export const reasonOf = (error: unknown): NotDurableReason | undefined =>
  error instanceof DatabaseError && !error.isOfEntry ? error.reason : undefined;

/** Calls `act`, and says of what it throws that it is the database's. */
export function attempt<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw failed(error);
  }
}

/** Settles as the request that `begin` returns. @throws DatabaseError (as a rejection). */
export function ask<T>(begin: () => IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = attempt(begin);
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(failed(request.error)));
  });
}

/** Calls `visit` with each place that the cursor comes to, until it returns true or the cursor is through. */
export function walk<C extends IDBCursor>(
  begin: () => IDBRequest<C | null>,
  visit: (cursor: C) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = attempt(begin);
    request.addEventListener('success', () => {
      const cursor = request.result;
      if (!cursor || attempt(() => visit(cursor))) resolve();
    });
    request.addEventListener('error', () => reject(failed(request.error)));
  });
}

/** Resolves once all that was written is there. @throws DatabaseError (as a rejection). */
export function complete(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(failed(transaction.error)));
  });
}
