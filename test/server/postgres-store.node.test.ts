import { readFileSync } from 'node:fs';
import { LeaseOverError, type StoredAnswer } from 'steadfetch/server';
import { postgresStore, postgresTable } from 'steadfetch/server/postgres';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { claim } from './claim.ts';

// What the store says to a driver. What a real PostgreSQL makes of it is tested by npm run stores.

const answer: StoredAnswer = { status: 201, headers: [['a', 'b']], body: Uint8Array.of(1, 2) };

/** What a database does, but for what it does by default. */
interface Behaviour {
  /** How many rows a claim, and the storing of an answer, change. */
  taken?: number;
  updated?: number;
  /** The row of a key that is asked for. */
  row?: object;
  /** The limits of the database, in milliseconds. */
  limits?: readonly [statement: number, idle: number];
  /** Words of which a statement fails that has one of them, or hangs. */
  fails?: readonly string[];
  hangs?: readonly string[];
}

/** A database that writes down who asks it for what. */
function openDatabase(behaviour: Behaviour) {
  const log: string[] = [];
  const values: unknown[] = [];
  const ask = async (who: string, sql: string, given: readonly unknown[] = []) => {
    const text = sql.trim();
    log.push(`${who}: ${text.split(/\s+/).slice(0, 2).join(' ')}`);
    if (given.length > 0) values.push(given);
    const { taken = 1, updated = 1, row, limits = [0, 200], fails = [], hangs = [] } = behaviour;
    if (hangs.some((word) => text.includes(word))) await new Promise(() => {});
    const failing = fails.find((word) => text.includes(word));
    if (failing) throw new Error(`no ${failing}`);
    if (text.includes('pg_settings')) {
      const [statement, idle] = limits;
      const rows = [
        { name: 'statement_timeout', ms: statement },
        { name: 'idle_in_transaction_session_timeout', ms: idle },
      ];
      return { rows, count: rows.length };
    }
    if (text.startsWith('SELECT')) return { rows: row ? [row] : [], count: row ? 1 : 0 };
    const counts: Record<string, number> = { INSERT: taken, UPDATE: updated };
    return { rows: [], count: counts[text.split(' ')[0] ?? ''] ?? null };
  };
  return { log, values, ask };
}

/** A pool of pg. */
function openPg(behaviour: Behaviour = {}) {
  const { log, values, ask } = openDatabase(behaviour);
  const begins: string[] = [];
  const listeners: string[] = [];
  const queryAs = (who: string) => async (sql: string, given?: unknown[]) => {
    const { rows, count } = await ask(who, sql, given);
    return { rows: rows as unknown[], rowCount: count };
  };
  const client = {
    async query(sql: string, given?: unknown[]) {
      if (sql.startsWith('BEGIN')) begins.push(sql.slice('BEGIN; '.length));
      return queryAs('tx')(sql, given);
    },
    on: (event: string) => void listeners.push(`on ${event}`),
    off: (event: string) => void listeners.push(`off ${event}`),
    release: (isBroken?: boolean) => void log.push(isBroken ? 'closed' : 'released'),
  };
  type Client = typeof client;
  function connect(): Promise<Client>;
  function connect(callback: (error: undefined, own: Client, done: () => void) => void): void;
  function connect(callback?: unknown): Promise<Client> | void {
    if (callback === undefined) return Promise.resolve(client);
  }
  const store = postgresStore({ query: queryAs('pool'), connect });
  return { store, log, values, begins, listeners };
}

/** The sql of postgres.js. */
function openPostgresJs(behaviour: Behaviour = {}) {
  const { log, values, ask } = openDatabase(behaviour);
  const begins: string[] = [];
  const unsafeAs = (who: string) => async (sql: string, given?: unknown[]) => {
    if (sql.startsWith('SET')) begins.push(sql);
    const { rows, count } = await ask(who, sql, given);
    return Object.assign(rows as unknown[], { count: count as number });
  };
  const tx = { unsafe: unsafeAs('tx') };
  type Tx = typeof tx;
  function begin(work: (own: Tx) => Promise<unknown>): Promise<unknown>;
  function begin(options: string, work: (own: Tx) => Promise<unknown>): Promise<unknown>;
  async function begin(work: unknown): Promise<unknown> {
    await ask('tx', 'BEGIN');
    try {
      await (work as (own: Tx) => Promise<unknown>)(tx);
    } catch (error) {
      await ask('tx', 'ROLLBACK');
      throw error;
    }
    await ask('tx', 'COMMIT');
    return undefined;
  }
  return { store: postgresStore({ unsafe: unsafeAs('pool'), begin }), log, values, begins };
}

const drivers = [
  ['pg', openPg],
  ['postgres.js', openPostgresJs],
] as const;

