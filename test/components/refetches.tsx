import {
  keepPreviousData,
  useInfiniteQuery,
  useIsFetching,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { Suspense, useEffect, useState, useTransition } from 'react';
import { ErrorBoundary } from './error-boundary.tsx';
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

export function RefreshButton(props: Props) {
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

function ImpatientButton(props: Props) {
  const query = useList(props);
  return (
    <div>
      <button onClick={() => void query.refetch()}>Refresh</button>
      {query.isFetching && 'Updating…'}
      <Shown query={query} />
    </div>
  );
}

/** The user presses it three times, two seconds apart. */
function pressAgain(): void {
  for (const ms of [0, 2000, 4000]) setTimeout(press('Refresh'), ms);
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

/** A job of the server's, until it is done. */
function Job({ api }: Props) {
  const { data, isError } = useQuery({
    queryKey: ['job'],
    queryFn: () => api.get<List>('/api/list'),
    refetchInterval: ({ state }) => (state.data?.items.includes('list 2') ? false : 1000),
  });
  if (data?.items.includes('list 2')) return <p>{data.items.join()}</p>;
  return <p>{isError ? 'Failed' : 'Under way…'}</p>;
}

/** A page that the user leaves, and comes back to. */
function Leaving(props: Props) {
  const [isOpen, setOpen] = useState(true);
  return (
    <div>
      <button onClick={() => setOpen(!isOpen)}>Switch</button>
      {isOpen ? <OnFocus {...props} /> : 'Elsewhere…'}
    </div>
  );
}

function leaveAndComeBack(): void {
  press('Switch')();
  setTimeout(press('Switch'), 100);
}

function Search({ api }: Props) {
  const [text, setText] = useState('');
  const { data, isFetching, isError } = useQuery({
    queryKey: ['search', text],
    queryFn: () => api.get<List>(`/api/list?q=${text}`),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  });
  return (
    <div>
      <button onClick={() => setText((old) => `${old}a`)}>Type</button>
      {isFetching && 'Searching…'} {isError && 'Failed'} {data?.items.join()}
    </div>
  );
}

/** Three letters, each within the wait of the one before. */
function typeOn(): void {
  for (const ms of [0, 300, 600]) setTimeout(press('Type'), ms);
}

function InTransition({ api }: Props) {
  const [page, setPage] = useState(0);
  const [isPending, startTransition] = useTransition();
  return (
    <ErrorBoundary>
      <button onClick={() => startTransition(() => setPage(1))}>Next</button>
      {isPending && 'Loading…'}
      <Suspense fallback={<p>First…</p>}>
        <OnePage api={api} page={page} />
      </Suspense>
    </ErrorBoundary>
  );
}

function OnePage({ api, page }: Props & { page: number }) {
  const { data } = useSuspenseQuery({
    queryKey: ['pages', page],
    queryFn: () => api.get<Page>(`/api/pages?page=${page}`),
  });
  return <p>{data.items.join()}</p>;
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
    name: '`refetch()` by a button, pressed at 0, 2 and 4 s',
    App: ImpatientButton,
    act: pressAgain,
  },
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
  { name: 'a job polled until it is done', App: Job, act: () => {} },
  { name: 'a page that is left and opened again', App: Leaving, act: leaveAndComeBack },
  { name: 'a search box with `keepPreviousData`', App: Search, act: typeOn },
  {
    name: '`useSuspenseQuery` in a transition',
    App: InTransition,
    act: press('Next'),
    broken: 'GET /api/pages?page=1',
    content: ['Kite 1'],
  },
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
