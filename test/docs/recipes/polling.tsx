import { useQuery } from '@tanstack/react-query';
import { useRetryStatus } from 'steadfetch/react';
import { steady } from './steady.ts';

export function Price() {
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['price'],
    queryFn: ({ signal }) => steady.json<{ price: number }>('/api/price', { signal }),
    refetchInterval: 5000,
    // The next round is a retry, too.
    ...steady.queryPolicy({ maxRetries: 1 }),
  });
  const { status } = useRetryStatus({ queryKey: ['price'] });
  const isStale = status === 'waiting' || status === 'paused' || status === 'failed';
  return (
    <p>
      {data ? `${data.price} €` : '…'}
      {data && isStale && ` as of ${new Date(dataUpdatedAt).toISOString().slice(11, 19)}`}
    </p>
  );
}
