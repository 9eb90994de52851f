import type { OutboxContext } from 'steadfetch/outbox';
import { describe, expect, test } from 'vitest';
import { openIndexedDb } from '../../src/outbox/store/disk.ts';
import { createVirtualClock } from '../core/origin/virtual-clock.ts';
import { createBrowser, plainApi, settle, shop } from './rig.ts';

/** Runs it where `indexedDB` is this. */
function withIndexedDb<T>(value: unknown, run: () => T): T {
  const { indexedDB } = globalThis;
  Object.defineProperty(globalThis, 'indexedDB', { value, configurable: true });
  try {
    return run();
  } finally {
    Object.defineProperty(globalThis, 'indexedDB', { value: indexedDB, configurable: true });
  }
}

/** Never says anything. */
const silent = { open: () => new IDBOpenDBRequest() };

/** Opens a database by hand, as another version of this package might. */
const openRaw = (name: string, version?: number): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () =>
      reject(new Error('not opened', { cause: request.error })),
    );
  });

describe('what cannot be kept is sent all the same, and says that it is in this page alone', () => {
  test.each([
    ['quota', 'quota'],
    ['write', 'lost'],
    ['abort', 'lost'],
    ['all', 'lost'],
  ] as const)('%s', async (fault, storage) => {
    const { openTab, server, pass } = createBrowser();
    const { outbox, fail } = openTab({ handlers: shop });
    await settle();
    fail(fault);
    const { saved, delivered } = outbox.submit('order', 1);
    expect(await saved).toEqual({ isDurable: false });
    expect(outbox.getState().storage).toBe(storage);
    await settle();
    server.arrivals[0]?.answer(201, { id: 1 });
    expect(await delivered).toEqual({ id: 1 });
    fail('none');
    await pass(1100);
    const after = outbox.submit('order', 2);
    expect(await after.saved).toEqual({ isDurable: true });
    await pass(200);
    expect(outbox.getState().storage).toBe('durable');
  });

  test('without IndexedDB, and nobody tries again', async () => {
    const { openTab, pass } = createBrowser();
    const { outbox } = withIndexedDb(undefined, () => openTab({ handlers: shop }));
    expect(await outbox.submit('order', 1).saved).toEqual({ isDurable: false });
    expect(outbox.getState().storage).toBe('unavailable');
    await pass(120_000);
    expect(outbox.getState().storage).toBe('unavailable');
  });

  test('and goes at once when somebody looks, after the machine has slept', async () => {
    const { openTab, server, clock } = createBrowser();
    const { outbox, look } = withIndexedDb(undefined, () => openTab({ handlers: shop }));
    outbox.submit('order', 1);
    await settle();
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '3600' });
    await settle();
    clock.sleep(7_200_000);
    await settle();
    expect(server.arrivals).toHaveLength(1);
    look();
    await settle();
    expect(server.arrivals).toHaveLength(2);
  });

  test('where opening it is forbidden, at once', async () => {
    const { openTab } = createBrowser();
    const forbidden = {
      open() {
        throw new DOMException('denied', 'SecurityError');
      },
    };
    const { outbox } = withIndexedDb(forbidden, () => openTab({ handlers: shop }));
    expect(await outbox.submit('order', 1).saved).toEqual({ isDurable: false });
    expect(outbox.getState().storage).toBe('unavailable');
  });
});

describe('a browser that does not let it open', () => {
  test('is waited for five seconds, and then tried again, ever later', async () => {
    const { openTab, server, pass } = createBrowser();
    const { outbox } = withIndexedDb(silent, () => openTab({ handlers: shop }));
    const { saved } = outbox.submit('order', 1);
    await pass(4900);
    expect(outbox.getState().storage).toBe('opening');
    expect(server.arrivals).toEqual([]);
    await pass(200);
    expect(await saved).toEqual({ isDurable: false });
    expect(outbox.getState().storage).toBe('blocked');
    await settle();
    expect(server.arrivals).toHaveLength(1);
    // From here on it is the real one.
    await pass(1100);
    expect(outbox.getState().storage).toBe('durable');
    expect(await outbox.submit('order', 2).saved).toEqual({ isDurable: true });
  });

  test('has one timer while it is waited for, and none after', async () => {
    const clock = createVirtualClock();
    const opening = withIndexedDb(silent, () => openIndexedDb('silent', clock));
    expect(clock.pending()).toBe(1);
    clock.advance(5000);
    await expect(opening).rejects.toMatchObject({ reason: 'blocked' });
    expect(clock.pending()).toBe(0);
  });
});

