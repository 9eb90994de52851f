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
  /** The database was deleted, or has closed by itself. */
  | 'lost';

/** A database is not there. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError' as const;
  readonly reason: NotDurableReason;
  constructor(reason: NotDurableReason, cause?: unknown) {
    super(`The outbox cannot use IndexedDB: ${reason}.`, { cause });
    this.reason = reason;
  }
}

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
    const database = await ask(request);
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
    if (error instanceof DatabaseError) throw error;
    const { name: kind } = Object(error) as { readonly name?: unknown };
    if (kind === 'VersionError') throw new DatabaseError('newer-version', error);
    throw new DatabaseError(kind === 'QuotaExceededError' ? 'quota' : 'unavailable', error);
  }
}

/** What a failed write says about the database; undefined when it says nothing. */
export function reasonOf(error: unknown): NotDurableReason | undefined {
  try {
    if (error instanceof DatabaseError) return error.reason;
    const { name } = Object(error) as { readonly name?: unknown };
    if (name === 'QuotaExceededError') return 'quota';
    // A connection that was closed throws this at the next transaction.
    return name === 'InvalidStateError' || name === 'NotFoundError' ? 'lost' : undefined;
  } catch {
    // A proxy of somebody else's, that a function of the app has thrown.
    return undefined;
  }
}

/** Settles as a request does. */
export function ask<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error as DOMException));
  });
}

/** Calls `visit` with each place that the cursor comes to, until it returns true or the cursor is through. */
export function walk<C extends IDBCursor>(
  request: IDBRequest<C | null>,
  visit: (cursor: C) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => {
      const cursor = request.result;
      if (!cursor || visit(cursor)) resolve();
    });
    request.addEventListener('error', () => reject(request.error as DOMException));
  });
}

/** Resolves once all that was written is there. */
export function complete(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () =>
      reject(transaction.error ?? new DOMException('The transaction was aborted.', 'AbortError')),
    );
  });
}
