import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { Pool, type PoolClient } from 'pg';
import postgres, { type TransactionSql } from 'postgres';
import { createClient } from 'redis';
import { type IdempotencyStore, sqliteStore } from 'steadfetch/server';
import { postgresStore, postgresTable } from 'steadfetch/server/postgres';
import { type RedisClient, redisStore, type RedisTransaction } from 'steadfetch/server/redis';
import { afterAll, beforeAll } from 'vitest';
import { type Database, startPostgres, startRedis } from './databases.ts';
import { type NamedStore, openOrders, ordersIn, type StoreRig } from '../server/rig.ts';

/** A rig of a store that several processes share. Its keys can be made older. */
export interface SharedRig extends StoreRig {
  /** Another store of the same keys, as another process has it. */
  readonly twin: IdempotencyStore<unknown>;
  /** Ends all leases. */
  readonly endLeases: () => Promise<void>;
  /** Ends the lifetime of all keys. */
  readonly expireAll: () => Promise<void>;
  /** How many keys the store holds. */
  readonly countKeys: () => Promise<number>;
  /** Ends what the store is in, and starts it again. */
  readonly server: Pick<Database, 'kill' | 'start'>;
}

/** Drivers, connected to servers of the tests' own. */
export interface Drivers {
  /** For the files of SQLite. */
  readonly folder: string;
  readonly postgres: Database;
  readonly redis: Database;
  readonly pool: Pool;
  readonly sql: ReturnType<typeof postgres>;
  readonly ioredis: Redis;
  readonly nodeRedis: ReturnType<typeof createNodeRedis>;
}

const createNodeRedis = (path: string) => createClient({ socket: { path, tls: false } });

async function openDrivers(): Promise<Drivers> {
  const [pg, redis] = await Promise.all([startPostgres(), startRedis()]);
  const user = { user: 'postgres', database: 'postgres' };
  const pool = new Pool({ host: pg.socket, max: 10, ...user });
  pool.on('error', () => {});
  const sql = postgres({ host: pg.socket, max: 10, onnotice: () => {}, ...user });
  // It connects by a timer, and tests replace those: so all its connections are opened now.
  await Promise.all(Array.from({ length: 10 }, () => sql`SELECT 1`));
  const ioredis = new Redis({ path: redis.socket });
  ioredis.on('error', () => {});
  const nodeRedis = createNodeRedis(redis.socket);
  nodeRedis.on('error', () => {});
  await nodeRedis.connect();
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-sqlite-'));
  return { folder, postgres: pg, redis, pool, sql, ioredis, nodeRedis };
}

async function closeDrivers(drivers: Drivers): Promise<void> {
  drivers.ioredis.disconnect();
  drivers.nodeRedis.destroy();
  await Promise.all([drivers.pool.end(), drivers.sql.end({ timeout: 0 })]);
  await Promise.all([drivers.postgres.remove(), drivers.redis.remove()]);
  rmSync(drivers.folder, { recursive: true, force: true });
}

let rigs = 0;

async function createPostgresRig<Tx>(
  { pool, postgres: server }: Drivers,
  open: (table: string) => IdempotencyStore<Tx>,
  insert: (tx: Tx, sql: string, value: string) => Promise<unknown>,
): Promise<SharedRig> {
  const [table, orders] = [`keys_${(rigs += 1)}`, `orders_${rigs}`];
  await pool.query(postgresTable(table));
  await pool.query(`CREATE TABLE ${orders} (id serial PRIMARY KEY, article text NOT NULL)`);
  return {
    store: open(table),
    twin: open(table),
    ledger: {
      write: (tx, order) => insert(tx as Tx, `INSERT INTO ${orders} (article) VALUES ($1)`, order),
      async orders() {
        const { rows } = await pool.query<{ article: string }>(
          `SELECT article FROM ${orders} ORDER BY id`,
        );
        return rows.map(({ article }) => article);
      },
    },
    endLeases: async () => void (await pool.query(`UPDATE ${table} SET lease_until = now()`)),
    expireAll: async () => void (await pool.query(`UPDATE ${table} SET expires_at = now()`)),
    async countKeys() {
      const { rows } = await pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`);
      return rows[0]?.n ?? 0;
    },
    server,
  };
}

function createRedisRig({ ioredis, redis: server }: Drivers, client: RedisClient): SharedRig {
  const [prefix, orders] = [`keys:${(rigs += 1)}:`, `orders:${rigs}`];
  const keys = (): Promise<string[]> => ioredis.keys(`${prefix}*`);
  return {
    store: redisStore(client, { prefix }),
    twin: redisStore(client, { prefix }),
    ledger: {
      write: (tx, order) => (tx as RedisTransaction).queue('RPUSH', orders, order),
      orders: () => ioredis.lrange(orders, 0, -1),
    },
    async endLeases() {
      for (const key of await keys()) await ioredis.hset(key, 'leaseUntil', '0');
    },
    async expireAll() {
      for (const key of await keys()) await ioredis.pexpire(key, 0);
    },
    countKeys: async () => (await keys()).length,
    server,
  };
}

/** Two handles of one file, as two processes have it. */
function createSqliteRig({ folder }: Drivers): SharedRig {
  const path = join(folder, `keys-${(rigs += 1)}.db`);
  const [one, other, third] = [openOrders(path), openOrders(path), openOrders(path)];
  const change = (columns: string): void => {
    // By the handle of the store, because a handler may have the file.
    one.exec(`UPDATE idempotency_keys SET ${columns}`);
  };
  return {
    store: sqliteStore(one),
    twin: sqliteStore(other),
    ledger: {
      write: (tx, order) =>
        (tx as DatabaseSync).prepare('INSERT INTO orders (article) VALUES (?)').run(order),
      orders: () => ordersIn(one),
    },
    endLeases: async () => change('lease_until = 0'),
    expireAll: async () => change('expires_at = 0'),
    async countKeys() {
      return Number(one.prepare('SELECT count(*) AS n FROM idempotency_keys').get()?.['n']);
    },
    // A file has no server: another process keeps it.
    server: {
      kill: async () => third.exec('BEGIN EXCLUSIVE'),
      start: async () => third.exec('ROLLBACK'),
    },
  };
}

/** Starts the servers before the tests of a file, and gives what is connected to them. */
export function startDrivers(): () => Drivers {
  let drivers: Drivers | undefined;
  beforeAll(async () => void (drivers = await openDrivers()));
  afterAll(async () => {
    if (drivers) await closeDrivers(drivers);
  });
  return () => {
    if (!drivers) throw new Error('The servers are started before the first test.');
    return drivers;
  };
}

export type NamedSharedStore = readonly [NamedStore[0], () => Promise<SharedRig>];

/** The stores that several processes share, with each driver. That of the memory is of one process. */
export const sharedStores = (drivers: () => Drivers): readonly NamedSharedStore[] => [
  [
    'postgresStore of pg',
    () =>
      createPostgresRig(
        drivers(),
        (table) => postgresStore(drivers().pool, { table }),
        (tx: PoolClient, sql, value) => tx.query(sql, [value]),
      ),
  ],
  [
    'postgresStore of postgres.js',
    () =>
      createPostgresRig(
        drivers(),
        (table) => postgresStore(drivers().sql, { table }),
        async (tx: TransactionSql, sql, value) => tx.unsafe(sql, [value]),
      ),
  ],
  ['redisStore of ioredis', async () => createRedisRig(drivers(), drivers().ioredis)],
  ['redisStore of redis', async () => createRedisRig(drivers(), drivers().nodeRedis)],
  ['sqliteStore of node:sqlite', async () => createSqliteRig(drivers())],
];
