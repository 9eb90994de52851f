import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  profiles,
  type PolicyOptions,
  defineIdempotency,
  watchConnectivity,
  shareAcrossTabs,
  rateLimitFields,
} from 'steadfetch';

/** Waits that one can watch: each between half a step and a whole one, of 2, 4 and 8 seconds. */
export const demoPolicy = { backoff: 'equal', baseMs: 2000 } as const satisfies PolicyOptions;

export const steady = createSteadfetch({
  policy: demoPolicy,
  // The API honours idempotency keys, and publishes how long it keeps one.
  apis: [
    {
      match: /\/api\/(steadfetch\/orders|flight-reports)$/,
      idempotency: defineIdempotency({ ...profiles.draft, lifetimeMs: 86_400_000 }),
    },
  ],
  connectivity: watchConnectivity({ check: 'api/here' }),
  tabs: shareAcrossTabs(),
  rateLimit: rateLimitFields(),
  // Three failures in a row trip it, not two: so that two of them show plain retries.
  health: { maxChance: 0.001 },
});

const { queries, mutations } = steady.defaultOptions;

export const queryClient = new QueryClient({
  defaultOptions: {
    // Every request here is counted and drawn: one that comes from looking at the tab would confuse.
    queries: { ...queries, refetchOnWindowFocus: false },
    mutations,
  },
});
