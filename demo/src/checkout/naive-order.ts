import { QueryClient } from '@tanstack/react-query';
import { type Order, ordersUrl, type Receipt } from '../orders/order.ts';

/** A client without anything of Steadfetch. */
export const naiveClient = new QueryClient();

/** As it is mostly written. The key looks right, and is another one on every attempt. */
export async function placeNaiveOrder(order: Order, round: number): Promise<Receipt> {
  const response = await fetch(ordersUrl('naive', round), {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Idempotency-Key': `"${crypto.randomUUID()}"`,
    },
    body: JSON.stringify(order),
  });
  if (!response.ok) throw new Error(`The shop answered ${response.status}.`);
  return (await response.json()) as Receipt;
}
