import { useInfiniteQuery } from '@tanstack/react-query';
import { useRetryStatus } from 'steadfetch/react';
import { steady } from './steady.ts';

interface Page {
  readonly names: readonly string[];
  readonly next: number | null;
}

export function Feed({ of }: { readonly of: string }) {
  const queryKey = ['feed', of];
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError, refetch } =
    useInfiniteQuery({
      queryKey,
      queryFn: ({ pageParam, signal }) =>
        steady.json<Page>(`/api/${of}?page=${pageParam}`, { signal }),
      initialPageParam: 1,
      getNextPageParam: (last) => last.next,
    });
  const { status, retryNow } = useRetryStatus({ queryKey });
  // A second press joins the first, and does not begin the page anew.
  const more = () => void fetchNextPage({ cancelRefetch: false });
  const again = () => (isFetchNextPageError ? more() : void refetch());
  return (
    <>
      <ul>{data?.pages.flatMap(({ names }) => names.map((name) => <li key={name}>{name}</li>))}</ul>
      {status === 'waiting' || status === 'paused' ? (
        <button onClick={retryNow}>Not through yet. Retry now</button>
      ) : status === 'failed' ? (
        <button onClick={again}>Failed. Try again</button>
      ) : (
        hasNextPage && (
          <button onClick={more} disabled={isFetchingNextPage}>
            More
          </button>
        )
      )}
    </>
  );
}
