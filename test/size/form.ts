// The same app with forms that are submitted once.
import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  mutationOptions,
  profiles,
  shareAcrossTabs,
  watchConnectivity,
} from 'steadfetch';
import { useCountdown, useMutationStatus, useRetryStatus, useSafeSubmit } from 'steadfetch/react';

export const steady = createSteadfetch({
  apis: [{ match: '/api', idempotency: profiles.draft }],
  connectivity: watchConnectivity(),
  tabs: shareAcrossTabs(),
});
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
export const placeOrder = mutationOptions(steady, {
  mutationFn: (order: { sku: string }, { json }) => json('/api/orders', { json: order }),
});
export { useCountdown, useMutationStatus, useRetryStatus, useSafeSubmit };
