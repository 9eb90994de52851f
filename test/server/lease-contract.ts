import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLatch, createShop, type NamedStore, post, told } from './rig.ts';

export const leaseMessage =
  'idempotent: the handler gave no answer within leaseMs, 30000 ms. It is rolled back, and its key is free again.';

/** What a request has failed with. */
export const failureOf = async (answer: Promise<Response>): Promise<string | undefined> => {
  try {
    await answer;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

/** What becomes of a handler that never ends, with every store that is to be had. */
export function testLease(name: string, createStore: NamedStore[1]): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const hang = async () => {
    const rig = await createStore();
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
    const { rig, first, started } = await hang();
    await started;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await first).toBe(leaseMessage);
    expect(await rig.ledger.orders()).toEqual([]);
  });

  test('keeps its own key no longer', async () => {
    const { rig, shop, first, started } = await hang();
    await started;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await first).toBe(leaseMessage);
    expect(await told(shop.send(post({ key: '"a"' })))).toBe('200 a lamp');
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  // SQLite has one transaction at a time.
  test.skipIf(name.startsWith('sqliteStore'))(
    'keeps the key of nobody else, even meanwhile',
    async () => {
      const { rig, shop, started } = await hang();
      await started;
      expect(await told(shop.send(post({ key: '"b"', body: 'a chair' })))).toBe('200 a chair');
      expect(await rig.ledger.orders()).toEqual(['a chair']);
      await vi.advanceTimersByTimeAsync(30_000);
    },
  );
}