test('what an earlier page has left is delivered once the database opens, however late', async () => {
  const { openTab, server, pass } = createBrowser();
  const first = openTab({ handlers: shop });
  await first.outbox.submit('order', 1).saved;
  first.crash();
  withIndexedDb(silent, () => openTab({ handlers: shop }));
  await pass(7000);
  expect(server.arrivals).toMatchObject([{ tab: 2, body: '1' }]);
});

test('a database of a later version is left alone: this page must be loaded again', async () => {
  const { name, openTab, pass } = createBrowser();
  const later = await openRaw(name, 99);
  const { outbox } = openTab({ handlers: shop });
  expect(await outbox.submit('order', 1).saved).toEqual({ isDurable: false });
  expect(outbox.getState().storage).toBe('newer-version');
  later.close();
  await pass(120_000);
  expect(outbox.getState().storage).toBe('newer-version');
});

test('a later version that wants the database gets it, and nothing hangs', async () => {
  const { name, openTab } = createBrowser();
  const { outbox, locks } = openTab({ handlers: shop });
  await outbox.submit('order', 1).saved;
  const later = await openRaw(name, 99);
  await settle();
  expect(outbox.getState().storage).toBe('newer-version');
  expect(locks()).toBe(0);
  expect(await outbox.submit('order', 2).saved).toEqual({ isDurable: false });
  later.close();
});

test('what a full disk does not take goes after the older ones of its scope, and before the younger', async () => {
  const { openTab, server, pass } = createBrowser();
  const { outbox, fail } = openTab({ handlers: { order: { ...shop.order, scope: 'cart' } } });
  await outbox.submit('order', 1).saved;
  await settle();
  server.arrivals[0]?.answer(503, {}, { 'retry-after': '20' });
  await settle();
  fail('quota');
  expect(await outbox.submit('order', 2).saved).toEqual({ isDurable: false });
  await settle();
  fail('none');
  expect(await outbox.submit('order', 3).saved).toEqual({ isDurable: true });
  expect(await outbox.list()).toMatchObject([1, 2, 3].map(() => ({ isDurable: true })));
  server.rule = (arrival) => arrival.answer(201);
  await pass(60_000);
  expect(server.arrivals.map(({ body }) => body)).toEqual(['1', '1', '2', '3']);
  expect(await outbox.submit('order', 4).saved).toEqual({ isDurable: true });
});

test('entries of a scope that move from this page to the disk go in their order', async () => {
  const { openTab, server, pass } = createBrowser();
  const { outbox, fail } = openTab({ handlers: { order: { ...shop.order, scope: 'cart' } } });
  await settle();
  fail('all');
  for (const n of [1, 2, 3])
    expect(await outbox.submit('order', n).saved).toEqual({ isDurable: false });
  await settle();
  server.arrivals[0]?.answer(503, {}, { 'retry-after': '20' });
  await settle();
  fail('none');
  await pass(1100);
  expect(await outbox.list()).toMatchObject([1, 2, 3].map(() => ({ isDurable: true })));
  server.rule = (arrival) => arrival.answer(201);
  await pass(30_000);
  expect(server.arrivals.map(({ body }) => body)).toEqual(['1', '1', '2', '3']);
});

