import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Claim, idempotent, type IdempotencyStore, sqliteStore } from 'steadfetch/server';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLatch, openOrders, ordersIn, post, problemOf, told } from './rig.ts';

const claimOf = (id: string, nowMs: number): Claim => ({
  id,
  fingerprint: 'f',
  token: `${id} ${nowMs}`,
  nowMs,
  leaseMs: 10,
  lifetimeMs: 100,
});
const answer = { status: 200, headers: [['a', 'b']], body: Uint8Array.of(1, 2) } as const;
const count = (db: DatabaseSync, table = 'idempotency_keys') =>
  db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'];

/** A file, as two processes have it open. */
function openTwice(): readonly [DatabaseSync, DatabaseSync] {
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'shop.db');
  return [openOrders(path), openOrders(path)];
}

test('rows are dropped when they expire, and no more than 100 at once', async () => {
  const db = openOrders();
  const store = sqliteStore(db);
  for (let index = 0; index < 250; index++) await store.claim(claimOf(`${index}`, 0));
  expect(count(db)).toBe(250);
  const sizes: unknown[] = [];
  for (const id of ['x', 'y', 'z']) {
    await store.claim(claimOf(id, 100));
    sizes.push(count(db));
  }
  expect(sizes).toEqual([151, 52, 3]);
});

test('an expired key is free even while its row is there', async () => {
  const [a, b] = openTwice();
  a.exec('PRAGMA synchronous = OFF');
  const first = sqliteStore(a);
  for (let index = 0; index < 300; index++) {
    const claim = claimOf(`${index}`, 0);
    await first.claim(claim);
    await first.run(claim, async () => answer);
  }
  const again = claimOf('299', 100);
  expect(await sqliteStore(b).claim({ ...again, fingerprint: 'g' })).toEqual({ kind: 'claimed' });
  expect(await first.claim(again)).toEqual({ kind: 'running', fingerprint: 'g' });
});

test('a second store on one handle is refused at once: it would know nothing of the transactions of the first', () => {
  const [a, b] = openTwice();
  sqliteStore(a);
  expect(() => sqliteStore(a, { table: 'other' })).toThrow(
    'sqliteStore: this handle has a store already. Share that store between the handlers, or open another handle of the file.',
  );
  expect(() => sqliteStore(b)).not.toThrow();
});

test('a table may have another name, and is found again by another process', async () => {
  const [a, b] = openTwice();
  const claim = claimOf('a', 0);
  const store = sqliteStore(a, { table: 'keys' });
  await store.claim(claim);
  expect(await store.run(claim, async () => answer)).toBe(true);
  expect(await sqliteStore(b, { table: 'keys' }).claim(claimOf('a', 50))).toEqual({
    kind: 'answered',
    fingerprint: 'f',
    answer: { ...answer, headers: [['a', 'b']] },
  });
  expect(count(b, 'keys')).toBe(1);
});

test('a lease that is over is taken by the same payload only', async () => {
  const [a, b] = openTwice();
  await sqliteStore(a).claim(claimOf('a', 0));
  const other = sqliteStore(b);
  expect(await other.claim(claimOf('a', 9))).toEqual({ kind: 'running', fingerprint: 'f' });
  const edited = { ...claimOf('a', 10), fingerprint: 'g' };
  expect(await other.claim(edited)).toEqual({ kind: 'running', fingerprint: 'f' });
  expect(await other.claim(claimOf('a', 10))).toEqual({ kind: 'claimed' });
});

test('a key whose handler runs in this process is not given away here, whatever its lease', async () => {
  const [a] = openTwice();
  const store = sqliteStore(a);
  await store.claim(claimOf('a', 0));
  const edited = { ...claimOf('a', 50), fingerprint: 'g' };
  expect(await store.claim(edited)).toEqual({ kind: 'running', fingerprint: 'f' });
  expect(await store.claim(claimOf('b', 50))).toEqual({ kind: 'claimed' });
});

