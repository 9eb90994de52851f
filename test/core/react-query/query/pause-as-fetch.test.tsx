import {
  InfiniteQueryObserver,
  MutationObserver,
  QueryObserver,
  type QueryObserverResult,
  skipToken,
  useQuery,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { Suspense } from 'react';
import type { SteadfetchConfig } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { observe } from '../../fetch/observe.ts';
import { ErrorBoundary } from '../error-boundary.tsx';
import { createRig, type Rig, setOnline, setVisible } from '../rig.tsx';

const api = 'http://api.example';
const path = '/items/1';
const queryKey = ['item'];
const failures = (count: number): number[] => Array.from({ length: count }, () => 503);

/** One endpoint by name: a URL that has not failed is not held back. */
const apis = [{ match: `${api}/items`, endpoint: () => 'items' }];

/** A component shows data; then its endpoint fails so many times more. */
async function showData(failing: number, own: object = {}, config: SteadfetchConfig = {}) {
  const rig = createRig({ health: {}, apis, ...config });
  const queryFn = () => rig.steady.json<string>(api + path);
  const observer = new QueryObserver(rig.client, { queryKey, queryFn, ...own });
  observer.subscribe(() => {});
  await rig.time.advance(1000);
  expect(observer.getCurrentResult().data).toBe('GET /items/1 1');
  rig.server.plan(path, ...failures(failing));
  return { rig, observer, result: () => observer.getCurrentResult() };
}

/** Another page asks for the same endpoint, which is down afterwards: it is so many milliseconds later. */
async function takeDown(rig: Rig): Promise<void> {
  rig.server.plan('/items/2', 503, 503);
  for (let count = 0; count < 2; count++) await rig.steady.fetch(`${api}/items/2`).catch(() => {});
}

const sentAfter = (rig: Rig, ms: number): number[] => rig.server.times().filter((at) => at > ms);

describe('a paused query without data', () => {
  test.each(['an outage', 'a rate limit'])('shows its spinner in %s', async (trouble) => {
    const rig = createRig({ health: {}, apis });
    const limited = { status: 429, headers: { 'retry-after': '5' } };
    rig.server.plan(path, ...(trouble === 'an outage' ? failures(3) : [limited]));
    const seen: string[] = [];
    function List() {
      const { isLoading, isPaused, error, data } = useQuery({
        queryKey,
        queryFn: () => rig.steady.json<string>(api + path),
      });
      seen.push(isLoading ? 'Loading' : error ? 'Failed' : `${data?.length} letters`);
      expect(isPaused).toBe(false);
      return null;
    }
    rig.show(<List />);
    await rig.time.advance(10_000);
    expect([...new Set(seen)]).toEqual(['Loading', '14 letters']);
  });

  test('is paused for React Query while the device is offline', async () => {
    const rig = createRig({ health: {}, apis });
    const observer = new QueryObserver(rig.client, {
      queryKey,
      async queryFn({ signal }) {
        await new Promise((come) => setTimeout(come, 100));
        return rig.steady.json<string>(api + path, { signal });
      },
    });
    observer.subscribe(() => {});
    await rig.time.advance(50);
    setOnline(false);
    await rig.time.advance(100);
    expect(observer.getCurrentResult()).toMatchObject({ isPaused: true, isLoading: false });
    setOnline(true);
    await rig.time.advance(1000);
    expect(observer.getCurrentResult()).toMatchObject({ isPaused: false, isSuccess: true });
  });

  test('fails as with React Query alone where other endpoints answer', async () => {
    const rig = createRig({ health: {}, apis });
    rig.server.plan('/broken', ...failures(60));
    const queryFn = () => rig.steady.json<string>(`${api}/broken`);
    const observer = new QueryObserver(rig.client, { queryKey, queryFn });
    observer.subscribe(() => {});
    await rig.time.advance(2000);
    await rig.steady.fetch(`${api}/fine`);
    await rig.time.advance(5240);
    expect(observer.getCurrentResult().status).toBe('pending');
    await rig.time.advance(10);
    expect(observer.getCurrentResult()).toMatchObject({
      status: 'error',
      error: { code: 'http', status: 503, decision: { reason: 'paused-too-long' } },
    });
  });

  test('that suspends goes on', async () => {
    const rig = createRig({ health: {}, apis });
    rig.server.plan(path, ...failures(8));
    function Item() {
      return useSuspenseQuery({ queryKey, queryFn: () => rig.steady.json<string>(api + path) })
        .data;
    }
    const { container } = rig.show(
      <ErrorBoundary>
        <Suspense fallback="Loading">
          <Item />
        </Suspense>
      </ErrorBoundary>,
    );
    await rig.time.advance(8000);
    expect(container.textContent).toBe('Loading');
    await rig.time.advance(20_000);
    expect(container.textContent).toBe('GET /items/1 9');
  });
});

describe('a paused query with data', () => {
  const flagsOf = ({ isFetching, isPaused, isRefetchError, status }: QueryObserverResult) =>
    `${status}${isFetching ? ' fetching' : ''}${isPaused ? ' paused' : ''}${isRefetchError ? ' refetch error' : ''}`;

  test('is fetching for 7 s, then fails with its data, and is fetched again when the server is back', async () => {
    const { rig, observer, result } = await showData(60);
    const seen: string[] = [];
    observer.subscribe((one) => seen.push(`${rig.elapsed()} ${flagsOf(one)}`));
    void observer.refetch();
    await rig.time.advance(7240);
    expect(flagsOf(result())).toBe('success fetching');
    await rig.time.advance(10);
    expect(flagsOf(result())).toBe('error refetch error');
    expect(result()).toMatchObject({
      data: 'GET /items/1 1',
      error: { code: 'http', status: 503, decision: { reason: 'paused-too-long' } },
    });
    rig.server.unplan(path);
    void rig.steady.fetch(`${api}/items/2`);
    await rig.time.advance(5000);
    expect(flagsOf(result())).toBe('success');
    expect(seen.filter((one) => one.includes('paused'))).toEqual([]);
  });

  test('is answered no later than the retries of React Query alone would be', async () => {
    const { rig, observer, result } = await showData(3);
    void observer.refetch();
    await rig.time.advance(3000);
    expect(result().data).toBe('GET /items/1 5');
  });

  test('has a longer time where the policy allows more retries', async () => {
    const { rig, observer, result } = await showData(60, {}, { policy: { maxRetries: 4 } });
    void observer.refetch();
    await rig.time.advance(14_999);
    expect(result().status).toBe('success');
  });

  test('is not given up in a hidden tab, as with React Query alone', async () => {
    const { rig, observer, result } = await showData(2);
    void observer.refetch();
    await rig.time.advance(1000);
    setVisible(false);
    await rig.time.advance(6500);
    expect(result().status).toBe('success');
    setVisible(true);
    await rig.time.advance(1000);
    expect(result()).toMatchObject({ status: 'success', data: 'GET /items/1 4' });
  });

  test('fails in a rate limit, too, and is fetched again at its end', async () => {
    const { rig, observer, result } = await showData(0);
    rig.server.plan(path, { status: 429, headers: { 'retry-after': '20' } });
    void rig.steady.fetch(api + path).catch(() => {});
    await rig.time.advance(10);
    void observer.refetch();
    await rig.time.advance(7240);
    expect(result().status).toBe('success');
    await rig.time.advance(10);
    expect(result().status).toBe('error');
    await rig.time.advance(12_500);
    expect(result().status).toBe('error');
    await rig.time.advance(5000);
    expect(result().status).toBe('success');
  });

  test('loads the next page of an infinite list when the server is back', async () => {
    const rig = createRig({ health: {}, apis });
    const observer = new InfiniteQueryObserver(rig.client, {
      queryKey,
      queryFn: ({ pageParam }) => rig.steady.json<string>(`${api}/pages/${pageParam}`),
      initialPageParam: 0,
      getNextPageParam: (_page, pages) => pages.length,
    });
    observer.subscribe(() => {});
    await rig.time.advance(1000);
    rig.server.plan('/pages/1', ...failures(20));
    void observer.fetchNextPage();
    await rig.time.advance(7240);
    expect(observer.getCurrentResult().isFetchingNextPage).toBe(true);
    await rig.time.advance(10);
    expect(observer.getCurrentResult().isFetchNextPageError).toBe(true);
    rig.server.unplan('/pages/1');
    void rig.steady.fetch(`${api}/pages/7`);
    await rig.time.advance(5000);
    expect(observer.getCurrentResult().data?.pages.length).toBe(2);
    expect(rig.server.times('/pages/0').length).toBe(1);
  });
});

describe('a promise of React Query', () => {
  test.each(['invalidateQueries', 'refetchQueries'] as const)(
    'of %s that has begun a fetch settles within 7 s, and at once where the pause is known',
    async (name) => {
      const { rig, observer } = await showData(60);
      const first = observe(rig.client[name]({ queryKey }));
      await rig.time.advance(7240);
      expect(first.state).toBe('pending');
      await rig.time.advance(10);
      expect(first.state).toBe('resolved');
      for (let count = 0; count < 3; count++) {
        const known = observe(rig.client[name]({ queryKey }));
        await rig.time.advance(0);
        expect(known.state).toBe('resolved');
        expect(observer.getCurrentResult()).toMatchObject({ isFetching: true, isPaused: false });
      }
    },
  );

  test('of a mutation whose onSettled awaits an invalidation settles at once, where it is known', async () => {
    const { rig } = await showData(60);
    await takeDown(rig);
    const mutation = new MutationObserver(rig.client, {
      mutationFn: () => rig.steady.fetch(`${api}/save`, { method: 'POST' }),
      onSettled: () => rig.client.invalidateQueries({ queryKey }),
    });
    const saved = observe(mutation.mutate());
    await rig.time.advance(0);
    expect(saved.state).toBe('resolved');
  });

  test('of the first invalidation of data that were hydrated settles at once, too', async () => {
    const rig = createRig({ health: {}, apis });
    rig.client.setQueryData(queryKey, 'hydrated');
    await takeDown(rig);
    const queryFn = () => rig.steady.json<string>(api + path);
    new QueryObserver(rig.client, { queryKey, queryFn, staleTime: Infinity }).subscribe(() => {});
    const known = observe(rig.client.invalidateQueries({ queryKey }));
    await rig.time.advance(0);
    expect(known.state).toBe('resolved');
    expect(rig.client.getQueryState(queryKey)).toMatchObject({ fetchStatus: 'fetching' });
  });

  test('of refetch() tells of its failure within 7 s, also where the pause is known', async () => {
    const { rig, observer } = await showData(60);
    await takeDown(rig);
    const refreshed = observe(observer.refetch());
    await rig.time.advance(7240);
    expect(refreshed.state).toBe('pending');
    await rig.time.advance(10);
    expect(refreshed.value).toMatchObject({ isError: true, data: 'GET /items/1 1' });
  });

  test.each(['fetchQuery', 'ensureQueryData', 'prefetchQuery'] as const)(
    'of %s, which no component shows, settles within 7 s, and nothing is sent after the last retry of React Query',
    async (name) => {
      const rig = createRig({ health: {}, apis });
      rig.server.plan(path, ...failures(60));
      const queryFn = () => rig.steady.json<string>(api + path);
      const loaded = observe(rig.client[name as 'fetchQuery']({ queryKey, queryFn }));
      await rig.time.advance(7240);
      expect(loaded.state).toBe('pending');
      await rig.time.advance(10);
      expect(loaded.state).toBe(name === 'prefetchQuery' ? 'resolved' : 'rejected');
      await rig.time.advance(60_000);
      expect(sentAfter(rig, 7000)).toEqual([7150]);
    },
  );

  test('does not end a fetch that a component has come to show', async () => {
    const rig = createRig({ health: {}, apis });
    rig.server.plan(path, ...failures(8));
    const options = { queryKey, queryFn: () => rig.steady.json<string>(api + path) };
    const loaded = observe(rig.client.fetchQuery(options));
    await rig.time.advance(5000);
    new QueryObserver(rig.client, options).subscribe(() => {});
    await rig.time.advance(30_000);
    expect(loaded.state).toBe('resolved');
  });
});

describe('a refetch in a visible page', () => {
  test('is sent at once, long after the last probe', async () => {
    const { rig, observer, result } = await showData(60);
    void observer.refetch();
    await rig.time.advance(40_000);
    rig.server.unplan(path);
    const pressedAt = rig.elapsed();
    await observer.refetch();
    expect(result().status).toBe('success');
    expect(rig.server.times().at(-1)).toBe(pressedAt);
  });

  test('that replaces a paused one is sent 1.2 s after the last probe', async () => {
    const { rig, observer } = await showData(0);
    await takeDown(rig);
    const downAt = rig.elapsed();
    rig.server.plan(path, ...failures(60));
    void observer.refetch();
    await rig.time.advance(3800);
    void observer.refetch();
    await rig.time.advance(500);
    expect(sentAfter(rig, downAt).map((at) => at - downAt)).toEqual([1050, 2250, 3100, 4300]);
  });

  test('in a hidden one waits for the next probe', async () => {
    const { rig, observer } = await showData(60);
    await takeDown(rig);
    const downAt = rig.elapsed();
    setVisible(false);
    await rig.time.advance(4000);
    void observer.refetch();
    await rig.time.advance(1000);
    void observer.refetch();
    await rig.time.advance(0);
    expect(sentAfter(rig, downAt)).toEqual([]);
  });
});

describe('a query that is disabled', () => {
  const options = (rig: Rig, isOn: boolean) => ({
    queryKey,
    queryFn: () => rig.steady.json<string>(api + path),
    enabled: isOn,
  });

  test.each([
    ['while it waits for its retry', 100, 1],
    ['while it is paused', 1000, 2],
  ])('%s sends nothing more, and goes on when it is enabled', async (_when, afterMs, requests) => {
    const rig = createRig({ health: {}, apis });
    rig.server.plan(path, ...failures(requests));
    const observer = new QueryObserver(rig.client, options(rig, true));
    observer.subscribe(() => {});
    await rig.time.advance(afterMs);
    act(() => observer.setOptions(options(rig, false)));
    await rig.time.advance(60_000);
    expect(rig.server.times().length).toBe(requests);
    expect(observer.getCurrentResult()).toMatchObject({
      status: 'pending',
      fetchStatus: 'idle',
      error: null,
    });
    act(() => observer.setOptions(options(rig, true)));
    await rig.time.advance(60_000);
    expect(observer.getCurrentResult().status).toBe('success');
  });

  test.each([
    ['once', [100]],
    ['in each wait', [10, 600, 2000]],
    ['again and again', Array.from({ length: 20 }, (_, index) => 20 * index + 5)],
  ])(
    'and enabled again %s within its waits has its requests when it had them otherwise',
    async (_when, times) => {
      const rig = createRig();
      rig.server.plan(path, ...failures(3));
      const observer = new QueryObserver(rig.client, options(rig, true));
      observer.subscribe(() => {});
      for (const [index, at] of times.entries()) {
        const gapMs = (times[index + 1] ?? at + 20) - at;
        await rig.time.advance(at - rig.elapsed());
        act(() => observer.setOptions(options(rig, false)));
        await rig.time.advance(Math.min(gapMs / 2, 300));
        act(() => observer.setOptions(options(rig, true)));
      }
      await rig.time.advance(10_000);
      expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
      expect(observer.getCurrentResult().status).toBe('success');
    },
  );

  test('in its wait shows that, as with React Query alone, and is idle at its end', async () => {
    const rig = createRig();
    rig.server.plan(path, 503);
    const observer = new QueryObserver(rig.client, options(rig, true));
    observer.subscribe(() => {});
    await rig.time.advance(100);
    act(() => observer.setOptions(options(rig, false)));
    await rig.time.advance(399);
    expect(observer.getCurrentResult().fetchStatus).toBe('fetching');
    await rig.time.advance(1);
    expect(observer.getCurrentResult()).toMatchObject({ status: 'pending', fetchStatus: 'idle' });
    expect(rig.events.at(-1)).toMatchObject({ type: 'operation:end', result: 'cancelled' });
    act(() => observer.setOptions(options(rig, true)));
    await rig.time.advance(0);
    expect(rig.server.times()).toEqual([0, 500]);
  });

  test('in its wait, and asked for by hand, is fetched', async () => {
    const rig = createRig();
    const observer = new QueryObserver(rig.client, options(rig, true));
    observer.subscribe(() => {});
    await rig.time.advance(0);
    rig.server.plan(path, 503);
    void observer.refetch();
    await rig.time.advance(100);
    act(() => observer.setOptions(options(rig, false)));
    const refetched = observer.refetch();
    await rig.time.advance(0);
    expect((await refetched).data).toBe('GET /items/1 3');
  });

  test('by skipToken sends nothing more', async () => {
    const rig = createRig({ health: {}, apis });
    rig.server.plan(path, ...failures(60));
    const observer = new QueryObserver<string>(rig.client, options(rig, true));
    observer.subscribe(() => {});
    await rig.time.advance(1000);
    const before = rig.server.sent.length;
    act(() => observer.setOptions({ queryKey, queryFn: skipToken }));
    await rig.time.advance(60_000);
    expect(rig.server.sent.length).toBe(before);
  });

  test('while its attempt is under way finishes it, and is not retried', async () => {
    const rig = createRig({ health: {}, apis });
    rig.server.plan(path, { status: 503, afterMs: 100 });
    const observer = new QueryObserver(rig.client, options(rig, true));
    observer.subscribe(() => {});
    await rig.time.advance(50);
    act(() => observer.setOptions(options(rig, false)));
    await rig.time.advance(60_000);
    expect(rig.server.times()).toEqual([0]);
  });

  test('keeps its data', async () => {
    const { rig, observer, result } = await showData(60);
    void observer.refetch();
    await rig.time.advance(1000);
    act(() => observer.setOptions(options(rig, false)));
    expect(result()).toMatchObject({ status: 'success', fetchStatus: 'idle' });
    const before = rig.server.sent.length;
    await rig.time.advance(60_000);
    expect(rig.server.sent.length).toBe(before);
  });

  test('for one component goes on for another', async () => {
    const rig = createRig({ health: {}, apis });
    rig.server.plan(path, 503);
    const observers = [true, true].map((isOn) => new QueryObserver(rig.client, options(rig, isOn)));
    for (const observer of observers) observer.subscribe(() => {});
    await rig.time.advance(100);
    act(() => observers[0]?.setOptions(options(rig, false)));
    await rig.time.advance(60_000);
    expect(observers[1]?.getCurrentResult().status).toBe('success');
  });

  test.each([
    ['while it waits for its retry', 100, 1],
    ['while it is paused', 1000, 2],
  ])(
    'in the component that is left goes on %s: it shows what another one has wanted',
    async (_when, afterMs, requests) => {
      const rig = createRig({ health: {}, apis });
      rig.server.plan(path, ...failures(requests));
      const shown = new QueryObserver(rig.client, options(rig, false));
      shown.subscribe(() => {});
      const stop = new QueryObserver(rig.client, options(rig, true)).subscribe(() => {});
      await rig.time.advance(afterMs);
      act(stop);
      await rig.time.advance(60_000);
      expect(shown.getCurrentResult()).toMatchObject({ status: 'success', fetchStatus: 'idle' });
    },
  );

  test('from the beginning goes on when refetch() has begun it', async () => {
    const rig = createRig({ health: {}, apis });
    rig.server.plan(path, 503, 503);
    const observer = new QueryObserver(rig.client, options(rig, false));
    observer.subscribe(() => {});
    void observer.refetch();
    await rig.time.advance(10_000);
    expect(observer.getCurrentResult().status).toBe('success');
  });
});

test('before a rate limit whose pace is known, what has gone at once is no pause: invalidateQueries waits for its answer', async () => {
  const rig = createRig({ health: {} });
  const observer = new QueryObserver(rig.client, {
    queryKey,
    queryFn: () => rig.steady.json<string>(api + path),
  });
  observer.subscribe(() => {});
  await rig.time.advance(1000);
  rig.server.plan(path, 429, 429, 429);
  void observer.refetch();
  await rig.time.advance(10_000);
  expect(observer.getCurrentResult().status).toBe('success');
  rig.server.plan(path, { afterMs: 300 });
  const [from, sent] = [rig.elapsed(), rig.server.sent.length];
  let settledMs: number | undefined;
  const settle = async (): Promise<void> => {
    await rig.client.invalidateQueries({ queryKey });
    settledMs = rig.elapsed() - from;
  };
  void settle();
  expect(observer.getCurrentResult().fetchStatus).toBe('fetching');
  expect(rig.server.times().slice(sent)).toEqual([from]);
  await rig.time.advance(1000);
  expect(settledMs).toBe(300);
});