describe('what the browser has written, and said so too late, goes from this page alone', () => {
  test.each([
    ['a request without a key', undefined],
    ['one of a scope', 'cart'],
  ])('%s is sent once, also where the next page comes', async (_, scope) => {
    const { openTab, server, pass, rows } = createBrowser();
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    const handlers = {
      order: {
        mutationFn: (order: string, { json }: OutboxContext) =>
          json(`${plainApi}/orders`, { json: order }),
        ...(scope && { scope }),
      },
    };
    const tab = openTab({ handlers });
    await settle();
    tab.fail('hang');
    const { saved, delivered } = tab.outbox.submit('order', 'lamp');
    await settle();
    tab.fail('none');
    await pass(31_000, 1000);
    expect(await saved).toEqual({ isDurable: false });
    await pass(1000);
    expect(server.arrivals).toHaveLength(1);
    expect(await delivered).toEqual({ id: 1 });
    expect(await rows()).toEqual([]);
    tab.crash();
    openTab({ handlers });
    await pass(10_000);
    expect(server.arrivals).toHaveLength(1);
  });

  test('once its disk works again, where that takes longer', async () => {
    const { openTab, pass, rows } = createBrowser();
    const tab = openTab({ handlers: shop });
    await settle();
    tab.fail('hang');
    const { idempotencyKey } = tab.outbox.submit('order', 'lamp');
    await settle();
    tab.fail('all');
    await pass(60_000, 1000);
    tab.fail('none');
    expect((await rows()).map(({ id }) => id)).toEqual([idempotencyKey]);
    await pass(5000);
    expect(await rows()).toEqual([]);
    expect(await tab.outbox.find(idempotencyKey)).toMatchObject({ isDurable: false });
  });

  test('and not at all, where a user has discarded it meanwhile', async () => {
    const { openTab, server, pass, rows } = createBrowser();
    const tab = openTab({ handlers: shop });
    await settle();
    tab.fail('hang');
    const { idempotencyKey, delivered } = tab.outbox.submit('order', 'lamp');
    await settle();
    tab.fail('none');
    void tab.outbox.clear();
    await pass(31_000, 1000);
    await expect(delivered).rejects.toThrow('was discarded');
    expect(await tab.outbox.find(idempotencyKey)).toBeUndefined();
    expect([await rows(), server.arrivals]).toEqual([[], []]);
  });
});

test('a database that the browser has found damaged, and has made anew, is told of: what was in it is gone', async () => {
  const { openTab } = createBrowser();
  const { indexedDB } = globalThis;
  const damaged = {
    open(name: string, version: number) {
      const request = indexedDB.open(name, version);
      request.addEventListener('upgradeneeded', (event) =>
        Object.assign(event, { dataLoss: 'total' }),
      );
      return request;
    },
  };
  const { outbox } = withIndexedDb(damaged, () => openTab({ handlers: shop }));
  expect(outbox.getState().wasErased).toBe(false);
  expect(await outbox.submit('order', 1).saved).toEqual({ isDurable: true });
  expect(outbox.getState()).toMatchObject({ storage: 'durable', wasErased: true });
  const { outbox: other } = createBrowser().openTab({ handlers: shop });
  await other.submit('order', 1).saved;
  expect(other.getState().wasErased).toBe(false);
});

