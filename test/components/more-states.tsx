import {
  dehydrate,
  experimental_streamedQuery as streamedQuery,
  HydrationBoundary,
  QueryClient,
  useQueries,
  usePrefetchQuery,
  useQuery,
  useQueryClient,
  useSuspenseInfiniteQuery,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { ErrorBoundary } from './error-boundary.tsx';
import { press } from './press.ts';
import { listOptions, show, Shown } from './shown.tsx';
import type { Api, List, Page, Props, Tutorial } from './tutorial.ts';

function Failures(props: Props) {
  const { isPending, isError, data, failureCount } = useQuery(listOptions(props));
  if (isPending) return <p>{failureCount > 0 ? `Trying again (${failureCount})…` : 'Loading…'}</p>;
  return <p>{isError ? `Failed` : data.items.join()}</p>;
}

function Stale(props: Props) {
  const { data, isPending, isRefetchError, isRefetching, refetch } = useQuery(listOptions(props));
  if (isPending) return <p>Loading…</p>;
  return (
    <div>
      <button onClick={() => void refetch()}>Refresh</button>
      {isRefetching && 'Updating…'} {isRefetchError && 'Failed to update:'} {data?.items.join()}
    </div>
  );
}

function ThrowFirst(props: Props) {
  return (
    <ErrorBoundary>
      <ThrowFirstInner {...props} />
    </ErrorBoundary>
  );
}
function ThrowFirstInner(props: Props) {
  const { data } = useQuery({
    ...listOptions(props),
    throwOnError: (_error, query) => query.state.data === undefined,
  });
  return data ? <p>{data.items.join()}</p> : <p>Loading…</p>;
}

function TryAgain(props: Props) {
  const { isPending, isLoadingError, data, refetch, isFetching } = useQuery(listOptions(props));
  useEffect(() => {
    if (!isLoadingError) return;
    const timer = setTimeout(() => void refetch(), 3000);
    return () => clearTimeout(timer);
  }, [isLoadingError, refetch]);
  if (isPending) return <p>Loading…</p>;
  if (isLoadingError) return <p>Failed {isFetching && 'Trying…'}</p>;
  return <p>{data?.items.join()}</p>;
}

function Hydrated(props: Props) {
  const [state] = useState(() => {
    const server = new QueryClient();
    server.setQueryData(['list'], { items: ['list 1'] }, { updatedAt: 1 });
    return dehydrate(server);
  });
  return (
    <HydrationBoundary state={state}>
      <Stale {...props} />
    </HydrationBoundary>
  );
}

/** A server that has left the fetch to the browser. */
function HydratedPending(props: Props) {
  const [state] = useState(() => {
    const server = new QueryClient({
      defaultOptions: { dehydrate: { shouldDehydrateQuery: () => true } },
    });
    void server.prefetchQuery({
      queryKey: ['list'],
      queryFn: () =>
        new Promise<List>((resolve) => setTimeout(() => resolve({ items: ['list 2'] }), 4000)),
    });
    return dehydrate(server);
  });
  return (
    <HydrationBoundary state={state}>
      <Shown {...props} />
    </HydrationBoundary>
  );
}

function Streamed({ api }: Props) {
  const { isPending, isError, data, fetchStatus } = useQuery({
    queryKey: ['stream'],
    queryFn: streamedQuery({
      streamFn: async function* () {
        yield (await api.get<Page>('/api/pages?page=0')).items[0];
        yield (await api.get<Page>('/api/pages?page=1')).items[0];
      },
    }),
  });
  if (isPending) return <p>Loading…</p>;
  return (
    <p>
      {isError && 'Failed '}
      {fetchStatus === 'fetching' && 'More…'} {data?.join()}
    </p>
  );
}

function Combined({ api }: Props) {
  const { isPending, isError, items } = useQueries({
    queries: ['list', 'offers', 'prices'].map((name) => ({
      queryKey: [name],
      queryFn: () => api.get<List>(`/api/${name}`),
    })),
    combine: (results) => ({
      isPending: results.some((one) => one.isPending),
      isError: results.some((one) => one.isError),
      items: results.flatMap(({ data }) => data?.items ?? []),
    }),
  });
  if (isPending) return <p>Loading…</p>;
  return (
    <p>
      {isError && 'Failed '}
      {items.join()}
    </p>
  );
}

function Prefetching(props: Props) {
  usePrefetchQuery(listOptions(props));
  return (
    <ErrorBoundary>
      <Suspense fallback={<p>Loading…</p>}>
        <Suspending {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}
function Suspending(props: Props) {
  const { data } = useSuspenseQuery(listOptions(props));
  return <p>{data.items.join()}</p>;
}

function InfiniteSuspense(props: Props) {
  return (
    <ErrorBoundary>
      <Suspense fallback={<p>Loading…</p>}>
        <InfiniteInner {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}
function InfiniteInner({ api }: Props) {
  const { data, fetchNextPage, isFetchingNextPage, isFetchNextPageError } =
    useSuspenseInfiniteQuery({
      queryKey: ['pages'],
      queryFn: ({ pageParam }) => api.get<Page>(`/api/pages?page=${pageParam}`),
      initialPageParam: 0,
      getNextPageParam: ({ next }: Page) => next,
    });
  return (
    <div>
      <button onClick={() => void fetchNextPage()}>More</button>
      {data.pages.flatMap(({ items }) => items).join()}
      {isFetchingNextPage && 'More…'} {isFetchNextPageError && 'Failed'}
    </div>
  );
}

function Toasts(props: Props) {
  const client = useQueryClient();
  const [toasts, setToasts] = useState(0);
  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        if (event.type === 'updated' && event.action.type === 'error') setToasts((n) => n + 1);
      }),
    [client],
  );
  return (
    <div>
      {show(useQuery(listOptions(props)))}
      {toasts > 0 && `Failed ×${toasts}`}
    </div>
  );
}

/** The user opens one item after another, before they have come. */
function Ensured({ api }: Props) {
  const client = useQueryClient();
  const [words, setWords] = useState('Loading…');
  useEffect(() => {
    const all = [1, 2, 3].map((id) =>
      client.fetchQuery({
        queryKey: ['item', id],
        queryFn: () => api.get<List>(`/api/list?id=${id}`),
      }),
    );
    Promise.all(all).then(
      (lists) => setWords(lists.flatMap(({ items }) => items).join()),
      () => setWords('Failed'),
    );
  }, [client, api]);
  return <p>{words}</p>;
}

const queried = (queryFn: (api: Api) => Promise<List>) =>
  function Queried({ api }: Props) {
    return show(useQuery({ queryKey: ['list'], queryFn: () => queryFn(api) }));
  };

/** Makes do with what is answered. */
async function readSettled(api: Api): Promise<List> {
  const names = ['list', 'offers', 'prices'];
  const all = await Promise.allSettled(names.map((name) => api.get<List>(`/api/${name}`)));
  const lists = all.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
  if (lists.length === 0) throw new Error('Nothing was answered');
  return { items: lists.flatMap(({ items }) => items) };
}

async function readAfterToken(api: Api): Promise<List> {
  await Promise.resolve('token');
  return api.get('/api/list');
}

const readUntilNow = (api: Api): Promise<List> => api.get(`/api/list?until=${Date.now()}`);

/** More of what a query can show. */
export const moreStates: readonly Tutorial[] = [
  { name: '`failureCount`', App: Failures },
  { name: '`isRefetchError`', App: Stale, act: press('Refresh') },
  { name: '`throwOnError` by a function', App: ThrowFirst },
  { name: 'an effect that tries again', App: TryAgain },
  { name: '`HydrationBoundary` with old data', App: Hydrated },
  { name: '`HydrationBoundary` with a promise', App: HydratedPending },
  {
    name: '`streamedQuery`',
    App: Streamed,
    broken: 'GET /api/pages?page=1',
    content: ['Kite 0', 'Kite 1'],
  },
  { name: '`combine`', App: Combined, content: ['list 2', 'offers 2', 'prices 2'] },
  { name: '`usePrefetchQuery` and suspense', App: Prefetching },
  {
    name: '`useSuspenseInfiniteQuery`, first page',
    App: InfiniteSuspense,
    broken: 'GET /api/pages',
    content: ['Kite 0'],
  },
  {
    name: '`useSuspenseInfiniteQuery`, more',
    App: InfiniteSuspense,
    broken: 'GET /api/pages?page=1',
    content: ['Kite 1'],
    act: press('More'),
  },
  { name: 'toasts of the cache', App: Toasts },
  { name: '`Promise.all` of `fetchQuery`', App: Ensured },
  {
    name: '`Promise.allSettled` in a queryFn',
    App: queried(readSettled),
    content: ['offers 2', 'prices 2'],
  },
  { name: 'a token first, without the signal', App: queried(readAfterToken) },
  { name: 'the time in its URL', App: queried(readUntilNow) },
];
