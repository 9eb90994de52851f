'use client';
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { createSteadfetch, shareAcrossTabs } from 'steadfetch';
import { useRetryStatus } from 'steadfetch/react';

// A server makes it once, for all of its users: in development it is warned of.
const steady = createSteadfetch({ tabs: shareAcrossTabs() });
const client = new QueryClient({ defaultOptions: steady.defaultOptions });
import.meta.turbopackHot?.dispose(() => steady.dispose());
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

export function Shared() {
  return (
    <QueryClientProvider client={client}>
      <Status />
    </QueryClientProvider>
  );
}
