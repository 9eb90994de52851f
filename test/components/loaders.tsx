import {
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { useState } from 'react';
import { press } from './press.ts';
import type { Api, List, Page, Props, Tutorial } from './tutorial.ts';

const listOptions = (api: Api) =>
  queryOptions({ queryKey: ['list'], queryFn: () => api.get<List>('/api/list') });

function LoadedList({ api }: Props) {
  const { data } = useQuery(listOptions(api));
  return <ul>{data!.items.join()}</ul>;
}

type Load = (client: QueryClient, api: Api) => Promise<unknown>;

/** A router whose one route has a loader. */
function createApp(load: Load, client: QueryClient, api: Api) {
  return createRouter({
    routeTree: createRootRoute({
      loader: () => load(client, api),
      component: () => <LoadedList api={api} />,
      pendingComponent: () => <p>Loading…</p>,
      errorComponent: ({ error }) => <p>Failed: {String(error)}</p>,
    }),
    history: createMemoryHistory(),
    defaultPendingMs: 0,
    defaultPendingMinMs: 0,
  });
}

function routed(load: Load) {
  return function Routed({ api }: Props) {
    const queryClient = useQueryClient();
    const [router] = useState(() => createApp(load, queryClient, api));
    return <RouterProvider router={router} />;
  };
}

function Prefetched({ api }: Props) {
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const prefetch = (): void => {
    void queryClient.prefetchQuery({ ...listOptions(api), staleTime: 10_000 });
  };
  return isOpen ? (
    <OpenedList api={api} />
  ) : (
    <button onMouseEnter={prefetch} onClick={() => setOpen(true)}>
      Open
    </button>
  );
}

function OpenedList({ api }: Props) {
  const { isLoading, isError, data } = useQuery({ ...listOptions(api), staleTime: 10_000 });
  if (isLoading) return <p>Loading…</p>;
  if (isError) return <p>Failed</p>;
  return <ul>{data!.items.join()}</ul>;
}

/** Data that an event handler fetches. */
function fetching(load: (client: QueryClient, api: Api) => Promise<string>) {
  return function Fetching({ api }: Props) {
    const queryClient = useQueryClient();
    const [words, setWords] = useState('');
    const run = async (): Promise<void> => {
      setWords('Loading…');
      try {
        setWords(await load(queryClient, api));
      } catch {
        setWords('Failed');
      }
    };
    return (
      <div>
        <button onClick={() => void run()}>Export</button>
        {words}
      </div>
    );
  };
}

const pagesOptions = (api: Api) =>
  infiniteQueryOptions({
    queryKey: ['pages'],
    queryFn: ({ pageParam }) => api.get<Page>(`/api/pages?page=${pageParam}`),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  });

export const loaders: readonly Tutorial[] = [
  {
    name: 'a router loader with `ensureQueryData`',
    App: routed((client, api) => client.ensureQueryData(listOptions(api))),
  },
  {
    name: 'a router loader with `query()`',
    App: routed((client, api) => client.query({ ...listOptions(api), staleTime: 'static' })),
  },
  {
    name: '`prefetchQuery` on hover, then a press',
    App: Prefetched,
    act: () => {
      press('Open', 'mouseEnter')();
      setTimeout(press('Open'), 200);
    },
  },
  {
    name: '`query()` in an event handler',
    App: fetching(async (client, api) => (await client.query(listOptions(api))).items.join()),
    act: press('Export'),
  },
  {
    name: '`infiniteQuery()` of two pages',
    App: fetching(async (client, api) => {
      const { pages } = await client.infiniteQuery({ ...pagesOptions(api), pages: 2 });
      return pages.flatMap(({ items }) => items).join();
    }),
    act: press('Export'),
    broken: 'GET /api/pages?page=1',
    content: ['Kite 0', 'Kite 1'],
  },
];
