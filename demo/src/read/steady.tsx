import { QueryClient, useQuery } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { RetryStatus } from 'steadfetch/ui';
import { type Kite, Shelf } from '../shop/shop.tsx';

// With the waits of React Query: 1, 2 and 4 s.
export const steady = createSteadfetch({ policy: { backoff: 'none' } });
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });

export function Catalogue({ url }: { readonly url: string }) {
  const { data } = useQuery({
    queryKey: [url],
    queryFn: ({ signal }) => steady.json<readonly Kite[]>(url, { signal }),
    staleTime: Infinity,
  });
  return (
    <>
      <RetryStatus query={[url]} />
      <Shelf kites={data} />
    </>
  );
}
