import {
  type DehydratedState,
  dehydrate,
  focusManager,
  hydrate,
  keepPreviousData,
  onlineManager,
  type QueryCacheNotifyEvent,
  QueryClient,
  QueryClientProvider,
  useInfiniteQuery,
  useQuery,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { act, cleanup, render } from '@testing-library/react';
import { StrictMode, Suspense, useEffect } from 'react';
import { createSteadfetch } from 'steadfetch';
import { seededRandom, virtualTime } from 'steadfetch/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { createHandle } from './handle.ts';

afterEach(() => {
  onlineManager.setOnline(true);
  focusManager.setFocused(undefined);
});

const toUrl = (input: RequestInfo | URL): string =>
  input instanceof Request ? input.url : input.toString();

/** What becomes of each query, told by its cache, its hooks and its promises: a list for each key. */
type Story = Record<string, string[]>;

const infinite = {
  initialPageParam: 0,
  getNextPageParam: (_: unknown, pages: unknown[]) => pages.length,
};

/** An error as any client throws it, which nobody retries. */
const notFound = (): Error =>
  Object.assign(new Error('404'), { response: { status: 404, headers: {} } });

/** What our policy comes to, where every draw is 0.5: a query without a queryFn is retried by both. */
const plain = {
  retry: (count: number, error: Error) => error.message !== '404' && count < 3,
  retryDelay: (count: number) => 500 * 2 ** count,
};

/** Drives one random scenario. The same seed does the same, whatever the defaults are. */
async function play(seed: number, isOurs: boolean): Promise<Story> {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const time = virtualTime(vi, { act: (work) => act(work) });
  const startedAt = time.now();
  const story: Story = {};
  const tell = (key: string, ...words: readonly unknown[]): void =>
    void (story[key] ??= []).push([time.now() - startedAt, ...words].join(' '));
  const isFetched = seed % 2 === 0;
  const calls: Record<string, number> = {};
  const waits: Record<string, number> = {};
  const transport = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const key = decodeURIComponent(new URL(toUrl(input)).pathname.slice(1));
    const { signal } = init ?? {};
    const call = (calls[key] = (calls[key] ?? 0) + 1);
    tell(key, 'sent', call);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, waits[key]);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
    });
    return key.includes('missing')
      ? new Response(null, { status: 404 })
      : Response.json(`${key} ${call}`);
  };
  const steady = isOurs
    ? createSteadfetch({
        random: () => 0.5,
        fetch: transport,
        policy: { backoff: 'none', baseMs: 500 },
        ...noOrigin,
      })
    : undefined;
  const client = new QueryClient({
    defaultOptions: { queries: { gcTime: 2000, ...(steady?.defaultOptions.queries ?? plain) } },
  });
  const isStrict = below(2) === 0;

  const answer = async (key: string, ms: number, signal?: AbortSignal): Promise<string> => {
    const call = (calls[key] = (calls[key] ?? 0) + 1);
    tell(key, 'sent', call);
    signal?.addEventListener('abort', () => tell(key, 'aborted', call));
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    if (key.includes('missing')) throw notFound();
    return `${key} ${call}`;
  };
  /** As our fetch asks a server, or anything else. */
  const ask = async (key: string, ms: number, signal?: AbortSignal): Promise<string> => {
    if (!isFetched) return answer(key, ms, signal);
    waits[key] = ms;
    const url = `http://api.example/${key}`;
    const response = await (steady?.fetch ?? transport)(url, signal ? { signal } : {});
    if (response.status === 404) throw notFound();
    return (await response.json()) as string;
  };
  const watch = ({ type, query, ...event }: QueryCacheNotifyEvent): void => {
    const { status, fetchStatus, data, fetchFailureCount, isInvalidated } = query.state;
    const action = 'action' in event ? event.action.type : '';
    const count = query.getObserversCount();
    tell(
      query.queryHash,
      type,
      action,
      status,
      fetchStatus,
      JSON.stringify(data),
      fetchFailureCount,
      isInvalidated,
      count,
    );
  };
  const unsubscribe = client.getQueryCache().subscribe(watch);
  const show = (name: string, result: object): void => {
    const { status, fetchStatus, data, failureCount, isStale, isPlaceholderData, isRefetchError } =
      result as Record<string, unknown>;
    tell(
      name,
      'shown',
      status,
      fetchStatus,
      JSON.stringify(data),
      failureCount,
      isStale,
      isPlaceholderData,
      isRefetchError,
    );
  };

  // What the docs say of infinite queries that go on without their components.
  const unwrapped: object = isOurs ? { persister: undefined } : {};
  const more = createHandle<() => unknown>();
  let isEnabled = true;
  let page = 0;
  const key = (name: string) => [name];
  function Read() {
    const result = useQuery({
      queryKey: key('read'),
      queryFn: ({ signal }) => ask('read', 100, signal),
    });
    useEffect(() => show('read hook', result));
    return null;
  }
  function Again() {
    const result = useQuery({
      queryKey: key('read'),
      queryFn: ({ signal }) => ask('read', 100, signal),
      staleTime: 500,
      enabled: isEnabled,
    });
    useEffect(() => show('again hook', result));
    return null;
  }
  function Unread() {
    const result = useQuery({
      queryKey: ['unread', page],
      queryFn: () => ask(`unread ${page}`, 50),
      select: (data) => data.toUpperCase(),
      placeholderData: keepPreviousData,
      enabled: isEnabled,
    });
    useEffect(() => show('unread hook', result));
    return null;
  }
  function Missing() {
    const result = useQuery({
      queryKey: key('missing'),
      queryFn: ({ signal }) => ask('missing', 30, signal),
      refetchOnMount: 'always',
    });
    useEffect(() => show('missing hook', result));
    return null;
  }
  function Direct() {
    const result = useQuery({
      queryKey: key('direct'),
      queryFn: () => ask('direct', 0),
      networkMode: 'always',
      structuralSharing: false,
    });
    useEffect(() => show('direct hook', result));
    return null;
  }
  function Polled() {
    const result = useQuery({
      queryKey: key('polled'),
      queryFn: () => ask('polled', 10),
      refetchInterval: 70,
      gcTime: 50,
    });
    useEffect(() => show('polled hook', result));
    return null;
  }
  function Pages() {
    const result = useInfiniteQuery({
      queryKey: key('pages'),
      queryFn: ({ signal }) => ask('pages', 40, signal),
      ...infinite,
    });

    useEffect(() => {
      more.set(result.fetchNextPage);
      show('pages hook', result);
    });
    return null;
  }
  function UnreadPages() {
    const result = useInfiniteQuery({
      queryKey: key('unreadPages'),
      queryFn: () => ask('unreadPages', 40),
      ...infinite,
      ...unwrapped,
    });
    useEffect(() => show('unreadPages hook', result));
    return null;
  }
  function Suspended() {
    const result = useSuspenseQuery({
      queryKey: key('suspended'),
      queryFn: ({ signal }) => ask('suspended', 60, signal),
    });
    useEffect(() => show('suspended hook', result));
    return null;
  }
  function SuspendedMissing() {
    useSuspenseQuery({
      queryKey: key('suspendedMissing'),
      queryFn: ({ signal }) => ask('suspended missing', 60, signal),
    });
    return null;
  }
  const parts = new Map<string, () => null>([
    ['read', Read],
    ['again', Again],
    ['unread', Unread],
    ['missing', Missing],
    ['direct', Direct],
    ['polled', Polled],
    ['pages', Pages],
    ['unreadPages', UnreadPages],
    ['suspended', Suspended],
    ['suspendedMissing', SuspendedMissing],
  ]);
  const names = [...parts.keys()];
  const keys = [...names.filter((name) => !['again', 'unread'].includes(name)), 'unread'];
  const mounted = new Set<string>();
  const App = () => (
    <QueryClientProvider client={client}>
      {[...parts].map(([name, Part]) => {
        if (!mounted.has(name)) return null;
        return (
          <ErrorBoundary key={name}>
            <Suspense fallback={null}>
              <Part />
            </Suspense>
          </ErrorBoundary>
        );
      })}
    </QueryClientProvider>
  );
  const app = () =>
    isStrict ? (
      <StrictMode>
        <App />
      </StrictMode>
    ) : (
      <App />
    );
  const view = render(app());
  const pick = <T,>(list: readonly T[]): T => {
    const [picked] = list.slice(below(list.length));
    if (picked === undefined) throw new Error('There is nothing to pick.');
    return picked;
  };
  const filter = () => ({ queryKey: key(pick(keys)) });
  const follow = (name: string, promise: Promise<unknown>): void =>
    void promise.then(
      (data) => tell(name, 'resolved', JSON.stringify(data)),
      (error: unknown) => tell(name, 'rejected', /404|Missing|Cancelled/.exec(String(error))?.[0]),
    );
  let isOnline = true;
  let isFocused = true;
  let kept: DehydratedState | undefined;

  const moves: Record<string, () => void> = {
    toggle() {
      const name = pick(names);
      if (!mounted.delete(name)) mounted.add(name);
      view.rerender(app());
    },
    enable() {
      isEnabled = !isEnabled;
      view.rerender(app());
    },
    turn() {
      page = below(3);
      view.rerender(app());
    },
    cancel: () => follow('cancel', client.cancelQueries(filter())),
    cancelSilently: () => follow('cancel', client.cancelQueries(filter(), { silent: true })),
    reset: () => follow('reset', client.resetQueries(filter())),
    remove: () => client.removeQueries(filter()),
    invalidate: () => follow('invalidate', client.invalidateQueries(filter())),
    refetch: () =>
      follow('refetch', client.refetchQueries(filter(), { cancelRefetch: below(2) === 0 })),
    set: () => void client.setQueryData(['read'], 'set'),
    more() {
      if (mounted.has('pages')) void more.get()();
    },
    fetch() {
      const name = pick(['read', 'missing']);
      follow(
        'fetch',
        client.fetchQuery({ queryKey: key(name), queryFn: ({ signal }) => ask(name, 100, signal) }),
      );
    },
    online() {
      isOnline = !isOnline;
      onlineManager.setOnline(isOnline);
    },
    focus() {
      isFocused = !isFocused;
      focusManager.setFocused(isFocused);
    },
    keep: () =>
      void (kept = dehydrate(client, {
        shouldDehydrateQuery: ({ state }) => state.status !== 'pending',
      })),
    restore: () => kept !== undefined && hydrate(client, kept),
  };
  const steps = Object.keys(moves);
  for (let step = 0; step < 60; step++) {
    act(() => {
      for (let count = pick([1, 1, 1, 2, 3]); count > 0; count--) {
        const move = below(3) === 0 ? 'toggle' : pick(steps);
        for (const lines of Object.values(story)) lines.push(`# ${step} ${move}`);
        moves[move]?.();
      }
    });
    await time.advance(pick([0, 0, 1, 5, 20, 50, 120, 500, 3000]));
  }
  act(() => {
    if (!isOnline) {
      onlineManager.setOnline(true);
    }
    if (!isFocused) focusManager.setFocused(true);
  });
  await time.advance(1000);
  view.unmount();
  await time.advance(10_000);
  tell('end', client.getQueryCache().getAll().length, client.isFetching(), vi.getTimerCount());
  unsubscribe();
  client.clear();
  steady?.dispose();
  onlineManager.setOnline(true);
  focusManager.setFocused(undefined);
  cleanup();
  tell('end', vi.getTimerCount());
  time.restore();
  return story;
}

test.each([1, 2, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26])(
  'a scenario of queries is what it is without Steadfetch (seed %i)',
  async (seed) => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const theirs = await play(seed, false);
    expect(await play(seed, true)).toEqual(theirs);
  },
);
