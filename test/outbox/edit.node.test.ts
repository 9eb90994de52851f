import { expect, test, vi } from 'vitest';
import type { OutboxCipher } from 'steadfetch/outbox';
import { RowStore } from '../../src/outbox/store/row-store.ts';
import { createBrowser, settle, shop, type TestBrowser } from './rig.ts';

/** A cipher that takes 10 ms for each value, and for some of them longer. */
function slowCipher({ clock }: TestBrowser, delaysMs: Record<string, number> = {}): OutboxCipher {
  return {
    encrypt: (value) =>
      new Promise((resolve) => {
        clock.setTimeout(() => resolve(value), delaysMs[String(value)] ?? 10);
      }),
    decrypt: async (sealed) => sealed,
  };
}

const bodies = ({ server }: TestBrowser): readonly string[] =>
  server.arrivals.map(({ body }) => body);

test.each([
  ['without a cipher', undefined],
  ['with a cipher that takes longer for the first', { chair: 2000 }],
  ['with a cipher that takes longer for the second', { table: 2000 }],
  ['with a cipher that takes as long for each', {}],
])('of two edits the one that was called last is sent, %s', async (_, delaysMs) => {
  const browser = createBrowser();
  const cipher = delaysMs && slowCipher(browser, delaysMs);
  browser.server.rule = (arrival) => arrival.answer(422);
  const { outbox } = browser.openTab({ handlers: shop, ...(cipher && { cipher }) });
  const { idempotencyKey } = outbox.submit('order', 'lamp');
  await browser.pass(1000);
  browser.server.rule = (arrival) => arrival.answer(201);
  const edited = Promise.all([
    outbox.edit(idempotencyKey, 'chair'),
    outbox.edit(idempotencyKey, 'table'),
  ]);
  await browser.pass(5000);
  expect(bodies(browser).at(-1)).toBe('"table"');
  expect((await edited)[1]).toEqual(expect.any(String));
});

test('an entry stays as it is that may have been done while its edit was encrypted', async () => {
  const browser = createBrowser();
  const { outbox } = browser.openTab({
    handlers: shop,
    cipher: slowCipher(browser, { chair: 3000 }),
  });
  browser.server.rule = (arrival) => arrival.answer(429, {}, { 'retry-after': '10' });
  const { idempotencyKey } = outbox.submit('order', 'lamp');
  await browser.pass(9000);
  browser.server.rule = (arrival) => arrival.answer(503, {}, { 'retry-after': '60' });
  const edited = outbox.edit(idempotencyKey, 'chair');
  await browser.pass(5000);
  expect(await edited).toBeUndefined();
  browser.server.rule = (arrival) => arrival.answer(201);
  await browser.pass(120_000, 1000);
  expect(new Set(bodies(browser))).toEqual(new Set(['"lamp"']));
  expect(new Set(browser.server.arrivals.map(({ key }) => key)).size).toBe(1);
});

test.each([
  ['without a cipher', undefined],
  ['with a slow cipher', { kite: 500, chair: 500 }],
])('an entry is edited that is on its way to the disk, %s', async (_, delaysMs) => {
  const browser = createBrowser();
  const cipher = delaysMs && slowCipher(browser, delaysMs);
  const handlers = { order: { ...shop.order, scope: 'cart' } };
  const { outbox } = browser.openTab({ handlers, ...(cipher && { cipher }) });
  outbox.submit('order', 'lamp');
  await browser.pass(3000);
  const { idempotencyKey } = outbox.submit('order', 'kite');
  const edited = outbox.edit(idempotencyKey, 'chair');
  await browser.pass(3000);
  expect(await edited).toEqual(expect.any(String));
  browser.server.rule = (arrival) => arrival.answer(201);
  browser.server.arrivals[0]?.answer(201);
  await browser.pass(5000);
  expect(bodies(browser)).toEqual(['"lamp"', '"chair"']);
});

test('a cipher that rejects an edit leaves the entry as it is, and the next edit goes', async () => {
  const browser = createBrowser();
  const cipher = slowCipher(browser);
  const { outbox } = browser.openTab({
    handlers: shop,
    cipher: {
      ...cipher,
      async encrypt(value) {
        if (value === 'chair') throw new Error('no key');
        return cipher.encrypt(value);
      },
    },
  });
  browser.server.rule = (arrival) => arrival.answer(422);
  const { idempotencyKey } = outbox.submit('order', 'lamp');
  await browser.pass(1000);
  const first = outbox.edit(idempotencyKey, 'chair');
  const second = outbox.edit(idempotencyKey, 'table');
  await expect(first).rejects.toThrow('no key');
  await browser.pass(3000);
  expect(await second).toEqual(expect.any(String));
  expect(bodies(browser)).toEqual(['"lamp"', '"table"']);
});

test.each([
  ['edit', '"rug"'],
  ['retry', '"lamp"'],
] as const)(
  'an entry of an earlier page is sent, also if a user presses %s while this page begins to send it',
  async (press, sent) => {
    const { openTab, server, pass } = createBrowser();
    const first = openTab({ handlers: shop });
    const { idempotencyKey } = first.outbox.submit('order', 'lamp');
    await settle();
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '1' });
    await settle();
    first.crash();
    const { claim } = RowStore.prototype;
    const claiming = vi.spyOn(RowStore.prototype, 'claim').mockImplementationOnce(async function (
      this: RowStore,
      ...given
    ) {
      // The transaction of the press comes first. The entry is then of the owner of this page.
      await (press === 'edit' ? outbox.edit(idempotencyKey, 'rug') : outbox.retry(idempotencyKey));
      await settle();
      return claim.apply(this, given);
    });
    const { outbox } = openTab({ handlers: shop });
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    await pass(60_000, 4000);
    claiming.mockRestore();
    expect(server.arrivals.slice(1).map(({ body }) => body)).toEqual([sent]);
  },
);
