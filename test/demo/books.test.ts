import { idempotent } from 'steadfetch/server';
import { beforeEach, expect, test } from 'vitest';
import { type Books, booksStore, emptyBooks, settle } from '../../demo/src/api/books.ts';
import { createTabState } from '../../demo/src/api/kept-state.ts';

interface Order {
  readonly kite: string;
  readonly quantity: number;
}

const name = 'steadfetch.order.alone';
const heron: Order = { kite: 'heron', quantity: 1 };
const isSame = (one: Order, other: Order): boolean =>
  one.kite === other.kite && one.quantity === other.quantity;

beforeEach(() => sessionStorage.clear());

/** A page of the tab: it begins with what the one before has left in the storage. */
function openShop({ nowMs = 0, status = 201 } = {}) {
  const books = createTabState<Books<Order>>(name, emptyBooks);
  const place = idempotent(
    async (request, { tx }) => {
      const order = (await request.json()) as Order;
      return Response.json({ number: tx.book(order) }, { status });
    },
    { store: booksStore(books, isSame), now: () => nowMs, lifetimeMs: 100_000 },
  );
  return {
    books,
    async press(key: string, order = heron) {
      const headers = { 'Idempotency-Key': `"${key}"`, 'Content-Type': 'application/json' };
      const body = JSON.stringify(order);
      const response = await place(
        new Request('https://kites.example/orders', { method: 'POST', headers, body }),
      );
      const { number, code } = (await response.json()) as { number?: number; code?: string };
      return `${response.status} ${number ?? code}`;
    },
    booked: () => books.getState().booked.map(({ key, kite }) => `${key} ${kite}`),
  };
}

test('one key is one order, also on the next page, and the same answer', async () => {
  const shop = openShop();
  expect(await shop.press('a')).toBe('201 1');
  expect(await shop.press('a')).toBe('201 1');
  const next = openShop();
  expect(await next.press('a')).toBe('201 1');
  expect(await next.press('b')).toBe('201 2');
  expect(next.booked()).toEqual(['a heron', 'b heron']);
});

test('a key that comes with another payload is refused', async () => {
  const shop = openShop();
  await shop.press('a');
  expect(await shop.press('a', { ...heron, quantity: 2 })).toBe('422 payload-mismatch');
  expect(shop.booked()).toEqual(['a heron']);
});

test('what fails books nothing, and the next attempt runs', async () => {
  expect(await openShop({ status: 503 }).press('a')).toBe('503 1');
  const shop = openShop();
  expect(shop.booked()).toEqual([]);
  expect(await shop.press('a')).toBe('201 2');
  expect(shop.booked()).toEqual(['a heron']);
});

test('an expired key is forgotten', async () => {
  await openShop().press('a');
  const shop = openShop({ nowMs: 100_000 });
  await shop.press('b');
  expect(Object.keys(shop.books.getState().keys)).toEqual(['["","b"]']);
});

test('wherever the page is left, pressing again with the same key ends in one order', async () => {
  const shop = openShop();
  const kept: (string | null)[] = [];
  shop.books.subscribe(() => kept.push(sessionStorage.getItem(name)));
  await shop.press('a');
  // Looked for expired keys, claimed, numbered, and then the order with its answer in one write.
  expect(kept.map((text) => (JSON.parse(text ?? '') as Books<Order>).booked.length)).toEqual([
    0, 0, 0, 1,
  ]);
  for (const text of kept) {
    sessionStorage.setItem(name, text ?? '');
    // After the lease of what was left behind.
    const next = openShop({ nowMs: 30_000 });
    expect(await next.press('a')).toMatch(/^201 /);
    expect(next.booked()).toEqual(['a heron']);
  }
});

test('a key that was left behind is still running for others until its lease is over', async () => {
  const shop = openShop();
  let claimed = '';
  shop.books.subscribe(() => {
    const text = sessionStorage.getItem(name) ?? '';
    if (text.includes('"leaseUntilMs"')) claimed ||= text;
  });
  await shop.press('a');
  sessionStorage.setItem(name, claimed);
  expect(await openShop({ nowMs: 29_999 }).press('a')).toBe('409 in-progress');
  expect(await openShop({ nowMs: 30_000 }).press('a', { ...heron, quantity: 2 })).toBe(
    '422 payload-mismatch',
  );
  expect(await openShop({ nowMs: 30_000 }).press('a')).toBe('201 1');
});

test('the same order again is a duplicate until somebody has been told of one', async () => {
  const shop = openShop();
  const marks = (): boolean[] => shop.books.getState().booked.map((one) => one.isDuplicate);
  await shop.press('a');
  await shop.press('b');
  await shop.press('c', { ...heron, quantity: 2 });
  expect(marks()).toEqual([false, true, false]);
  shop.books.update((books) => settle(books, 2, isSame));
  await shop.press('d');
  expect(marks()).toEqual([false, true, false, false]);
});
