import { Redis } from 'ioredis';
import { Pool, type PoolClient } from 'pg';
import postgres, { type TransactionSql } from 'postgres';
import { createClient } from 'redis';
import type { IdempotencyStore } from 'steadfetch/server';
import { postgresStore, postgresTable } from 'steadfetch/server/postgres';
import { type RedisClient, redisStore, type RedisTransaction } from 'steadfetch/server/redis';
import { afterAll, beforeAll } from 'vitest';
import { type Database, startPostgres, startRedis } from './databases.ts';
import type { NamedStore, StoreRig } from '../server/rig.ts';

/** A rig whose keys can be made older, because the clock of the store is its own. */
export interface RemoteRig extends StoreRig {
  /** Another store of the same keys, as another process has it. */
  readonly twin: IdempotencyStore<unknown>;
  /** Ends all leases. */
  readonly endLeases: () => Promise<void>;
  /** Ends the lifetime of all keys. */
  readonly expireAll: () => Promise<void>;
  /** How many keys the store holds. */
  readonly countKeys: () => Promise<number>;
}

/** Drivers, connected to servers of the tests' own. */
export interface Drivers {
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
  return { postgres: pg, redis, pool, sql, ioredis, nodeRedis };
}

async function closeDrivers(drivers: Drivers): Promise<void> {
  drivers.ioredis.disconnect();
  drivers.nodeRedis.destroy();
  await Promise.all([drivers.pool.end(), drivers.sql.end({ timeout: 0 })]);
  await Promise.all([drivers.postgres.remove(), drivers.redis.remove()]);
}

let rigs = 0;

async function createPostgresRig<Tx>(
  { pool }: Drivers,
  open: (table: string) => IdempotencyStore<Tx>,
  insert: (tx: Tx, sql: string, value: string) => Promise<unknown>,
): Promise<RemoteRig> {
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
  };
}

function createRedisRig({ ioredis }: Drivers, client: RedisClient): RemoteRig {
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

export type NamedRemoteStore = readonly [NamedStore[0], () => Promise<RemoteRig>];

/** The stores that need a server, with each driver. */
export const remoteStores = (drivers: () => Drivers): readonly NamedRemoteStore[] => [
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
];
