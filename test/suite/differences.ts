/**
 * How Steadfetch is plugged into each QueryClient: `policy` is `retryPolicy()`, `observe` the default options of an
 * instance that only watches, and `defaults` those of one that is switched on.
 */
export const modes = ['policy', 'observe', 'defaults'] as const;
export type Mode = (typeof modes)[number];

/**
 * Tests of 5.89 that wait a few milliseconds of real time, and pass or fail from run to run on a busy machine, with
 * React Query alone as well.
 */
export const unsteady = /^useQuery\(\)\.promise /;

/** Assertions of React Query's own tests that do not hold in some modes, and why. */
export const differences: readonly {
  readonly modes: readonly Mode[];
  readonly why: string;
  readonly tests: readonly string[];
  /** By the version of the tests: they may be equal, too. */
  readonly varies?: true;
}[] = [
  {
    modes: ['policy', 'defaults'],
    why: 'fetchQuery retries here, and the test of older versions does not wait for its end (5.89; not 5.102)',
    varies: true,
    tests: ['dehydration and rehydration should only hydrate successful queries by default'],
  },
  {
    modes: ['policy', 'defaults'],
    why: 'fetchQuery, prefetchQuery and query retry, too: the test waits for an error that comes after three retries',
    tests: [
      'query cancelling a rejected query should not have any effect',
      'queryCache QueryCacheConfig error callbacks should call onError and onSettled when a query errors',
      'queryClient fetchQuery should not retry by default',
      'queryClient query should not retry by default',
      'queryClient query should propagate errors',
      'queryClient query should throw when skipToken is provided and no cached data exists',
      'queryClient query should throw when skipToken is provided with no cached data',
      'queryClient infiniteQuery should throw when skipToken is provided and no cached data exists',
      'queryClient infiniteQuery should throw when skipToken is provided with no cached data',
      'usePrefetchQuery should let errors fall through and not refetch failed queries',
      'usePrefetchQuery should be able to recover from errors and try fetching again',
      'useQuery should have status=error on mount when a query has failed',
      'useQuery should retry failed initialPromise on the client',
    ],
  },
  {
    modes: ['observe', 'defaults'],
    why: 'networkMode is set, because our persister would make it offlineFirst',
    tests: ['queryClient defaultQueryOptions should not default networkMode without persister'],
  },
  {
    modes: ['observe', 'defaults'],
    why: 'the test has a string for a persister, which is refused in development',
    tests: [
      'queryClient defaultQueryOptions should default networkMode when persister is present',
      'queryClient defaultQueryOptions should not default networkMode when already present',
    ],
  },
];
