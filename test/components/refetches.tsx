import {
  keepPreviousData,
  useInfiniteQuery,
  useIsFetching,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { useEffect, useState } from 'react';
import { press } from './press.ts';
import type { List, Page, Props, Tutorial } from './tutorial.ts';

const useList = ({ api }: Props, options: { refetchInterval?: number } = {}) =>
  useQuery({ queryKey: ['list'], queryFn: () => api.get<List>('/api/list'), ...options });

/** A list with all that its query says. */
function Shown({ query: { isPending, isError, data } }: { query: ReturnType<typeof useList> }) {
  if (isPending) return <p>Loading…</p>;
  return (
    <p>
      {data?.items.join()} {isError && 'Failed'}
    </p>
  );
}

function Polling(props: Props) {
  const query = useList(props, { refetchInterval: 5000 });
  return <Shown query={query} />;
}

function RefreshButton(props: Props) {
  const query = useList(props);
  return (
    <div>
      <button disabled={query.isFetching} onClick={() => void query.refetch()}>
        Refresh
      </button>
      {query.isRefetching && 'Updating…'}
      <Shown query={query} />
    </div>
  );
}

function PullToRefresh(props: Props) {
  const query = useList(props);
  const [isPulled, setPulled] = useState(false);
  const refresh = async (): Promise<void> => {
    setPulled(true);
    await query.refetch();
    setPulled(false);
  };
  return (
    <div>
      <button onClick={() => void refresh()}>Pull</button>
      {isPulled && 'Refreshing…'}
      <Shown query={query} />
    </div>
  );
}

function ReloadAll(props: Props) {
  const query = useList(props);
  const queryClient = useQueryClient();
  const [isReloading, setReloading] = useState(false);
  const reload = async (): Promise<void> => {
    setReloading(true);
    await queryClient.invalidateQueries();
    setReloading(false);
  };
  return (
    <div>
      <button onClick={() => void reload()}>Reload</button>
      {isReloading && 'Reloading…'}
      <Shown query={query} />
    </div>
  );
}

function OnFocus(props: Props) {
  return <Shown query={useList(props)} />;
}

/** The user goes to another tab, and comes back at once. */
function comeBack(): void {
  act(() => {
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  });
}

function FetchingBar(props: Props) {
  const query = useList(props);
  const queryClient = useQueryClient();
  const isFetching = useIsFetching();
  return (
    <div>
      {isFetching > 0 && 'Working…'}
      <button onClick={() => void queryClient.invalidateQueries()}>Reload</button>
      <Shown query={query} />
    </div>
  );
}

function PreviousPage({ api }: Props) {
  const [page, setPage] = useState(0);
  const { data, isPending, isError, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['pages', page],
    queryFn: () => api.get<Page>(`/api/pages?page=${page}`),
    placeholderData: keepPreviousData,
  });
  if (isPending) return <p>Loading…</p>;
  if (isError) return <p>Failed</p>;
  return (
    <div>
      {data.items.join()}
      <button
        disabled={isPlaceholderData || data.next === null}
        onClick={() => setPage((old) => old + 1)}
      >
        Next
      </button>
      {isFetching && 'Loading…'}
    </div>
  );
}

const usePages = ({ api }: Props) =>
  useInfiniteQuery({
    queryKey: ['pages'],
    queryFn: ({ pageParam }) => api.get<Page>(`/api/pages?page=${pageParam}`),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  });

function LoadMore(props: Props) {
  const { data, error, fetchNextPage, hasNextPage, isFetching, isFetchingNextPage, status } =
    usePages(props);
  if (status === 'pending') return <p>Loading…</p>;
  if (status === 'error') return <p>Failed: {error.message}</p>;
  return (
    <div>
      {data.pages.map(({ items }) => items.join()).join()}
      <button onClick={() => void fetchNextPage()} disabled={!hasNextPage || isFetching}>
        {isFetchingNextPage ? 'Loading more…' : hasNextPage ? 'More' : 'That is all'}
      </button>
    </div>
  );
}

function Scroll(props: Props) {
  const { data, status, fetchNextPage, hasNextPage, isFetchingNextPage } = usePages(props);
  // As useInView gives it.
  const [isInView, setInView] = useState(false);
  useEffect(() => {
    if (isInView && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isInView, hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (status === 'pending') return <p>Loading…</p>;
  if (status === 'error') return <p>Failed</p>;
  return (
    <div>
      {data.pages.map(({ items }) => items.join()).join()}
      <button onClick={() => setInView(true)}>Scroll</button>
      {isFetchingNextPage ? 'Loading more…' : hasNextPage ? 'Scroll down for more' : 'That is all'}
    </div>
  );
}

export const refetches: readonly Tutorial[] = [
  { name: 'polling with `refetchInterval`', App: Polling, act: () => {} },
  { name: 'a button that calls `refetch()`', App: RefreshButton, act: press('Refresh') },
  {
    name: 'pull to refresh awaits `refetch()`',
    App: PullToRefresh,
    act: press('Pull'),
    awaits: 'Refreshing…',
  },
  {
    name: 'a button that awaits `invalidateQueries()`',
    App: ReloadAll,
    act: press('Reload'),
    awaits: 'Reloading…',
  },
  { name: 'refetch on focus', App: OnFocus, act: comeBack },
  { name: 'a bar with `useIsFetching`', App: FetchingBar, act: press('Reload') },
  {
    name: '`keepPreviousData`, next page',
    App: PreviousPage,
    act: press('Next'),
    broken: 'GET /api/pages?page=1',
    content: ['Kite 1'],
  },
  {
    name: '`useInfiniteQuery`, load more',
    App: LoadMore,
    act: press('More'),
    broken: 'GET /api/pages?page=1',
    content: ['Kite 1'],
    claims: { 'That is all': () => false },
  },
  {
    name: '`useInfiniteQuery`, scroll',
    App: Scroll,
    act: press('Scroll'),
    broken: 'GET /api/pages?page=1',
    content: ['Kite 1', 'Kite 2'],
  },
];
