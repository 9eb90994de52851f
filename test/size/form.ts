// What an app pays whose forms are submitted once.
import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, profiles, mutationOptions } from 'steadfetch';
import { useCountdown, useRetryStatus, useSafeSubmit } from 'steadfetch/react';

export const steady = createSteadfetch({
  apis: [{ match: '/api', idempotency: profiles.draft }],
});
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
export const placeOrder = mutationOptions(steady, {
  mutationFn: (order: { sku: string }, { json }) => json('/api/orders', { json: order }),
});
export { useCountdown, useRetryStatus, useSafeSubmit };
