// loader.ts
import { queryOptions } from '@tanstack/react-query';
import { queryClient, steady } from './steady.ts';

export const product = (id: string) =>
  queryOptions({
    queryKey: ['product', id],
    queryFn: ({ signal }) => steady.json<{ name: string }>(`/api/products/${id}`, { signal }),
    staleTime: 60_000,
  });

/** How many navigations wait for a product. */
const waiting = new Map<string, number>();
const count = (id: string, change: 1 | -1) => {
  const left = (waiting.get(id) ?? 0) + change;
  waiting.set(id, left);
  return left;
};

/** Waits for the product. The request ends once all navigations that wait for it are given up. */
export async function loadProduct(id: string, { signal }: AbortController | Request) {
  signal.throwIfAborted();
  const options = product(id);
  const cancel = () => {
    if (count(id, -1) === 0) void queryClient.cancelQueries(options);
  };
  count(id, 1);
  signal.addEventListener('abort', cancel);
  try {
    await queryClient.query({
      ...options,
      ...steady.queryPolicy({ whenDown: 'fail' }),
      // What the cache has is enough, whatever its age.
      staleTime: 'static',
    });
  } finally {
    signal.removeEventListener('abort', cancel);
    if (!signal.aborted) count(id, -1);
  }
}
