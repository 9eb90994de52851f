import { type Kite, kites } from '../api/kites.ts';
import type { Order } from '../orders/order.ts';
import { euros } from '../shop/euros.ts';

/** The kite of an order; the first one of the shop where it has none. */
export const kiteOf = ({ kite: id }: Pick<Order, 'kite'>): Kite => {
  const kite = kites.find((one) => one.id === id) ?? kites[0];
  if (!kite) throw new Error('The shop has no kites.');
  return kite;
};

/** An order in words: "2 Heron for Robin". */
export const describeOrder = (order: Order): string =>
  `${order.quantity} ${kiteOf(order).name} for ${order.name}`;

export const totalOf = (order: Order): string =>
  euros.format(order.quantity * kiteOf(order).priceEur);