describe.each(drivers)('with %s', (driver, open) => {
  const isPg = driver === 'pg';
  /** What the log has of a transaction, after the limits were read. */
  const transaction = (end: 'COMMIT' | 'ROLLBACK', ...within: readonly string[]) => [
    ...(isPg ? ['tx: BEGIN; SET'] : ['tx: BEGIN', 'tx: SET LOCAL']),
    ...within,
    `tx: ${end}`,
    ...(isPg ? ['released'] : []),
  ];
  const freed = 'pool: DELETE FROM';

  test('a free key is taken with what it is asked for, and for as long', async () => {
    const { store, log, values } = open();
    expect(await store.claim(claim)).toEqual({ kind: 'claimed' });
    expect(log).toEqual(['pool: DELETE FROM', 'pool: INSERT INTO']);
    expect(values).toEqual([['a', 'f', 't', 500, 1000]]);
  });

  const body = Uint8Array.of(3);
  test.each<[string, object | undefined, object]>([
    [
      'is running',
      { fingerprint: 'g', status: null, headers: null, body: null },
      { kind: 'running', fingerprint: 'g' },
    ],
    [
      'is answered',
      { fingerprint: 'g', status: 201, headers: '[["a","b"]]', body },
      {
        kind: 'answered',
        fingerprint: 'g',
        answer: { status: 201, headers: [['a', 'b']], body },
      },
    ],
    ['has just been freed', undefined, { kind: 'running', fingerprint: 'f' }],
  ])('of a key that %s, a claim says so', async (_, row, expected) => {
    const { store, values } = open({ taken: 0, ...(row && { row }) });
    expect(await store.claim(claim)).toEqual(expected);
    expect(values.slice(1)).toEqual([['a']]);
  });

  test('every fiftieth claim drops what has expired', async () => {
    const { store, log } = open();
    const sweeps: number[] = [];
    for (let turn = 1; turn <= 101; turn++) {
      const before = log.length;
      await store.claim(claim);
      if (log.slice(before).includes('pool: DELETE FROM')) sweeps.push(turn);
    }
    expect(sweeps).toEqual([1, 51, 101]);
  });

  test('an answer is stored in the transaction of the handler, which then commits', async () => {
    const { store, log, values } = open();
    expect(await store.run(claim, async () => answer)).toBe(true);
    expect(log).toEqual([
      'pool: SELECT name,',
      ...transaction('COMMIT', 'tx: UPDATE idempotency_keys'),
    ]);
    expect(values).toEqual([['a', 't', 201, '[["a","b"]]', answer.body]]);
  });

  test('who has lost the claim does not commit', async () => {
    const { store, log } = open({ updated: 0 });
    expect(await store.run(claim, async () => answer)).toBe(false);
    expect(log.slice(1)).toEqual([
      ...transaction('ROLLBACK', 'tx: UPDATE idempotency_keys'),
      freed,
    ]);
  });

  test('no answer is rolled back, and frees the key', async () => {
    const { store, log, values } = open();
    expect(await store.run(claim, async () => undefined)).toBe(true);
    expect(log.slice(1)).toEqual([...transaction('ROLLBACK'), freed]);
    expect(values).toEqual([['a', 't']]);
  });

  test('what the handler throws is passed on when all is rolled back', async () => {
    const { store, log, values } = open();
    const error = new Error('no paper');
    await expect(store.run(claim, () => Promise.reject(error))).rejects.toBe(error);
    expect(log.slice(1)).toEqual([...transaction('ROLLBACK'), freed]);
    expect(values).toEqual([['a', 't']]);
  });

  test('of a handler that fails, the key is free when all is rolled back, and not before', async () => {
    const { store, log } = open({ hangs: ['ROLLBACK'] });
    store.run(claim, () => Promise.reject(new Error('no paper'))).catch(() => {});
    await new Promise((done) => void setImmediate(done));
    expect(log.at(-1)).toBe('tx: ROLLBACK');
  });

  test.each<[string, readonly string[], string]>([
    ['the handler, where the key is freed', ['ROLLBACK'], 'no paper'],
    ['the database, where the key cannot be freed', ['ROLLBACK', 'DELETE'], 'no DELETE'],
  ])(
    'of a handler that fails, and a ROLLBACK that does, the failure is that of %s',
    async (_, fails, message) => {
      const { store, log } = open({ fails });
      const failing = store.run(claim, () => Promise.reject(new Error('no paper')));
      await expect(failing).rejects.toThrow(message);
      expect(log.slice(-2)).toEqual([isPg ? 'closed' : 'tx: ROLLBACK', freed]);
    },
  );

  test.each<[string, readonly string[], string]>([
    ['the limits', ['pg_settings'], 'no pg_settings'],
    ['the start', ['BEGIN'], 'no BEGIN'],
    ['the limits of the transaction', ['SET'], 'no SET'],
    ['the answer', ['UPDATE'], 'no UPDATE'],
    ['the commit', ['COMMIT'], 'no COMMIT'],
    ['the commit, and that of the key being freed', ['COMMIT', 'DELETE'], 'no COMMIT'],
  ])('a failure of %s is passed on', async (_, fails, message) => {
    const { store, log } = open({ fails });
    await expect(store.run(claim, async () => answer)).rejects.toThrow(message);
    expect(log.at(-1)).toBe(freed);
  });

  test('of a handler that may still run nothing is waited for, and its tx is over', async () => {
    const { store, log } = open({ hangs: ['SELECT pg_sleep', 'ROLLBACK'] });
    const error = new LeaseOverError(500);
    let lent: unknown;
    const running = store.run(claim, (tx) => {
      lent = tx;
      return Promise.reject(error);
    });
    await expect(running).rejects.toBe(error);
    expect(log.slice(isPg ? 2 : 4)).toEqual([isPg ? 'closed' : freed, ...(isPg ? [freed] : [])]);
    const { query, unsafe } = lent as Record<'query' | 'unsafe', (sql: string) => unknown>;
    expect(() => (query ?? unsafe)('SELECT 1')).toThrow(
      'postgresStore: tx was used after its transaction had ended. Nothing was written.',
    );
  });

  test('a ROLLBACK that fails after the lease ends no process', async () => {
    const unhandled = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const { store } = open({ fails: ['ROLLBACK'] });
    const error = new LeaseOverError(500);
    await expect(store.run(claim, () => Promise.reject(error))).rejects.toBe(error);
    await new Promise((done) => void setImmediate(done));
    expect(unhandled).not.toHaveBeenCalled();
  });

  test.each<[string, readonly [number, number], number, string]>([
    ['has none', [0, 0], 500, '500,500'],
    ['has longer ones', [501, 9000], 500, '500,500'],
    ['has shorter ones', [499, 200], 500, '499,200'],
    ['takes no longer ones', [0, 0], 1e12, '2147483647,2147483647'],
  ])('a transaction is limited to its lease where the database %s', async (...row) => {
    const [, limits, leaseMs, expected] = row;
    const { store, begins } = open({ limits });
    await store.run({ ...claim, leaseMs }, async () => answer);
    const [statement, idle] = expected.split(',');
    expect(begins).toEqual([
      `SET LOCAL statement_timeout = ${statement}; SET LOCAL idle_in_transaction_session_timeout = ${idle}`,
    ]);
  });

  test('the limits of the database are read until they are known, and no more', async () => {
    const behaviour: Behaviour = { fails: ['pg_settings'] };
    const { store, log, begins } = open(behaviour);
    await expect(store.run(claim, async () => answer)).rejects.toThrow('no pg_settings');
    behaviour.fails = [];
    await store.run(claim, async () => answer);
    await store.run({ ...claim, leaseMs: 100 }, async () => answer);
    expect(log.filter((line) => line === 'pool: SELECT name,')).toHaveLength(2);
    expect(begins.map((sql) => sql.split(';')[0])).toEqual([
      'SET LOCAL statement_timeout = 500',
      'SET LOCAL statement_timeout = 100',
    ]);
  });

  test('a connection that says nothing any more keeps no later request from its transaction', async () => {
    const behaviour: Behaviour = { hangs: ['pg_settings'] };
    const { store } = open(behaviour);
    // Waits for the limits of the database for ever. idempotent has given it up by then.
    void store.run(claim, async () => answer);
    behaviour.hangs = [];
    expect(await store.run({ ...claim, token: 'u' }, async () => answer)).toBe(true);
  });
});

