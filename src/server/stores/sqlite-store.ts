import { systemClock } from '../../core/lib/clock.ts';
import { checkNames, isFunction, rejectValue } from '../../core/lib/input/check.ts';
import { lendHandle } from './lend.ts';
import {
  type ClaimResult,
  type IdempotencyStore,
  type KeyRow,
  refusalOf,
  type StoredAnswer,
} from './store.ts';

/** The part of a prepared statement that the store uses. */
interface SqliteStatement {
  get(...values: (string | number)[]): unknown;
  run(...values: (string | number | Uint8Array)[]): { readonly changes: number | bigint };
}

/** The part of a synchronous SQLite handle that the store uses. `DatabaseSync` of node:sqlite has it. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
}

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** The name of the table. The store creates it. @default 'idempotency_keys' */
  readonly table?: string | undefined;
}

/**
 * Stores keys and answers in SQLite, in the same transaction as the handler's writes with `tx`, which is the
 * database handle. Several processes may share the file.
 *
 * Use the handle for this store only. SQLite has one transaction at a time, and a handler's transaction lasts
 * until it answers: all other requests wait meanwhile, even in other processes. They wait without blocking
 * the event loop, so the store sets the handle's `busy_timeout` to 0. `tx` throws once its transaction has
 * ended.
 *
 * @throws TypeError if the name of the table has characters other than letters, digits and underscores, or
 * another store uses the handle.
 *
 * @example
 * ```ts
 * import { DatabaseSync } from 'node:sqlite';
 * import { idempotent, sqliteStore } from 'steadfetch/server';
 *
 * const db = new DatabaseSync('shop.db', { timeout: 5000 });
 * export const placeOrder = idempotent(
 *   async (request, { tx }) => {
 *     const { article } = (await request.json()) as { article: string };
 *     const { lastInsertRowid } = tx.prepare('INSERT INTO orders (article) VALUES (?)').run(article);
 *     return Response.json({ id: Number(lastInsertRowid) }, { status: 201 });
 *   },
 *   { store: sqliteStore(db) },
 * );
 * ```
 */
export function sqliteStore<Db extends SqliteDatabase>(
  db: Db,
  options: SqliteStoreOptions = {},
): IdempotencyStore<Db> {
  const table = checkStore(db, options);
  if (inUse.has(db)) throw new TypeError(handleInUse);
  inUse.add(db);
  openTable(db, table);
  const sql = prepareStatements(db, table);
  // Known without reading the file, which may be in the middle of a transaction.
  const running = new Map<string, string>();
  const enqueue = createQueue();
  return {
    async claim({ id, fingerprint, token, nowMs, leaseMs, lifetimeMs }) {
      const holder = running.get(id);
      if (holder !== undefined) return { kind: 'running', fingerprint: holder };
      const giveUpAt = systemClock.now() + leaseMs;
      const take = (): ClaimResult => {
        sql.dropExpired.run(nowMs);
        const until = [nowMs + leaseMs, nowMs + lifetimeMs] as const;
        const taken = sql.take.run(id, fingerprint, token, ...until, nowMs, nowMs);
        if (Number(taken.changes) !== 1)
          return refusalOf(sql.find.get(id) as KeyRow | undefined, fingerprint);
        running.set(id, fingerprint);
        return { kind: 'claimed' };
      };
      return enqueue(() => whenUnlocked(giveUpAt, take));
    },

    run({ id, token, leaseMs }, work) {
      const inLease = (): number => systemClock.now() + leaseMs;
      const giveUpAt = inLease();
      return enqueue(async () => {
        let [isHeld, isCommitted] = [true, false];
        const { tx, takeBack } = lendHandle(db, 'sqliteStore');
        try {
          // Immediate, because a lock requested at the first write may be refused at once.
          await whenUnlocked(giveUpAt, () => db.exec('BEGIN IMMEDIATE'));
          try {
            sql.mark.run(id, token);
            const answer = await work(tx).finally(takeBack);
            if (answer) {
              isHeld = keepAnswer(sql, id, token, answer);
              // Without a write-ahead log the commit waits for readers.
              if (isHeld) await whenUnlocked(inLease(), () => db.exec('COMMIT'));
              isCommitted = isHeld;
            }
          } finally {
            if (!isCommitted) rollBack(db);
          }
        } finally {
          running.delete(id);
          if (!isCommitted) await whenUnlocked(inLease(), () => sql.free.run(id, token));
        }
        return isHeld;
      });
    },
  };
}

