import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, shareAcrossTabs } from 'steadfetch';

// A server makes it once, for all of its users: in development it is warned of.
const steady = createSteadfetch({ tabs: shareAcrossTabs() });
export const client = new QueryClient({ defaultOptions: steady.defaultOptions });
export const version = 0;

export const products = {
  queryKey: ['products', version],
  queryFn: () => steady.json<string[]>('/api/products'),
};
