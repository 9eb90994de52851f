import type { QueryClientConfig } from '@tanstack/react-query';
import { createSteadfetch, mergeDefaultOptions } from 'steadfetch';

/** A client's config with our defaults merged in, and React Query's own retries: 3, after 1, 2 and 4 s. */
export function withSteadfetch(config: QueryClientConfig = {}): QueryClientConfig {
  const steady = createSteadfetch({
    random: () => 1 - Number.EPSILON,
    policy: { maxRetries: 3, deadlineMs: Infinity, shouldRetry: () => true },
  });
  return { ...config, defaultOptions: mergeDefaultOptions(steady, config.defaultOptions ?? {}) };
}
