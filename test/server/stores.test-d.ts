import type { Redis } from 'ioredis';
import type { Pool, PoolClient } from 'pg';
import type { Sql, TransactionSql } from 'postgres';
import type { createClient, createCluster } from 'redis';
import type { IdempotencyStore } from 'steadfetch/server';
import { postgresStore } from 'steadfetch/server/postgres';
import { redisStore, type RedisTransaction } from 'steadfetch/server/redis';
import { expectTypeOf, test } from 'vitest';

declare const pool: Pool;
declare const sql: Sql;
declare const redis: Redis;
declare const client: ReturnType<typeof createClient>;
declare const cluster: ReturnType<typeof createCluster>;

test('tx of a postgresStore is what the driver has for a transaction', () => {
  expectTypeOf(postgresStore(pool)).toEqualTypeOf<IdempotencyStore<PoolClient>>();
  expectTypeOf(postgresStore(sql)).toEqualTypeOf<IdempotencyStore<TransactionSql>>();
});

test('a redisStore takes the clients of both drivers', () => {
  expectTypeOf(redisStore(redis)).toEqualTypeOf<IdempotencyStore<RedisTransaction>>();
  expectTypeOf(redisStore(client)).toEqualTypeOf<IdempotencyStore<RedisTransaction>>();
  expectTypeOf(redisStore(cluster)).toEqualTypeOf<IdempotencyStore<RedisTransaction>>();
  // @ts-expect-error A Pool is no Redis.
  redisStore(pool);
});
