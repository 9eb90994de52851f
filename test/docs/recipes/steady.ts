import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, profiles } from 'steadfetch';
import { createServer } from '../../core/react-query/server.ts';

/** What the recipes ask; times are those of the clock. */
export const server = createServer(() => Date.now());

export const steady = createSteadfetch({
  fetch: (input, init) => server.fetch(input, init),
  random: () => 0.5,
  apis: [{ match: '/api', idempotency: profiles.draft }],
});

export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
