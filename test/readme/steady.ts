import { QueryClient, useQuery } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';

export const steady = createSteadfetch();
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });

export const useProducts = () =>
  useQuery({
    queryKey: ['products'],
    queryFn: () => steady.json<string[]>('/api/products'),
  });
