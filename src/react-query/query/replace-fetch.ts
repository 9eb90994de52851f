import type { Query } from '@tanstack/react-query';

/**
 * Puts a new fetch in the place of the one under way, in the same turn: whoever awaits the old one
 * gets the result of the new one, and nobody sees the query idle in between.
 */
export function replaceFetch(
  query: Query,
  overrides?: Partial<Query['options']>,
  initialPromise?: Promise<never>,
): void {
  const { options } = query;
  const { fetchMeta } = query.state;
  void query.cancel({ silent: true });
  query
    .fetch(overrides && { ...options, ...overrides }, {
      // Without the meta a fetchNextPage becomes a fetch of page 0. Copied, because React Query
      // takes the same object for the same fetch, and would go on counting its failures.
      ...(fetchMeta && { meta: { ...fetchMeta } }),
      ...(initialPromise && { initialPromise }),
    })
    .catch(() => {});
  if (overrides) query.setOptions(options);
}