describe('a database that is deleted', () => {
  test('is made anew: what this page had submitted is told as unknown, and what it submits from then on is kept', async () => {
    const { name, openTab, server, pass } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    const end = outbox.submit('order', 1).delivered.catch((error: unknown) => error);
    await settle();
    server.arrivals[0]?.answer(503);
    await settle();
    indexedDB.deleteDatabase(name);
    await settle();
    expect(outbox.getState().storage).toBe('lost');
    const { saved, delivered } = outbox.submit('order', 2);
    expect(await saved).toEqual({ isDurable: false });
    server.rule = (arrival) => arrival.answer(201, { id: 2 });
    await pass(1100);
    expect(outbox.getState().storage).toBe('durable');
    expect(await end).toMatchObject({ code: 'cancelled', outcome: { processed: 'unknown' } });
    expect(await delivered).toEqual({ id: 2 });
    expect(await outbox.submit('order', 3).saved).toEqual({ isDurable: true });
    await pass(60_000);
    expect(server.arrivals.map(({ body }) => body)).toEqual(['1', '2', '3']);
  });

  test('while an answer is on its way: whoever waits is told what came', async () => {
    const { name, openTab, server, pass } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    const { delivered } = outbox.submit('order', 1);
    await settle();
    indexedDB.deleteDatabase(name);
    await settle();
    server.arrivals[0]?.answer(201, { id: 1 });
    await pass(2000);
    for (const arrival of server.arrivals.slice(1)) arrival.answer(201, { id: 1 });
    expect(await delivered).toEqual({ id: 1 });
    await pass(1000);
    expect(outbox.getState().storage).toBe('durable');
    expect(await outbox.list({ state: 'pending' })).toEqual([]);
  });

  test('while another client sends what has no key: it is sent once, and has the end that it has', async () => {
    const { name, openTab, pass } = createBrowser();
    const answers: ((data: string) => void)[] = [];
    const mutationFn = (): Promise<string> => new Promise((resolve) => void answers.push(resolve));
    const { outbox } = openTab({ handlers: { order: { mutationFn } } });
    const { delivered } = outbox.submit('order', 'lamp');
    await settle();
    indexedDB.deleteDatabase(name);
    await pass(2000);
    expect(outbox.getState().storage).toBe('durable');
    answers[0]?.('done');
    expect(await delivered).toBe('done');
    await pass(60_000);
    expect(answers).toHaveLength(1);
    expect(await outbox.list()).toEqual([]);
  });

  test('while what has no key is under way, and its answer is lost: it is told as unknown, and is not sent again', async () => {
    const { name, openTab, server, pass } = createBrowser();
    const mutationFn = (body: string, { fetch }: OutboxContext) =>
      fetch('https://other.example/orders', { method: 'POST', body });
    const { outbox } = openTab({ handlers: { order: { mutationFn } } });
    const end = outbox.submit('order', 'lamp').delivered.catch((error: unknown) => error);
    await settle();
    indexedDB.deleteDatabase(name);
    await pass(2000);
    server.arrivals[0]?.cut();
    expect(await end).toMatchObject({ outcome: { processed: 'unknown' } });
    await pass(60_000);
    expect(server.arrivals).toHaveLength(1);
  });

  test('is empty after a clear, also one that comes while it is made anew', async () => {
    for (let turns = 0; turns < 30; turns += 1) {
      const { name, openTab, server, clock, pass } = createBrowser();
      const { outbox } = openTab({ handlers: shop });
      const ends = [1, 2].map((n) => outbox.submit('order', n).delivered);
      await settle();
      indexedDB.deleteDatabase(name);
      await settle();
      clock.advance(1000);
      for (let left = turns; left > 0; left -= 1)
        await new Promise((done) => void setImmediate(done));
      await outbox.clear();
      for (const end of ends) await expect(end).rejects.toThrow('was discarded');
      await settle();
      expect(await outbox.list()).toEqual([]);
      const before = server.arrivals.length;
      await pass(2000);
      expect(server.arrivals).toHaveLength(before);
    }
  });

  test('again and again, and what an old connection says does not close the new one', async () => {
    const { name, openTab, server, pass } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    for (const n of [1, 2, 3]) {
      await outbox.submit('order', n).saved;
      await settle();
      indexedDB.deleteDatabase(name);
      await settle();
      await pass(1100);
      expect(outbox.getState().storage).toBe('durable');
    }
    for (const arrival of server.arrivals) arrival.answer(503);
    await pass(3000);
    expect(outbox.getState().storage).toBe('durable');
  });
});

test('the page asks before it is left as long as something is not on the disk, and no longer', async () => {
  const listeners = new Set<unknown>();
  const page = globalThis as unknown as Record<string, unknown>;
  page['addEventListener'] = (type: string, listener: unknown) =>
    type === 'beforeunload' && listeners.add(listener);
  page['removeEventListener'] = (type: string, listener: unknown) =>
    type === 'beforeunload' && listeners.delete(listener);
  try {
    const { openTab, server } = createBrowser();
    const { outbox, fail } = openTab({ handlers: shop });
    const first = outbox.submit('order', 1);
    expect(listeners.size).toBe(1);
    await first.saved;
    expect(listeners.size).toBe(0);
    await settle();
    fail('quota');
    const second = outbox.submit('order', 2);
    await second.saved;
    expect(listeners.size).toBe(1);
    await settle();
    server.arrivals[1]?.answer(201);
    await second.delivered;
    expect(listeners.size).toBe(0);
    outbox.submit('order', 3);
    outbox.dispose();
    expect(listeners.size).toBe(1);
    await settle();
    expect(listeners.size).toBe(0);
  } finally {
    delete page['addEventListener'];
    delete page['removeEventListener'];
  }
});
