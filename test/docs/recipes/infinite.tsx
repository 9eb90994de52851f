import { useInfiniteQuery } from '@tanstack/react-query';
import { useRetryStatus } from 'steadfetch/react';
import { steady } from './steady.ts';

interface Page {
  readonly names: readonly string[];
  readonly next: number | null;
}

export function Feed() {
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['feed'],
    queryFn: ({ pageParam, signal }) =>
      steady.json<Page>(`/api/feed?page=${pageParam}`, { signal }),
    initialPageParam: 1,
    getNextPageParam: (last) => last.next,
  });
  const { status, retryNow } = useRetryStatus({ queryKey: ['feed'] });
  return (
    <>
      <ul>{data?.pages.flatMap(({ names }) => names.map((name) => <li key={name}>{name}</li>))}</ul>
      {status === 'waiting' || status === 'paused' ? (
        <button onClick={retryNow}>Not through yet. Retry now</button>
      ) : (
        hasNextPage && (
          <button onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
            More
          </button>
        )
      )}
    </>
  );
}
