// shop.ts
import { environmentManager, queryOptions } from '@tanstack/react-query';
import { mutationOptions, type Steadfetch } from 'steadfetch';
import { steadyOf } from './clients.ts';

/** On a server a path needs an origin. */
const url = (path: string): string =>
  environmentManager.isServer() ? `${process.env['API_ORIGIN']}${path}` : path;

export const readProducts = (steady: Steadfetch, signal: AbortSignal): Promise<string[]> =>
  steady.json<string[]>(url('/api/products'), { signal });

export const products = queryOptions({
  queryKey: ['products'],
  queryFn: ({ client, signal }) => readProducts(steadyOf(client), signal),
});

export const offers = queryOptions({
  queryKey: ['offers'],
  queryFn: ({ client, signal }) => steadyOf(client).json<string[]>(url('/api/offers'), { signal }),
});

export const placeOrder = (steady: Steadfetch) =>
  mutationOptions(steady, {
    mutationFn: (order: { sku: string }, { json }) =>
      json<{ id: string }>(url('/api/orders'), { method: 'POST', json: order }),
  });
