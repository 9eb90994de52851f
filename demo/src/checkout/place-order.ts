import { mutationOptions } from 'steadfetch';
import type { PolicyOptions } from 'steadfetch';
import { type Order, ordersUrl, type Receipt } from '../orders/order.ts';
import { demoPolicy, steady } from '../steady.ts';

/** The preset for what must not fail, with waits that one can watch. */
export const orderPolicy = {
  preset: 'critical',
  ...demoPolicy,
  baseMs: 4000,
  timeout: 4000,
} as const satisfies PolicyOptions;

export const placeOrder = (round: number) =>
  mutationOptions(steady, {
    mutationKey: ['order', round],
    // Its key comes by itself, and is the same on every attempt.
    mutationFn: (order: Order, { json }) =>
      json<Receipt>(ordersUrl('steadfetch', round), { json: order }),
    policy: orderPolicy,
  });
