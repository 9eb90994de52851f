/** Assertions of React Query's own tests that do not hold with our defaults, and why. */
export const differences: readonly {
  readonly why: string;
  readonly tests: readonly string[];
  /** By the version, or from run to run: they may be equal, too. */
  readonly varies?: true;
}[] = [
  {
    why: 'fetchQuery retries here, and the test of older versions does not wait for its end (5.89; not 5.102)',
    varies: true,
    tests: ['dehydration and rehydration should only hydrate successful queries by default'],
  },
  {
    why: 'with React 19.3 it passes now and then, also with React Query alone (5.89)',
    varies: true,
    tests: [
      'useQuery().promise should show correct data when switching between cache entries without re-fetches',
    ],
  },
  {
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
    why: 'networkMode is set, because our persister would make it offlineFirst',
    tests: ['queryClient defaultQueryOptions should not default networkMode without persister'],
  },
  {
    why: 'the test has a string for a persister, which is refused in development',
    tests: [
      'queryClient defaultQueryOptions should default networkMode when persister is present',
      'queryClient defaultQueryOptions should not default networkMode when already present',
    ],
  },
];
