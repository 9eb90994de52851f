import { readFileSync } from 'node:fs';
import { LeaseOverError } from 'steadfetch/server';
import { postgresStore, postgresTable } from 'steadfetch/server/postgres';
import { expect, test } from 'vitest';

// What the store says to a driver. What a real PostgreSQL makes of it is tested by npm run stores.

const claim = { id: 'a', fingerprint: 'f', token: 't', nowMs: 0, leaseMs: 500, lifetimeMs: 1000 };
const answer = { status: 200, headers: [], body: new Uint8Array() };

/** A pool that writes down what it is asked for. Each UPDATE changes so many rows. */
function openPool(updated = 1) {
  const log: string[] = [];
  const query = (who: string) => async (sql: string) => {
    log.push(`${who}: ${sql.trim().split(/\s+/).slice(0, 2).join(' ')}`);
    const isLimits = sql.includes('pg_settings');
    const rows = isLimits ? [{ ms0: 0, ms1: 200 }] : [];
    return { rows, rowCount: sql.startsWith('UPDATE') ? updated : rows.length };
  };
  const begins: string[] = [];
  const client = {
    async query(sql: string) {
      if (sql.startsWith('BEGIN')) begins.push(sql);
      return query('client')(sql);
    },
    on: () => {},
    off: () => {},
    release: (isBroken?: boolean) => void log.push(isBroken ? 'closed' : 'released'),
  };
  type Client = typeof client;
  function connect(): Promise<Client>;
  function connect(callback: (error: undefined, own: Client, done: () => void) => void): void;
  function connect(callback?: unknown): Promise<Client> | void {
    if (callback === undefined) return Promise.resolve(client);
  }
  const pool = { query: query('pool'), connect };
  return { pool, store: postgresStore(pool), log, begins };
}

test('a connection that says nothing any more keeps no later request from its transaction', async () => {
  const { pool, store } = openPool();
  const { query } = pool;
  pool.query = () => new Promise(() => {});
  // Waits for the limits of the database for ever. idempotent has given it up by then.
  void store.run(claim, async () => answer);
  pool.query = query;
  expect(await store.run({ ...claim, token: 'u' }, async () => answer)).toBe(true);
});

test('an answer is stored in the transaction of the handler, which then commits', async () => {
  const { store, log, begins } = openPool();
  expect(await store.run(claim, async () => answer)).toBe(true);
  expect(log.slice(1)).toEqual([
    'client: BEGIN; SET',
    'client: UPDATE idempotency_keys',
    'client: COMMIT',
    'released',
  ]);
  // The shorter limit of the database stays.
  expect(begins).toEqual([
    'BEGIN; SET LOCAL statement_timeout = 500; SET LOCAL idle_in_transaction_session_timeout = 200',
  ]);
});

test('who has lost the claim does not commit', async () => {
  const { store, log } = openPool(0);
  expect(await store.run(claim, async () => answer)).toBe(false);
  expect(log).toContain('client: ROLLBACK');
  expect(log).not.toContain('client: COMMIT');
});

test('no answer is rolled back, and frees the key', async () => {
  const { store, log } = openPool();
  expect(await store.run(claim, async () => undefined)).toBe(true);
  expect(log.slice(2)).toEqual(['client: ROLLBACK', 'released', 'pool: DELETE FROM']);
});

test('what the handler throws is passed on when all is rolled back', async () => {
  const { store, log } = openPool();
  const error = new Error('no');
  await expect(store.run(claim, () => Promise.reject(error))).rejects.toBe(error);
  expect(log.slice(2)).toEqual(['client: ROLLBACK', 'released', 'pool: DELETE FROM']);
});

test('of a handler that may still run, the connection is closed, and nothing is waited for', async () => {
  const { store, log } = openPool();
  const error = new LeaseOverError(500);
  await expect(store.run(claim, () => Promise.reject(error))).rejects.toBe(error);
  expect(log.slice(2)).toEqual(['closed', 'pool: DELETE FROM']);
});

test('a table has a name, and no more than that', () => {
  expect(() => postgresTable('a; DROP TABLE b')).toThrow(
    "postgresTable: table is 'a; DROP TABLE b', and must be letters, digits and underscores, and one dot after a schema.",
  );
});

test('the SQL of the page is that of postgresTable', () => {
  expect(readFileSync('docs/server-stores/postgresql.md', 'utf8')).toContain(
    `\`\`\`sql\n${postgresTable()}\n\`\`\``,
  );
});
