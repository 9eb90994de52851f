import type { Order } from '../orders/order.ts';
import { euros } from '../shop/euros.ts';
import { kiteOf } from '../shop/kite-of.ts';

/** An order in words: "2 Heron for Robin". */
export const describeOrder = (order: Order): string =>
  `${order.quantity} ${kiteOf(order).name} for ${order.name}`;

export const totalOf = (order: Order): string =>
  euros.format(order.quantity * kiteOf(order).priceEur);
