import { Pool, type PoolClient } from 'pg';
import type { TransactionSql } from 'postgres';
import { idempotent, LeaseOverError } from 'steadfetch/server';
import { postgresStore, postgresTable } from 'steadfetch/server/postgres';
import { redisStore, type RedisTransaction } from 'steadfetch/server/redis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDrivers } from './shared-stores.ts';
import { post, problemOf, told } from '../server/rig.ts';

const drivers = startDrivers();
const claim = {
  id: 'a',
  fingerprint: 'f',
  token: 't',
  nowMs: 0,
  leaseMs: 60_000,
  lifetimeMs: 600_000,
};
const answer = { status: 200, headers: [], body: new Uint8Array() };

describe('PostgreSQL', () => {
  let tables = 0;
  /** A table of keys, and one of orders. */
  async function createTables() {
    const { pool } = drivers();
    const [keys, orders] = [`fault_keys_${(tables += 1)}`, `fault_orders_${tables}`];
    await pool.query(`${postgresTable(keys)} CREATE TABLE ${orders} (article text UNIQUE)`);
    const count = async () => (await pool.query(`SELECT * FROM ${orders}`)).rowCount;
    return { pool, keys, orders, count };
  }

  test('a connection that is lost in the middle ends no process, leaves nothing, and frees the key', async () => {
    const { pool, keys, orders, count } = await createTables();
    let runs = 0;
    const errors: unknown[] = [];
    const send = idempotent(
      async (_request, { tx }) => {
        await tx.query(`INSERT INTO ${orders} VALUES ('a lamp')`);
        if ((runs += 1) === 1) {
          const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
          const lost = new Promise((resolve) => void tx.once('end', resolve));
          await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
          await lost;
        }
        return new Response(`run ${runs}`);
      },
      { store: postgresStore(pool, { table: keys }), onStoreError: (error) => errors.push(error) },
    );
    expect(await problemOf(send(post({ key: '"a"' })))).toBe('503 store-unavailable');
    expect(errors).toHaveLength(1);
    expect(await count()).toBe(0);
    expect(await told(send(post({ key: '"a"' })))).toBe('200 run 2');
    expect(await count()).toBe(1);
  });

  test('a key is not freed while a commit is under way whose outcome nobody knows', async () => {
    const { pool, keys } = await createTables();
    const store = postgresStore(pool, { table: keys });
    await store.claim(claim);
    // What a server still does whose client has lost its connection.
    const other = await pool.connect();
    onTestFinished(() => other.release());
    await other.query(`BEGIN; UPDATE ${keys} SET status = 200, headers = '[]', body = ''`);
    const freed = store.run(claim, async () => undefined);
    await expect
      .poll(async () => {
        const waiting = `SELECT * FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${keys}%'`;
        return (await pool.query(waiting)).rowCount;
      })
      .toBe(1);
    await other.query('COMMIT');
    await freed;
    expect((await store.claim({ ...claim, token: 'u' })).kind).toBe('answered');
  });

  test('a handler that swallows a failed statement gets a 503: nothing of it can be committed', async () => {
    const { pool, keys, orders, count } = await createTables();
    const errors: string[] = [];
    const send = idempotent(
      async (_request, { tx }) => {
        await tx.query(`INSERT INTO ${orders} VALUES ('a lamp')`);
        await tx.query('SELECT 1 / 0').catch(() => {});
        return new Response('fine');
      },
      {
        store: postgresStore(pool, { table: keys }),
        onStoreError: (error) => void errors.push((error as Error).message),
      },
    );
    expect(await problemOf(send(post({ key: '"a"' })))).toBe('503 store-unavailable');
    expect(errors[0]).toContain('current transaction is aborted');
    expect(await count()).toBe(0);
  });

  test.each(['pg', 'postgres.js'])(
    'with %s, a statement that waits for a lock when the lease is over holds nobody up',
    async (driver) => {
      const { pool, keys, orders, count } = await createTables();
      const blocker = await pool.connect();
      // Else a test that fails keeps the connection, for whose end the pool waits.
      onTestFinished(() => blocker.release());
      await blocker.query(`BEGIN; INSERT INTO ${orders} VALUES ('a lamp')`);
      const insert = `INSERT INTO ${orders} VALUES ('a lamp')`;
      const { sql } = drivers();
      const options = { leaseMs: 1000, storeTimeoutMs: 600_000 };
      const send =
        driver === 'pg'
          ? idempotent(
              async (_request, { tx }) => {
                await tx.query(insert);
                return new Response('done');
              },
              { ...options, store: postgresStore<PoolClient>(pool, { table: keys }) },
            )
          : idempotent(
              async (_request, { tx }) => {
                await tx.unsafe(insert);
                return new Response('done');
              },
              { ...options, store: postgresStore<TransactionSql>(sql, { table: keys }) },
            );
      const error: unknown = await send(post({ key: '"a"' })).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(LeaseOverError);
      // The key is free although the statement still waits.
      const next = await postgresStore(pool, { table: keys }).claim({ ...claim, id: '["","a"]' });
      expect(next).toEqual({ kind: 'claimed' });
      await blocker.query('ROLLBACK');
      await expect
        .poll(async () => (await pool.query(`SELECT * FROM pg_locks WHERE NOT granted`)).rowCount)
        .toBe(0);
      expect(await count()).toBe(0);
    },
  );

  test('a transaction has at most its lease, and less where the database says so', async () => {
    const { pool, keys } = await createTables();
    const store = postgresStore(pool, { table: keys });
    const show = (tx: PoolClient, name: string) =>
      tx.query<Record<string, string>>(`SHOW ${name}`).then(({ rows }) => rows[0]?.[name]);
    const limits = async (own = store) => {
      const seen: unknown[] = [];
      await own.run(claim, async (tx) => {
        for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout'])
          seen.push(await show(tx, name));
        return undefined;
      });
      return seen;
    };
    expect(await limits()).toEqual(['1min', '1min']);
    const host = drivers().postgres.socket;
    const strict = new Pool({ host, user: 'postgres', options: '-c statement_timeout=7s' });
    expect(await limits(postgresStore(strict, { table: keys }))).toEqual(['7s', '1min']);
    await strict.end();
  });

  test('a name of a table that would be more than a name is refused', () => {
    const { pool } = drivers();
    expect(() => postgresStore(pool, { table: 'a; DROP TABLE b' })).toThrow(
      "postgresStore: table is 'a; DROP TABLE b', and must be letters, digits and underscores, and one dot after a schema.",
    );
    expect(() => postgresTable('a b')).toThrow('postgresTable: table is ');
  });

  test('the table may be in a schema, and its SQL may run again', async () => {
    const { pool } = drivers();
    await pool.query('CREATE SCHEMA shop');
    for (let run = 0; run < 2; run++) await pool.query(postgresTable('shop.keys'));
    const store = postgresStore(pool, { table: 'shop.keys' });
    expect(await store.claim(claim)).toEqual({ kind: 'claimed' });
    expect(await store.run(claim, async () => answer)).toBe(true);
  });
});

