import { QueryClient, useQuery } from '@tanstack/react-query';
import { Failure, type Kite, Shelf } from '../shop/shop.tsx';

export const queryClient = new QueryClient();

export function Catalogue({ url }: { readonly url: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [url],
    queryFn: async ({ signal }): Promise<readonly Kite[]> => {
      const response = await fetch(url, { signal });
      if (!response.ok) throw new Error(`${response.status}`);
      return response.json();
    },
    staleTime: Infinity,
  });
  return (
    <>
      {error && <Failure onRetry={refetch} />}
      <Shelf kites={data} />
    </>
  );
}
