// shop.ts
import { environmentManager, queryOptions } from '@tanstack/react-query';
import { mutationOptions, type Steadfetch } from 'steadfetch';
import { steadyOf } from './clients.ts';

/** On a server a path needs an origin: that of the API. */
function url(path: string): string {
  if (!environmentManager.isServer()) return path;
  return new URL(path, process.env['API_ORIGIN'] ?? 'http://localhost:3000').href;
}

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
