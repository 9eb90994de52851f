import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { useRetryStatus } from 'steadfetch/react';
import { client, products, version } from './shared-steady.ts';

function Status() {
  const { data } = useQuery(products);
  const { status } = useRetryStatus(products);
  return (
    <section id="shared">
      <p>{data ? `version ${version}` : status}</p>
    </section>
  );
}

export default function Shared() {
  return (
    <QueryClientProvider client={client}>
      <Status />
    </QueryClientProvider>
  );
}
