import type { DatabaseSync } from 'node:sqlite';
import { idempotent, sqliteStore } from 'steadfetch/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLatch, createShop, openOrders, ordersIn, post, stores, told } from './rig.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const message =
  'idempotent: the handler gave no answer within leaseMs, 30000 ms. It is rolled back, and its key is free again.';

const failureOf = async (answer: Promise<Response>): Promise<string | undefined> => {
  try {
    await answer;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

describe.each(stores)('with %s, a handler that never ends', (_, createStore) => {
  const hang = () => {
    const rig = createStore();
    const started = createLatch();
    const shop = createShop(rig, {}, (order, run) => {
      if (run > 1) return new Response(order);
      started.open();
      return new Promise<never>(() => {});
    });
    const first = failureOf(shop.send(post({ key: '"a"' })));
    return { rig, shop, first, started: started.opened };
  };

  test('is given up after leaseMs, and has done nothing', async () => {
    const { rig, first, started } = hang();
    await started;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await first).toBe(message);
    expect(rig.ledger.orders()).toEqual([]);
  });

  test('does not keep its own key, nor that of others', async () => {
    const { rig, shop, first, started } = hang();
    await started;
    const other = told(shop.send(post({ key: '"b"', body: 'a chair' })));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await first).toBe(message);
    expect(await other).toBe('200 a chair');
    expect(await told(shop.send(post({ key: '"a"' })))).toBe('200 a lamp');
    expect(rig.ledger.orders()).toEqual(['a chair', 'a lamp']);
    expect(vi.getTimerCount()).toBe(0);
  });
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
  expect(await first).toBe(message);
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
