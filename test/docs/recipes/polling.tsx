import { useQuery } from '@tanstack/react-query';
import { useRetryStatus } from 'steadfetch/react';
import { steady } from './steady.ts';

export function Price({ of }: { readonly of: string }) {
  const queryKey = ['price', of];
  const { data, dataUpdatedAt } = useQuery({
    queryKey,
    queryFn: ({ signal }) => steady.json<{ price: number }>(`/api/price/${of}`, { signal }),
    refetchInterval: 5000,
    // The next round is a retry, too.
    ...steady.queryPolicy({ maxRetries: 1 }),
  });
  const { status } = useRetryStatus({ queryKey });
  const isStale = status === 'waiting' || status === 'paused' || status === 'failed';
  return (
    <p>
      {data ? `${data.price} €` : '…'}
      {data && isStale && ` as of ${new Date(dataUpdatedAt).toISOString().slice(11, 19)}`}
    </p>
  );
}
