import { describe, expect, test, vi } from 'vitest';
import type { DeadLetterError } from 'steadfetch/outbox';
import { createBrowser, settle, shop } from './rig.ts';

/** As fake-indexeddb keeps them. */
interface RawStore {
  readonly records: { readonly get: (key: number) => { value: object } | undefined };
}

/** From now on, what the browser has at this place cannot be read. @returns what mends it. */
function damage(
  database: string,
  seq: number,
  error: string,
  message = 'The file is gone.',
): () => void {
  const { _databases: databases } = indexedDB as unknown as {
    readonly _databases: ReadonlyMap<
      string,
      { readonly rawObjectStores: ReadonlyMap<string, RawStore> }
    >;
  };
  const record = databases.get(database)?.rawObjectStores.get('rows')?.records.get(seq);
  if (!record) throw new Error(`There is nothing at ${seq}.`);
  Object.defineProperty(record.value, 'gone', {
    enumerable: true,
    configurable: true,
    get() {
      throw new DOMException(message, error);
    },
  });
  return () => void Reflect.deleteProperty(record.value, 'gone');
}

const endOf = (delivered: Promise<unknown>): Promise<unknown> =>
  delivered.then(
    () => 'delivered',
    (error: unknown) => {
      const { reason, outcome } = error as DeadLetterError;
      return { reason, processed: outcome.processed };
    },
  );

describe.each([
  ['at once where the browser says that it is gone', 'NotReadableError', 0],
  ['after a minute where it may pass', 'UnknownError', 120_000],
])('an entry that the browser cannot read any more is a dead letter %s', (_, error, afterMs) => {
  test.each(['block', 'pass'] as const)(
    'and its scope goes on, whatever onDead says: %s',
    async (onDead) => {
      const { name, openTab, server, pass } = createBrowser();
      const { outbox } = openTab({ handlers: { order: { ...shop.order, scope: 'cart', onDead } } });
      const { idempotencyKey, delivered } = outbox.submit('order', 0);
      const ended = endOf(delivered);
      outbox.submit('order', 1);
      await settle();
      server.arrivals[0]?.answer(503, {}, { 'retry-after': '1' });
      await settle();
      damage(name, 1, error);
      server.rule = (arrival) => arrival.answer(201, { id: 1 });
      await pass(afterMs + 3000);
      expect(await ended).toEqual({ reason: 'unreadable', processed: 'unknown' });
      expect(await outbox.list()).toMatchObject([
        {
          idempotencyKey,
          handler: 'order',
          state: 'dead',
          reason: 'unreadable',
          variables: undefined,
          lastError: { message: 'It cannot be read any more.' },
        },
      ]);
      expect(server.arrivals.slice(1).map(({ body }) => body)).toEqual(['1']);
    },
  );

  test.each(['block', 'pass'] as const)(
    'and so it does where the entry was behind others: onDead: %s',
    async (onDead) => {
      const { name, openTab, server, pass } = createBrowser();
      const { outbox } = openTab({ handlers: { order: { ...shop.order, scope: 'cart', onDead } } });
      const [, second] = [0, 1, 2].map((n) => outbox.submit('order', n));
      await settle();
      damage(name, 2, error);
      server.rule = (arrival) => arrival.answer(201, { id: 1 });
      server.arrivals[0]?.answer(201, { id: 1 });
      await pass(afterMs + 3000);
      const entries = await outbox.list();
      expect(entries.map(({ reason, variables }) => reason ?? variables)).toEqual(['unreadable']);
      expect(entries[0]).toMatchObject({
        idempotencyKey: second?.idempotencyKey,
        handler: 'order',
        state: 'dead',
      });
      // What comes after it in its scope is read when an end is written, so that may take several tries.
      expect([...new Set(server.arrivals.map(({ body }) => body))]).toEqual(['0', '2']);
    },
  );

  test('and does not hide the others, also where it was a dead letter already', async () => {
    const { name, openTab, server, pass } = createBrowser();
    server.rule = (arrival) => arrival.answer(422);
    const { outbox } = openTab({ handlers: shop });
    const [one] = [outbox.submit('order', 0), outbox.submit('order', 1)];
    await settle();
    await settle();
    damage(name, 1, error);
    // Who looks first finds it.
    await outbox.list().catch(() => {});
    await pass(afterMs);
    expect(await outbox.list({ state: 'dead' })).toMatchObject([
      {
        idempotencyKey: one?.idempotencyKey,
        handler: 'order',
        reason: 'unreadable',
        processed: 'unknown',
      },
      { variables: 1 },
    ]);
  });
});

test('all entries are read one by one every ten seconds at most, however often one of them cannot be read', async () => {
  const { name, openTab, clock } = createBrowser();
  const { outbox } = openTab({ handlers: shop });
  await outbox.submit('order', 'lamp').saved;
  damage(name, 1, 'UnknownError');
  const readAll = vi.spyOn(IDBObjectStore.prototype, 'getAllKeys');
  const look = async (): Promise<number> => {
    for (const _ of Array(3)) await expect(outbox.list()).rejects.toThrow('gone');
    return readAll.mock.calls.length;
  };
  expect(await look()).toBe(1);
  clock.advance(9999);
  expect(await look()).toBe(1);
  clock.advance(1);
  expect(await look()).toBe(2);
  readAll.mockRestore();
});

describe('an entry that cannot be read for a while is kept whole', () => {
  test('where the browser is short of memory, however long', async () => {
    const { name, openTab, pass } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    await outbox.submit('order', 'lamp').saved;
    const mend = damage(name, 1, 'UnknownError', 'Failed to read large IndexedDB value');
    for (const _ of Array(4)) {
      await expect(outbox.list()).rejects.toThrow('large');
      await pass(60_000);
    }
    mend();
    expect(await outbox.list()).toMatchObject([{ variables: 'lamp' }]);
  });

  test('where it could be read in between, while another could not', async () => {
    const { name, openTab, pass } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    for (const sku of ['lamp', 'chair']) await outbox.submit('order', sku).saved;
    damage(name, 2, 'UnknownError');
    const mend = damage(name, 1, 'UnknownError');
    await expect(outbox.list()).rejects.toThrow('gone');
    mend();
    await pass(30_000, 1000);
    await expect(outbox.list()).rejects.toThrow('gone');
    const mendAgain = damage(name, 1, 'UnknownError');
    await pass(40_000, 1000);
    await expect(outbox.list()).rejects.toThrow('gone');
    mendAgain();
    // Whoever has found it first, the worker or the list, is through with it.
    await pass(60_000, 1000);
    expect(await outbox.list()).toMatchObject([
      { variables: 'lamp' },
      { state: 'dead', reason: 'unreadable' },
    ]);
  });

  test('where that happens twice, and not all the time in between', async () => {
    const { name, openTab, pass } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    await outbox.submit('order', 'lamp').saved;
    for (const _ of Array(2)) {
      const mend = damage(name, 1, 'UnknownError');
      await expect(outbox.list()).rejects.toThrow('gone');
      mend();
      await pass(620_000, 4000);
    }
    expect(await outbox.list()).toMatchObject([{ variables: 'lamp' }]);
  });
});