test.each<[string, string, typeof answer | undefined, readonly string[]]>([
  ['is kept', '0', answer, ['BEGIN IMMEDIATE', 'UPDATE', 'UPDATE', 'COMMIT']],
  ['is none', '0', undefined, ['BEGIN IMMEDIATE', 'UPDATE', 'ROLLBACK', 'DELETE']],
  [
    'comes when the claim is lost',
    '1',
    answer,
    ['BEGIN IMMEDIATE', 'UPDATE', 'UPDATE', 'SELECT', 'ROLLBACK', 'DELETE'],
  ],
])('an answer that %s is written with no more statements than it needs', async (...row) => {
  const [, token, own, statements] = row;
  const db = openOrders();
  const log: string[] = [];
  const store = sqliteStore({
    exec(sql: string) {
      log.push(sql);
      db.exec(sql);
    },
    prepare(sql: string) {
      const statement = db.prepare(sql);
      const [verb = ''] = sql.split(' ');
      type Values = (string | number | Uint8Array)[];
      return {
        get: (...values: Values) => (log.push(verb), statement.get(...values)),
        run: (...values: Values) => (log.push(verb), statement.run(...values)),
      };
    },
  });
  await store.claim({ ...claimOf('a', 0), token: '0' });
  log.length = 0;
  expect(await store.run({ ...claimOf('a', 0), token }, async () => own)).toBe(token === '0');
  expect(log).toEqual(statements);
});

test('who was taken for dead and comes back cannot commit: its effect is undone', async () => {
  const [a, b] = openTwice();
  let nowMs = 0;
  const arrived = createLatch();
  const woken = createLatch();
  const shopOf = (store: IdempotencyStore<DatabaseSync>, name: string) =>
    idempotent(
      (_request, { tx }) => {
        tx.prepare('INSERT INTO orders (article) VALUES (?)').run(`by ${name}`);
        return new Response(`by ${name}`);
      },
      { store, leaseMs: 1000, now: () => nowMs },
    );
  const sleepy = sqliteStore(a);
  const one = shopOf(
    {
      claim: (claim) => sleepy.claim(claim),
      async run(claim, work) {
        arrived.open();
        await woken.opened;
        return sleepy.run(claim, work);
      },
    },
    'one',
  );
  const two = shopOf(sqliteStore(b), 'two');
  const first = one(post({ key: '"a"' }));
  await arrived.opened;
  expect(await problemOf(two(post({ key: '"a"' })))).toBe('409 in-progress');
  nowMs = 1000;
  expect(await told(two(post({ key: '"a"' })))).toBe('200 by two');
  woken.open();
  expect(await problemOf(first)).toBe('409 in-progress');
  expect(ordersIn(a)).toEqual(['by two']);
  expect(await told(one(post({ key: '"a"' })))).toBe('200 by two');
  expect(ordersIn(a)).toEqual(['by two']);
});

test('a transaction that has been lost to another leaves that one its row', async () => {
  const [a, b] = openTwice();
  const [one, two] = [sqliteStore(a), sqliteStore(b)];
  const [dead, alive] = [claimOf('a', 0), claimOf('a', 10)];
  await one.claim(dead);
  await two.claim(alive);
  expect(await one.run(dead, async () => answer)).toBe(false);
  await expect(one.run(dead, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await two.run(alive, async () => answer)).toBe(true);
});

test('handlers that await take the handle in turn, each with its own transaction', async () => {
  const db = openOrders();
  const log: string[] = [];
  const send = idempotent(
    async (request, { tx, key }) => {
      log.push(`${key} begins`);
      tx.prepare('INSERT INTO orders (article) VALUES (?)').run(key);
      await new Promise((resolve) => void setImmediate(resolve));
      log.push(`${key} ends`);
      return new Response(null, { status: (await request.text()) === 'good' ? 200 : 500 });
    },
    { store: sqliteStore(db) },
  );
  const sent = ['good', 'bad', 'good'].map((body, index) =>
    send(post({ key: `"${index}"`, body })),
  );
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses).toEqual([200, 500, 200]);
  expect(log.filter((_, index) => index % 2 === 0).map((line) => line.slice(1))).toEqual(
    Array.from({ length: 3 }, () => ' begins'),
  );
  expect(ordersIn(db).toSorted()).toEqual(['0', '2']);
});