/** @returns the name of the table. */
function checkStore(db: unknown, options: SqliteStoreOptions): string {
  if (!isFunction(Object(db).prepare))
    rejectValue(
      'sqliteStore',
      'its first argument',
      db,
      'a handle, such as new DatabaseSync(path)',
    );
  checkNames('sqliteStore', options, ['table']);
  const { table = 'idempotency_keys' } = options;
  if (!/^\w+$/.test(table))
    rejectValue('sqliteStore', 'table', table, 'letters, digits and underscores');
  return table;
}

/** Runs one task after the other, because the handle has one transaction at a time. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => T | Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}

/** @returns whether the claim was still held. */
function keepAnswer(
  { keep, isOurs }: ReturnType<typeof prepareStatements>,
  id: string,
  token: string,
  { status, headers, body }: StoredAnswer,
): boolean {
  const { changes } = keep.run(status, JSON.stringify(headers), body, id, token);
  if (Number(changes) === 1) return true;
  if (isOurs.get(id, token)) throw new Error(rolledBack);
  return false;
}

function prepareStatements(db: SqliteDatabase, table: string) {
  const dropExpired = db.prepare(
    `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE expires_at <= ? LIMIT 100)`,
  );
  const take = db.prepare(
    `INSERT INTO ${table} (id, fingerprint, token, lease_until, expires_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      fingerprint = excluded.fingerprint, token = excluded.token,
      lease_until = excluded.lease_until, expires_at = excluded.expires_at,
      status = NULL, headers = NULL, body = NULL
    WHERE expires_at <= ?
      OR (status IS NULL AND lease_until <= ? AND fingerprint = excluded.fingerprint)`,
  );
  const find = db.prepare(`SELECT fingerprint, status, headers, body FROM ${table} WHERE id = ?`);
  // The first write of the transaction. If it is gone at the end, a statement of the handler rolled the
  // transaction back.
  const mark = db.prepare(`UPDATE ${table} SET headers = '' WHERE id = ? AND token = ?`);
  const keep = db.prepare(
    `UPDATE ${table} SET status = ?, headers = ?, body = ?
    WHERE id = ? AND token = ? AND headers IS NOT NULL`,
  );
  const isOurs = db.prepare(`SELECT 1 FROM ${table} WHERE id = ? AND token = ?`);
  const free = db.prepare(`DELETE FROM ${table} WHERE id = ? AND token = ? AND status IS NULL`);
  return { dropExpired, take, find, mark, keep, isOurs, free };
}

function openTable(db: SqliteDatabase, table: string): void {
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (
      id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, token TEXT NOT NULL,
      lease_until INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      status INTEGER, headers TEXT, body BLOB
    );
    CREATE INDEX IF NOT EXISTS ${table}_expires_at ON ${table} (expires_at)`,
  );
  // A busy timeout would wait inside a statement, and block the event loop.
  db.exec('PRAGMA busy_timeout = 0');
}

/** The handles of all stores. A handle has one transaction at a time, and a second store would not know of it. */
const inUse = new WeakSet<SqliteDatabase>();

const handleInUse =
  'sqliteStore: this handle has a store already. Share that store between the handlers, or open another handle of the file.';

/** SQLite does so itself after an `ON CONFLICT ROLLBACK`, or on a full disk. */
const rolledBack =
  'sqliteStore: a failed statement has rolled the transaction back. The answer is not stored.';

function rollBack(db: SqliteDatabase): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // There is no transaction any more. The error thrown before says why.
  }
}

const retryLockedMs = 10;

/** Repeats a statement while another process locks the file, until `giveUpAt`. */
async function whenUnlocked<T>(giveUpAt: number, statement: () => T): Promise<T> {
  for (;;) {
    try {
      return statement();
    } catch (error) {
      const isLocked = String(error).includes('database is locked');
      if (!isLocked || systemClock.now() >= giveUpAt) throw error;
    }
    await new Promise<void>((wake) => systemClock.setTimeout(wake, retryLockedMs));
  }
}
