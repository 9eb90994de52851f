import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, profiles, mutationOptions } from 'steadfetch';

export const steady = createSteadfetch({
  // Only an API that is declared to honour keys gets keys, and only its POSTs are retried.
  apis: [{ match: '/api', idempotency: profiles.draft }],
});
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });

export const placeOrder = mutationOptions(steady, {
  mutationKey: ['order'],
  mutationFn: (order: { sku: string }, { json }) =>
    json<{ id: string }>('/api/orders', { json: order }),
  policy: { preset: 'critical' },
});
