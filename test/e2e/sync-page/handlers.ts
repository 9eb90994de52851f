import { profiles } from 'steadfetch';
import type { AnyOutboxHandlers } from 'steadfetch/outbox';

/** The same in the page and in its service worker. */
export const handlers = {
  order: {
    mutationFn: (sku: string, { json }) => json('/api/orders', { method: 'POST', json: { sku } }),
  },
} satisfies AnyOutboxHandlers;

export const apis = [{ match: '/api/', idempotency: profiles.draft }];