test('a connection of pg that breaks within a transaction ends no process, and is listened to no longer', async () => {
  const { store, listeners } = openPg();
  let within: readonly string[] = [];
  await store.run(claim, async () => {
    within = [...listeners];
    return answer;
  });
  expect([within, listeners]).toEqual([['on error'], ['on error', 'off error']]);
});

test('a transaction of pg that has ended is over for its handler before it commits', async () => {
  let lent: unknown;
  const { store } = openPg();
  await store.run(claim, async (tx) => {
    lent = tx;
    return answer;
  });
  expect(() => (lent as { query: (sql: string) => unknown }).query('SELECT 1')).toThrow(
    'postgresStore: tx was used after its transaction had ended. Nothing was written.',
  );
});

test.each(['a; DROP TABLE b', '', ' keys', 'keys ', 'a.', '.a', 'a.b.c', 'shop.my keys', '"keys"'])(
  'a table has a name, and no more than that: %j is refused',
  (table) => {
    const message = `table is '${table}', and must be letters, digits and underscores, and one dot after a schema.`;
    expect(() => postgresTable(table)).toThrow(new TypeError(`postgresTable: ${message}`));
    const pool = { query: () => {}, connect: () => {} };
    expect(() => postgresStore(pool as never, { table })).toThrow(
      new TypeError(`postgresStore: ${message}`),
    );
  },
);

test('a table may be in a schema, and its index has the name of both', () => {
  expect(postgresTable('shop.keys_2')).toContain(
    'CREATE TABLE IF NOT EXISTS shop.keys_2 (\n  id text PRIMARY KEY,',
  );
  expect(postgresTable('shop.keys_2')).toContain(
    'CREATE INDEX IF NOT EXISTS shop_keys_2_expires_at ON shop.keys_2 (expires_at);',
  );
});

test('the SQL of the page is that of postgresTable', () => {
  expect(readFileSync('docs/server-stores/postgresql.md', 'utf8')).toContain(
    `\`\`\`sql\n${postgresTable()}\n\`\`\``,
  );
});
