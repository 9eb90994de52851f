import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { Pool, type PoolClient } from 'pg';
import postgres, { type TransactionSql } from 'postgres';
import { createClient } from 'redis';
import { idempotent, type IdempotencyStore, sqliteStore } from '../../src/server.ts';
import { postgresStore } from '../../src/server/postgres.ts';
import { redisStore, type RedisTransaction } from '../../src/server/redis.ts';
import { toListener } from '../server/node-adapter.ts';
import type { ShopSettings } from './fleet.ts';

// One of several processes that take orders behind one store. It may be killed at any moment.

const { driver, socket, name, connections, ...options } = JSON.parse(
  process.argv[2] ?? '',
) as ShopSettings;

interface Shop<Tx> {
  readonly store: IdempotencyStore<Tx>;
  /** Writes an order into the transaction. */
  readonly write: (tx: Tx, key: string, run: string) => unknown;
  /** Writes that a handler has begun, in no transaction with the key. */
  readonly begin: (key: string) => Promise<unknown>;
}

const onError = (): void => {};
const database = { host: socket, user: 'postgres', database: 'postgres' };
const table = `${name}_keys`;
const insert = `INSERT INTO ${name}_orders (key, run) VALUES ($1, $2)`;
const insertBegun = `INSERT INTO ${name}_begun (key) VALUES ($1)`;

/** What a handler writes elsewhere does not wait for the connections of the store. */
function openElsewhere(): Shop<unknown>['begin'] {
  const pool = new Pool({ ...database, max: 2 });
  pool.on('error', onError);
  return (key) => pool.query(insertBegun, [key]);
}

function openPg(): Shop<PoolClient> {
  const pool = new Pool({ ...database, max: connections });
  pool.on('error', onError);
  return {
    store: postgresStore(pool, { table }),
    write: (tx, key, run) => tx.query(insert, [key, run]),
    begin: openElsewhere(),
  };
}

function openPostgresJs(): Shop<TransactionSql> {
  const sql = postgres({ ...database, max: connections, onnotice: () => {} });
  return {
    store: postgresStore(sql, { table }),
    write: (tx, key, run) => tx.unsafe(insert, [key, run]),
    begin: openElsewhere(),
  };
}

const queueOrder = (tx: RedisTransaction, key: string, run: string): void =>
  tx.queue('RPUSH', `${name}:orders`, `${key} ${run}`);

function openIoRedis(): Shop<RedisTransaction> {
  const redis = new Redis({ path: socket });
  redis.on('error', onError);
  return {
    store: redisStore(redis, { prefix: `${name}:keys:` }),
    write: queueOrder,
    begin: (key) => redis.rpush(`${name}:begun`, key),
  };
}

async function openNodeRedis(): Promise<Shop<RedisTransaction>> {
  const redis = createClient({ socket: { path: socket, tls: false } });
  redis.on('error', onError);
  await redis.connect();
  return {
    store: redisStore(redis, { prefix: `${name}:keys:` }),
    write: queueOrder,
    begin: (key) => redis.rPush(`${name}:begun`, key),
  };
}

function openSqlite(): Shop<DatabaseSync> {
  // Processes that start at once wait for each other while the store looks for its table.
  const db = new DatabaseSync(join(socket, 'shop.db'), { timeout: 5000 });
  return {
    store: sqliteStore(db),
    write: (tx, key, run) =>
      tx.prepare('INSERT INTO orders (key, run) VALUES (?, ?)').run(key, run),
    begin: (key) => appendFile(join(socket, 'begun.txt'), `${key}\n`),
  };
}

function serve<Tx>({ store, write, begin }: Shop<Tx>): void {
  const placeOrder = idempotent(
    async (request, { key, tx }) => {
      const run = randomUUID();
      await begin(key);
      await write(tx, key, run);
      const workMs = request.headers.get('work-ms');
      // Without one, the handler never ends.
      await new Promise((done) => workMs !== null && setTimeout(done, Number(workMs)));
      return Response.json({ key, run }, { status: 201 });
    },
    { ...options, store, onStoreError: () => {} },
  );
  const server = createServer(toListener(placeOrder));
  // A connection that it closes for want of requests may take one with it on its way: that is no answer of a store.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
}

// What a handler throws is part of these tests, and logged by the adapter.
console.error = () => {};
if (driver === 'pg') serve(openPg());
else if (driver === 'postgres.js') serve(openPostgresJs());
else if (driver === 'ioredis') serve(openIoRedis());
else if (driver === 'node:sqlite') serve(openSqlite());
else serve(await openNodeRedis());