describe('Redis', () => {
  test('a script that a driver sends again gives the same result, and does nothing twice', async () => {
    const { ioredis } = drivers();
    const scripts: unknown[][] = [];
    const twice = {
      defineCommand: () => {},
      async eval(script: string, count: number, ...args: string[]): Promise<unknown> {
        scripts.push([script]);
        await ioredis.eval(script, count, ...args);
        return ioredis.eval(script, count, ...args);
      },
    };
    const store = redisStore(twice, { prefix: 'again:' });
    expect(await store.claim(claim)).toEqual({ kind: 'claimed' });
    const run = store.run(claim, async (tx) => {
      tx.queue('RPUSH', 'again', 1);
      return answer;
    });
    expect(await run).toBe(true);
    expect(await ioredis.lrange('again', 0, -1)).toEqual(['1']);
    expect(scripts).toHaveLength(2);
  });

  test('a full Redis is a 503, and has room again later', async () => {
    const { ioredis } = drivers();
    const send = idempotent(() => new Response('fine'), {
      store: redisStore(ioredis, { prefix: 'full:' }),
    });
    await ioredis.config('SET', 'maxmemory', '1');
    expect(await problemOf(send(post({ key: '"a"' })))).toBe('503 store-full');
    await ioredis.config('SET', 'maxmemory', '0');
    expect(await told(send(post({ key: '"a"' })))).toBe('200 fine');
  });

  describe('a queued command that fails', () => {
    const run = async (name: string, queue: (tx: RedisTransaction) => void) => {
      const { nodeRedis } = drivers();
      const errors: string[] = [];
      const send = idempotent(
        (_request, { tx }) => {
          queue(tx);
          return new Response('fine');
        },
        {
          store: redisStore(nodeRedis, { prefix: `${name}:` }),
          onStoreError: (error) => void errors.push((error as Error).message),
        },
      );
      const first = await problemOf(send(post({ key: '"a"' })));
      return { first, errors, again: () => send(post({ key: '"a"' })) };
    };

    test('before all others lets the next attempt run, and is never told as done', async () => {
      const { nodeRedis } = drivers();
      await nodeRedis.set('busy', 'text');
      const { first, errors, again } = await run('first', (tx) => {
        tx.queue('RPUSH', 'busy', 'a lamp');
        tx.queue('RPUSH', 'other', 'a lamp');
      });
      expect(first).toBe('503 store-unavailable');
      expect(errors[0]).toMatch(/^redisStore: command 1 of 2 has failed. .*WRONGTYPE/);
      await nodeRedis.del('busy');
      expect(await told(again())).toBe('200 fine');
      expect(await nodeRedis.lRange('busy', 0, -1)).toEqual(['a lamp']);
      expect(await nodeRedis.lRange('other', 0, -1)).toEqual(['a lamp']);
    });

    test('after another one is a 500 from then on: that one must not be done twice', async () => {
      const { nodeRedis } = drivers();
      const { first, errors, again } = await run('second', (tx) => {
        tx.queue('RPUSH', 'wrong', 'a lamp');
        tx.queue('INCR', 'wrong');
      });
      expect(first).toBe('503 store-unavailable');
      expect(errors[0]).toMatch(/^redisStore: command 2 of 2 has failed. .*WRONGTYPE/);
      expect(await problemOf(again())).toBe('500 partly-done');
      expect(await nodeRedis.lRange('wrong', 0, -1)).toEqual(['a lamp']);
    });

    test('with more arguments than Redis takes is refused when it is queued', async () => {
      const { ioredis } = drivers();
      const send = (count: number) =>
        idempotent(
          (_request, { tx }) => {
            tx.queue('RPUSH', 'many', ...Array.from({ length: count }, (_, index) => index));
            return new Response('fine');
          },
          { store: redisStore(ioredis, { prefix: 'many:' }) },
        )(post({ key: '"a"' }));
      await expect(send(7000)).rejects.toThrow(
        'redisStore: RPUSH is queued with 7001 arguments, and must have at most 7000. Nothing was written. Queue several commands.',
      );
      expect(await told(send(6999))).toBe('200 fine');
      expect(await ioredis.llen('many')).toBe(6999);
    });
  });

  test('what is no client, and a prefix of nothing, are refused', () => {
    expect(() => redisStore({} as never)).toThrow(
      'redisStore: client is {}, and must be a client of ioredis or of redis.',
    );
    expect(() => redisStore(drivers().ioredis, { prefix: '' })).toThrow(
      "redisStore: prefix is '', and must be text that is not empty.",
    );
  });

  test('Redis drops a key itself when its lifetime is over', async () => {
    const { ioredis } = drivers();
    const store = redisStore(ioredis, { prefix: 'life:' });
    await store.claim(claim);
    await store.run(claim, async () => answer);
    const leftMs = await ioredis.pttl('life:a');
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(600_000);
  });
});
