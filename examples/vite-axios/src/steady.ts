import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, profiles } from 'steadfetch';

export const steady = createSteadfetch({
  // server.js honours an Idempotency-Key, so an order may be sent again.
  apis: [{ match: '/api', idempotency: profiles.draft }],
});

export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
