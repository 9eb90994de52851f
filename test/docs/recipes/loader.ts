// loader.ts
import { queryOptions } from '@tanstack/react-query';
import { queryClient, steady } from './steady.ts';

export const product = (id: string) =>
  queryOptions({
    queryKey: ['product', id],
    queryFn: ({ signal }) => steady.json<{ name: string }>(`/api/products/${id}`, { signal }),
    staleTime: 60_000,
  });

/** Waits for the product. A navigation that is given up ends its request. */
export async function loadProduct(id: string, { signal }: AbortController | Request) {
  const options = product(id);
  const cancel = () => void queryClient.cancelQueries(options);
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
  }
}