describe('while another process has the file', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
  afterEach(() => void vi.useRealTimers());

  test('a claim waits for it, and holds up nothing else meanwhile', async () => {
    const [a, b] = openTwice();
    const store = sqliteStore(a);
    b.exec('BEGIN IMMEDIATE');
    const claiming = store.claim({ ...claimOf('a', 0), leaseMs: 10_000 });
    await vi.advanceTimersByTimeAsync(9_999);
    b.exec('ROLLBACK');
    await vi.advanceTimersByTimeAsync(10);
    expect(await claiming).toEqual({ kind: 'claimed' });
  });

  test('a claim waits no longer than its lease', async () => {
    const [a, b] = openTwice();
    const store = sqliteStore(a);
    b.exec('BEGIN IMMEDIATE');
    const claiming = store.claim(claimOf('a', 0));
    const outcome = Promise.resolve(claiming).catch((error: unknown) => (error as Error).message);
    await vi.advanceTimersByTimeAsync(10);
    expect(await outcome).toBe('database is locked');
  });

  test('a transaction waits no longer than its lease', async () => {
    const [a, b] = openTwice();
    const store = sqliteStore(a);
    const claim = claimOf('a', 0);
    await store.claim(claim);
    b.exec('BEGIN IMMEDIATE');
    const running = store.run(claim, async () => answer);
    const outcome = running.catch((error: unknown) => (error as Error).message);
    // The key is freed within a second lease.
    await vi.advanceTimersByTimeAsync(20);
    expect(await outcome).toBe('database is locked');
  });

  test('what fails otherwise fails at once', async () => {
    const db = openOrders();
    const store = sqliteStore(db);
    db.exec('DROP TABLE idempotency_keys');
    const claiming = Promise.resolve(store.claim({ ...claimOf('a', 0), leaseMs: 10_000 }));
    await expect(claiming).rejects.toThrow('no such table: idempotency_keys');
  });

  test('a transaction and its commit wait for it', async () => {
    const [a, b] = openTwice();
    const store = sqliteStore(a);
    const claim = { ...claimOf('a', 0), leaseMs: 10_000 };
    await store.claim(claim);
    b.exec('BEGIN IMMEDIATE');
    const running = store.run(claim, async (tx) => {
      // Whoever reads keeps others from their commit, where there is no write-ahead log.
      b.exec('BEGIN; SELECT count(*) FROM orders');
      tx.exec("INSERT INTO orders (article) VALUES ('a lamp')");
      return answer;
    });
    await vi.advanceTimersByTimeAsync(5000);
    b.exec('ROLLBACK');
    await vi.advanceTimersByTimeAsync(5000);
    expect(ordersIn(b)).toEqual([]);
    b.exec('ROLLBACK');
    await vi.advanceTimersByTimeAsync(10);
    expect(await running).toBe(true);
    expect(ordersIn(b)).toEqual(['a lamp']);
  });

  test('a request is answered 503 after storeTimeoutMs, and its key is free afterwards', async () => {
    const [a, b] = openTwice();
    const store = sqliteStore(a);
    const claimed = createLatch();
    const errors: string[] = [];
    const send = idempotent(() => new Response('fine'), {
      store: {
        ...store,
        claim(claim) {
          const claiming = store.claim(claim);
          claimed.open();
          return claiming;
        },
      },
      onStoreError: (error) => void errors.push((error as Error).message),
    });
    b.exec('BEGIN IMMEDIATE');
    const answered = send(post({ key: '"a"' }));
    await claimed.opened;
    await vi.advanceTimersByTimeAsync(5000);
    expect(await problemOf(answered)).toBe('503 store-unavailable');
    expect(errors).toEqual(['idempotent: the store did not claim within storeTimeoutMs, 5000 ms.']);
    b.exec('ROLLBACK');
    await vi.advanceTimersByTimeAsync(10);
    expect(await told(send(post({ key: '"a"' })))).toBe('200 fine');
  });
});

