import type { DefaultOptions, QueryClientConfig } from '@tanstack/react-query';
import { createSteadfetch, mergeDefaultOptions, observeOnly } from 'steadfetch';
import { retryPolicy } from 'steadfetch/policy';
import type { Mode } from './differences.ts';

/** React Query's own retries: 3, after 1, 2 and 4 s. */
const asReactQuery = { maxRetries: 3, deadlineMs: Infinity, shouldRetry: () => true } as const;
const random = (): number => 1 - Number.EPSILON;

/** The default options of a QueryClient with Steadfetch plugged in. */
const plugged: Record<Mode, (own: DefaultOptions) => DefaultOptions> = {
  defaults: (own) => mergeDefaultOptions(createSteadfetch({ random, policy: asReactQuery }), own),
  observe: (own) => mergeDefaultOptions(createSteadfetch({ observe: observeOnly() }), own),
  policy: (own) => ({
    ...own,
    queries: { ...retryPolicy({ ...asReactQuery, random }), ...own.queries },
  }),
};

/** A client's config with ours in it, as this mode has it. */
export const withSteadfetch = (mode: Mode, config: QueryClientConfig = {}): QueryClientConfig => ({
  ...config,
  defaultOptions: plugged[mode](config.defaultOptions ?? {}),
});
