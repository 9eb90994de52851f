import type { StoredAnswer } from 'steadfetch/server';
import { type FormName, isSameOrder, type Order } from './order.ts';
import type { Strikes } from './strikes.ts';
import { createTabState, type TabState } from './tab-state.ts';

/** An order that the shop has booked, and will send. */
export interface BookedOrder extends Order {
  readonly number: number;
  /** In epoch milliseconds. */
  readonly at: number;
  readonly key: string;
  /** The user has got an answer to it, or to one just like it. */
  readonly isAnswered: boolean;
  /** The same was booked before, and nobody had been told: this one was not meant. */
  readonly isDuplicate: boolean;
}

/** An order that is about to be booked. */
export type NewOrder = Omit<BookedOrder, 'number' | 'isAnswered' | 'isDuplicate'>;

/** What is known of an idempotency key. */
export interface KeyEntry {
  readonly fingerprint: string;
  readonly token: string;
  readonly leaseUntilMs: number;
  readonly expiresAtMs: number;
  readonly answer?: Omit<StoredAnswer, 'body'> & { readonly body: readonly number[] };
}

/** What a shop remembers of idempotency keys, and the number that it gave last. */
export interface Keys {
  readonly keys: Readonly<Record<string, KeyEntry>>;
  readonly lastNumber: number;
}

/** Everything that a shop remembers. */
export interface Books extends Keys, Strikes {
  readonly orders: readonly BookedOrder[];
  /** How many requests have come in. */
  readonly requestCount: number;
}

export const emptyBooks: Books = {
  orders: [],
  keys: {},
  lastNumber: 0,
  requestCount: 0,
  trouble: '',
  failureCount: 0,
};

/** The books of a shop. They outlive a reload, as those of a server would. */
export const openBooks = (form: FormName): TabState<Books> =>
  createTabState(`windhover.books.${form}`, emptyBooks);

export function book(books: Books, order: NewOrder & { readonly number: number }): Books {
  const isDuplicate = books.orders.some((other) => !other.isAnswered && isSameOrder(other, order));
  return { ...books, orders: [...books.orders, { ...order, isAnswered: false, isDuplicate }] };
}

/** The answer to an order has arrived: whoever sends the same once more wants it once more. */
export function settle(books: Books, number: number): Books {
  const order = books.orders.find((one) => one.number === number);
  if (!order) return books;
  return {
    ...books,
    orders: books.orders.map((one) =>
      isSameOrder(one, order) ? { ...one, isAnswered: true } : one,
    ),
  };
}