test('a transaction has the file to itself from its beginning: what it has read is still so when it writes', async () => {
  const [a, b] = openTwice();
  a.exec('PRAGMA journal_mode = WAL');
  const { open, opened } = createLatch();
  const { open: tellRead, opened: read } = createLatch();
  const first = idempotent(
    async (_request, { tx }) => {
      const left = 1 - ordersIn(tx).length;
      tellRead();
      await opened;
      tx.prepare('INSERT INTO orders (article) VALUES (?)').run(`of ${left}`);
      return new Response('the last one');
    },
    { store: sqliteStore(a) },
  );
  const other = sqliteStore(b);
  const answered = first(post({ key: '"a"' }));
  await read;
  await expect(other.claim({ ...claimOf('b', 0), leaseMs: 0 })).rejects.toThrow(
    'database is locked',
  );
  open();
  expect(await told(answered)).toBe('200 the last one');
  expect(await other.claim(claimOf('b', 0))).toEqual({ kind: 'claimed' });
  expect(ordersIn(b)).toEqual(['of 1']);
});

test('what a failed statement has rolled back is not answered as done, and the next attempt runs', async () => {
  const db = openOrders();
  db.exec('CREATE UNIQUE INDEX one_of_each ON orders (article)');
  db.exec("INSERT INTO orders (article) VALUES ('a chair')");
  const errors: unknown[] = [];
  let articles = ['a lamp', 'a chair'];
  const send = idempotent(
    (_request, { tx }) => {
      for (const article of articles)
        try {
          tx.prepare('INSERT OR ROLLBACK INTO orders (article) VALUES (?)').run(article);
        } catch {
          // It was there already, the handler believes, and nothing else has happened.
        }
      return new Response(articles.join(), { status: 201 });
    },
    { store: sqliteStore(db), onStoreError: (error) => void errors.push(String(error)) },
  );
  expect(await problemOf(send(post({ key: '"a"' })))).toBe('503 store-unavailable');
  expect(errors).toEqual([
    'Error: sqliteStore: a failed statement has rolled the transaction back. The answer is not stored.',
  ]);
  articles = ['a lamp'];
  expect(await told(send(post({ key: '"a"' })))).toBe('201 a lamp');
  expect(ordersIn(db)).toEqual(['a chair', 'a lamp']);
});

test('what a failed statement has rolled back with, and is thrown on, is thrown on as it is', async () => {
  const db = openOrders();
  db.exec('CREATE UNIQUE INDEX one_of_each ON orders (article)');
  db.exec("INSERT INTO orders (article) VALUES ('a chair')");
  const send = idempotent(
    (_request, { tx }) => {
      tx.prepare('INSERT OR ROLLBACK INTO orders (article) VALUES (?)').run('a chair');
      return new Response('unreached');
    },
    { store: sqliteStore(db) },
  );
  await expect(send(post({ key: '"a"' }))).rejects.toThrow('UNIQUE constraint failed');
});

test('an iterator that a handler leaves open holds up nobody, in whatever process', async () => {
  const [a, b] = openTwice();
  for (const db of [a, b])
    db.exec("PRAGMA journal_mode = WAL; INSERT INTO orders VALUES (NULL, '')");
  const shopOf = (db: DatabaseSync) =>
    idempotent(
      async (request, { tx }) => {
        const article = await request.text();
        tx.prepare('SELECT article FROM orders').iterate().next();
        tx.prepare('INSERT INTO orders (article) VALUES (?)').run(article);
        return new Response(article, { status: 201 });
      },
      { store: sqliteStore(db), leaseMs: 500, onStoreError: () => {} },
    );
  const send = (shop: ReturnType<typeof shopOf>, body: string) =>
    told(shop(post({ key: `"${body}"`, body })));
  const [one, other] = [shopOf(a), shopOf(b)];
  expect(await send(one, 'a lamp')).toBe('201 a lamp');
  expect(await send(other, 'a chair')).toBe('201 a chair');
  expect(await send(one, 'a table')).toBe('201 a table');
  expect(ordersIn(b)).toEqual(['', '', 'a lamp', 'a chair', 'a table']);
});
