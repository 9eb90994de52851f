import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, idempotencyProfiles } from 'steadfetch';

export const steady = createSteadfetch({
  // Only an API that is declared to honour keys is sent any, and only then is a POST sent again.
  apis: [{ match: '/api', idempotency: idempotencyProfiles.draft }],
});
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });

export const placeOrder = steady.mutationOptions({
  mutationKey: ['order'],
  mutationFn: (order: { sku: string }, { json }) =>
    json<{ id: string }>('/api/orders', { json: order }),
  policy: { preset: 'critical' },
});
