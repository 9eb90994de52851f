import { steady } from './steady.ts';

export const placeOrder = steady.mutationOptions({
  mutationKey: ['order'],
  mutationFn: (order: { sku: string }, { json, idempotencyKey }) =>
    json<{ id: string }>('/api/orders', {
      json: order,
      headers: { 'Idempotency-Key': idempotencyKey },
    }),
  policy: { preset: 'critical' },
});
