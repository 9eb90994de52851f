import { rejectValue } from '../../core/lib/input/check.ts';
import { driverOf, type PgPool, type PostgresDriver, type PostgresJs } from './postgres-driver.ts';
import { type IdempotencyStore, type KeyRow, refusalOf, type StoredAnswer } from './store.ts';

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /** The name of the table, optionally with its schema: `shop.keys`. @default 'idempotency_keys' */
  readonly table?: string | undefined;
}

/**
 * The SQL that creates the table of a {@link postgresStore}, for a migration. It may run again.
 *
 * @throws TypeError if the name has characters other than letters, digits and underscores.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg';
 * import { postgresTable } from 'steadfetch/server/postgres';
 *
 * const pool = new Pool();
 * await pool.query(postgresTable());
 * await pool.end();
 * ```
 */
export function postgresTable(table: string = 'idempotency_keys'): string {
  requireName('postgresTable', table);
  return `CREATE TABLE IF NOT EXISTS ${table} (
  id text PRIMARY KEY,
  fingerprint text NOT NULL,
  token text NOT NULL,
  lease_until timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  status integer,
  headers text,
  body bytea
);
CREATE INDEX IF NOT EXISTS ${table.replace('.', '_')}_expires_at ON ${table} (expires_at);`;
}

/**
 * Stores keys and answers in PostgreSQL, in the same transaction as the handler's writes with `tx`: a crash
 * at any moment leaves both or neither, on any number of servers. Leases and lifetimes use the clock of the
 * database.
 *
 * Accepts a `Pool` of `pg`, whose clients are then `tx`, or the `sql` of postgres.js, whose transactions are.
 * Create the table first, with {@link postgresTable}. A running handler holds one connection, and a claim
 * needs one for a moment: make the pool larger than the number of handlers that run at once.
 *
 * @throws TypeError if the name has characters other than letters, digits and underscores.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg';
 * import { idempotent } from 'steadfetch/server';
 * import { postgresStore } from 'steadfetch/server/postgres';
 *
 * const pool = new Pool({ max: 20 });
 * // Without a listener, an idle connection that breaks ends the process.
 * pool.on('error', console.error);
 *
 * export const placeOrder = idempotent(
 *   async (request, { tx }) => {
 *     const { article } = (await request.json()) as { article: string };
 *     const insert = 'INSERT INTO orders (article) VALUES ($1) RETURNING id';
 *     const { rows } = await tx.query<{ id: number }>(insert, [article]);
 *     return Response.json(rows[0], { status: 201 });
 *   },
 *   { store: postgresStore(pool) },
 * );
 * ```
 */
export function postgresStore<Tx>(
  database: PgPool<Tx> | PostgresJs<Tx>,
  { table = 'idempotency_keys' }: PostgresStoreOptions = {},
): IdempotencyStore<Tx> {
  requireName('postgresStore', table);
  const driver = driverOf(database);
  const { query } = driver;
  const { dropExpired, take, find, keep, free } = statementsOf(table);
  const readLimits = createLimitsReader(driver);
  let claims = 0;

  return {
    async claim({ id, fingerprint, token, leaseMs, lifetimeMs }) {
      // In its own transaction: two claims that each drop the other's expired key would deadlock.
      if (claims++ % claimsPerSweep === 0) await query(dropExpired);
      const taken = await query(take, [id, fingerprint, token, leaseMs, lifetimeMs]);
      if (taken.count === 1) return { kind: 'claimed' };
      const [row] = (await query(find, [id])).rows as KeyRow[];
      return refusalOf(row, fingerprint);
    },

    async run({ id, token, leaseMs }, work) {
      let thrown: { readonly error: unknown } | undefined;
      let isLost = false;
      const runWork = async (tx: Tx): Promise<StoredAnswer | undefined> => {
        try {
          return await work(tx);
        } catch (error) {
          thrown = { error };
          throw error;
        }
      };
      try {
        const isKept = await driver.transact(await readLimits(leaseMs), async (tx, queryIn) => {
          const answer = await runWork(tx);
          if (!answer) return false;
          const { status, headers, body } = answer;
          const kept = await queryIn(keep, [id, token, status, JSON.stringify(headers), body]);
          isLost = kept.count !== 1;
          return !isLost;
        });
        if (!isKept) await query(free, [id, token]);
      } catch (error) {
        const freed = query(free, [id, token]);
        // If the key cannot be freed, the database failed, not the handler.
        if (thrown) await freed;
        else await freed.catch(() => {});
        throw thrown ? thrown.error : error;
      }
      return !isLost;
    },
  };
}

function statementsOf(table: string) {
  const dropExpired = `DELETE FROM ${table} WHERE id IN (
    SELECT id FROM ${table} WHERE expires_at <= now() LIMIT ${sweepSize} FOR UPDATE SKIP LOCKED)`;
  const take = `INSERT INTO ${table} AS k (id, fingerprint, token, lease_until, expires_at)
    VALUES ($1, $2, $3,
      now() + $4::float8 * interval '1 millisecond', now() + $5::float8 * interval '1 millisecond')
    ON CONFLICT (id) DO UPDATE SET
      fingerprint = excluded.fingerprint, token = excluded.token,
      lease_until = excluded.lease_until, expires_at = excluded.expires_at,
      status = NULL, headers = NULL, body = NULL
    WHERE k.expires_at <= now()
      OR (k.status IS NULL AND k.lease_until <= now() AND k.fingerprint = excluded.fingerprint)`;
  const find = `SELECT fingerprint, status, headers, body FROM ${table} WHERE id = $1`;
  const keep = `UPDATE ${table} SET status = $3, headers = $4, body = $5
    WHERE id = $1 AND token = $2`;
  // Waits for a commit with an unknown outcome, which has locked the row.
  const free = `DELETE FROM ${table} WHERE id = $1 AND token = $2 AND status IS NULL`;
  return { dropExpired, take, find, keep, free };
}

/** A sweep drops more rows than claims add until the next one. */
const claimsPerSweep = 50;
const sweepSize = 500;

/**
 * Limits a transaction to its lease. Otherwise the server would keep the locks of a process that is frozen or
 * lost power until it finds the connection broken, which may take hours. A shorter limit of the database or
 * the role stays.
 */
function createLimitsReader({ query }: PostgresDriver<unknown>) {
  const sql = `SELECT name, setting::float8 AS ms FROM pg_settings
    WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout')`;
  let known: readonly Limit[] | undefined;
  return async (leaseMs: number): Promise<string> => {
    // Each caller reads them until they are known: a dead connection must not block all others.
    known ??= (await query(sql)).rows as readonly Limit[];
    // 0 is no limit.
    return known
      .map(
        ({ name, ms }) => `SET LOCAL ${name} = ${Math.min(leaseMs, ms || leaseMs, greatestLimit)}`,
      )
      .join('; ');
  };
}

interface Limit {
  readonly name: string;
  readonly ms: number;
}

/** The largest value of a setting: 2^31 - 1. */
const greatestLimit = 2_147_483_647;

/** @throws TypeError unless it is only the name of a table, with or without a schema. */
function requireName(operation: string, table: string): void {
  if (/^\w+(?:\.\w+)?$/.test(table)) return;
  rejectValue(
    operation,
    'table',
    table,
    'letters, digits and underscores, and one dot after a schema',
  );
}
