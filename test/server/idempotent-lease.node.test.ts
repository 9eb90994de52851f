import type { DatabaseSync } from 'node:sqlite';
import { idempotent, sqliteStore } from 'steadfetch/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { failureOf, leaseMessage, testLease } from './lease-contract.ts';
import { createLatch, openOrders, ordersIn, post, problemOf, stores, told } from './rig.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe.each(stores)('with %s, a handler that never ends', (name, createStore) => {
  testLease(name, createStore);
});

test('while a handler has the transaction of SQLite, others get a 503 after storeTimeoutMs', async () => {
  const db = openOrders();
  const [started, claimed] = [createLatch(), createLatch()];
  const store = sqliteStore(db);
  const send = idempotent(
    async (request) => {
      const order = await request.text();
      if (order === 'a chair') return new Response(order);
      started.open();
      return new Promise<never>(() => {});
    },
    {
      store: {
        ...store,
        claim(claim) {
          const claiming = store.claim(claim);
          if (claim.id.includes('b')) claimed.open();
          return claiming;
        },
      },
      onStoreError: () => {},
    },
  );
  const first = failureOf(send(post({ key: '"a"' })));
  await started.opened;
  const other = send(post({ key: '"b"', body: 'a chair' }));
  await claimed.opened;
  await vi.advanceTimersByTimeAsync(5000);
  expect(await problemOf(other)).toBe('503 store-unavailable');
  await vi.advanceTimersByTimeAsync(25_000);
  expect(await first).toBe(leaseMessage);
  expect(await told(send(post({ key: '"b"', body: 'a chair' })))).toBe('200 a chair');
});

test('what a handler writes after it was given up is no part of the transaction of another', async () => {
  const db = openOrders();
  const [slow, next] = [createLatch(), createLatch()];
  const [slowRuns, nextRuns] = [createLatch(), createLatch()];
  const late: unknown[] = [];
  const insert = 'INSERT INTO orders (article) VALUES (?)';
  const handlers: Record<string, (tx: DatabaseSync) => Promise<void>> = {
    async slow(tx) {
      const statement = tx.prepare(insert);
      const rows = tx.prepare(`${insert} RETURNING id`).iterate('by iterate');
      slowRuns.open();
      await slow.opened;
      for (const write of [
        () => statement.run('by statement'),
        () => tx.prepare(insert),
        () => tx.exec('COMMIT'),
        () => [...rows],
      ]) {
        try {
          late.push(write());
        } catch (error) {
          late.push((error as Error).message.slice(0, 60));
        }
      }
    },
    async next(tx) {
      nextRuns.open();
      await next.opened;
      tx.prepare(insert).run('by the next');
    },
  };
  const send = idempotent(
    async (request, { tx }) => {
      await handlers[await request.text()]?.(tx);
      return new Response('done');
    },
    { store: sqliteStore(db) },
  );
  const first = failureOf(send(post({ key: '"a"', body: 'slow' })));
  await slowRuns.opened;
  const second = told(send(post({ key: '"b"', body: 'next' })));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await first).toBe(leaseMessage);
  await nextRuns.opened;
  slow.open();
  await vi.advanceTimersByTimeAsync(0);
  expect(late).toEqual(
    Array.from({ length: 4 }, () => 'sqliteStore: tx was used after its transaction had ended. No'),
  );
  next.open();
  expect(await second).toBe('200 done');
  expect(ordersIn(db)).toEqual(['by the next']);
});
