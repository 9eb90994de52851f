import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { createSteadfetch, shareAcrossTabs } from 'steadfetch';
import { useRetryStatus } from 'steadfetch/react';

// In the module of a route, which React Router evaluates several times for each edit.
const steady = createSteadfetch({ tabs: shareAcrossTabs() });
const client = new QueryClient({ defaultOptions: steady.defaultOptions });
const version = 0;

const products = {
  queryKey: ['products', version],
  queryFn: () => steady.json<string[]>('/api/products'),
};

function Status() {
  const { data } = useQuery(products);
  const { status } = useRetryStatus(products);
  return (
    <section id="shared">
      <p>{data ? `version ${version}` : status}</p>
    </section>
  );
}

export default function Alone() {
  return (
    <QueryClientProvider client={client}>
      <Status />
    </QueryClientProvider>
  );
}
