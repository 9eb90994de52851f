import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { Suspense } from 'react';
import { describe, expect, test } from 'vitest';
import { useRetryStatus } from 'steadfetch/react';
import { createHandle } from '../react-query/handle.ts';
import { createRig, type Rig } from '../react-query/rig.tsx';
import { watchQuery } from './watch.tsx';

const queryKey = ['pages'];

interface Shown {
  readonly next: () => void;
  readonly refetch: () => void;
  readonly isFetchingNextPage: boolean;
}

function showPages(rig: Rig) {
  const shown = createHandle<Shown>();
  const failureCounts: number[] = [];
  const fetchStatuses: string[] = [];
  function Pages() {
    const result = useInfiniteQuery({
      queryKey,
      queryFn: ({ pageParam, signal }) =>
        rig.steady.json<string>(`/pages/${pageParam}`, { signal }),
      initialPageParam: 0,
      getNextPageParam: (_last, pages) => pages.length,
    });
    shown.set({
      next: () => void result.fetchNextPage(),
      refetch: () => void result.refetch(),
      isFetchingNextPage: result.isFetchingNextPage,
    });
    failureCounts.push(result.failureCount);
    fetchStatuses.push(result.fetchStatus);
    return <p>{`${result.status} ${result.data?.pages.join(', ') ?? ''}`}</p>;
  }
  const watched = watchQuery(rig, queryKey);
  rig.show(
    <>
      <watched.Watcher />
      <Pages />
    </>,
  );
  return { ...watched, shown, failureCounts, fetchStatuses };
}

const requests = (rig: Rig): [string, number][] =>
  rig.server.sent.map(({ request, at }) => [request, at]);

describe('an infinite query', () => {
  test('in the wait of its first page: a request for it at once', async () => {
    const rig = createRig();
    rig.server.plan('/pages/0', 503, { body: 'A' });
    const { last } = showPages(rig);
    await rig.time.advance(100);
    act(() => last().retryNow());
    await rig.time.advance(10_000);
    expect(requests(rig)).toEqual([
      ['GET /pages/0', 0],
      ['GET /pages/0', 100],
    ]);
    expect(screen.getByText('success A')).toBeDefined();
  });

  test('in fetchNextPage it stays fetchNextPage, and its failures count from 0 again', async () => {
    const rig = createRig();
    rig.server.plan('/pages/0', { body: 'A' });
    rig.server.plan('/pages/1', 503, 503, { status: 503, afterMs: 10 }, { body: 'B' });
    const { last, shown, failureCounts, fetchStatuses } = showPages(rig);
    await rig.time.settle();
    act(shown.get().next);
    await rig.time.advance(600);
    expect(shown.get().isFetchingNextPage).toBe(true);
    expect(failureCounts.at(-1)).toBe(2);
    failureCounts.length = 0;
    fetchStatuses.length = 0;
    act(() => last().retryNow());
    await rig.time.settle();
    expect(shown.get().isFetchingNextPage).toBe(true);
    expect(last()).toMatchObject({ status: 'sending', attempt: 1 });
    await rig.time.advance(10_000);
    expect(requests(rig)).toEqual([
      ['GET /pages/0', 0],
      ['GET /pages/1', 0],
      ['GET /pages/1', 500],
      ['GET /pages/1', 600],
      ['GET /pages/1', 1110],
    ]);
    expect(failureCounts).toEqual([0, 1, 0]);
    expect(fetchStatuses).toEqual(['fetching', 'fetching', 'idle']);
    expect(screen.getByText('success A, B')).toBeDefined();
  });

  test('after fetchNextPage has failed it is fetchNextPage again', async () => {
    const rig = createRig({ policy: { maxRetries: 0 } });
    rig.server.plan('/pages/0', { body: 'A' });
    rig.server.plan('/pages/1', 503, { body: 'B' });
    const { last, shown } = showPages(rig);
    await rig.time.settle();
    act(shown.get().next);
    await rig.time.settle();
    expect(last().status).toBe('failed');
    act(() => last().retryNow());
    await rig.time.settle();
    expect(requests(rig).map(([request]) => request)).toEqual([
      'GET /pages/0',
      'GET /pages/1',
      'GET /pages/1',
    ]);
    expect(screen.getByText('success A, B')).toBeDefined();
  });

  test('in the refetch of two pages: the refetch begins at its first page again', async () => {
    const rig = createRig();
    const { last, shown } = showPages(rig);
    await rig.time.settle();
    act(shown.get().next);
    await rig.time.settle();
    rig.server.plan('/pages/1', 503, { body: 'B2' });
    act(shown.get().refetch);
    await rig.time.advance(100);
    act(() => last().retryNow());
    await rig.time.advance(10_000);
    expect(requests(rig).slice(2)).toEqual([
      ['GET /pages/0', 0],
      ['GET /pages/1', 0],
      ['GET /pages/0', 100],
      ['GET /pages/1', 100],
    ]);
  });

  test('twenty presses in fetchNextPage are one request', async () => {
    const rig = createRig();
    rig.server.plan('/pages/1', 503, { body: 'B', afterMs: 10 });
    const { last, shown } = showPages(rig);
    await rig.time.settle();
    act(shown.get().next);
    await rig.time.advance(100);
    for (let press = 0; press < 20; press++) act(() => last().retryNow());
    await rig.time.advance(10_000);
    expect(rig.server.times('/pages/1')).toEqual([0, 100]);
  });
});

describe('a suspended query', () => {
  function showSuspended(rig: Rig) {
    const shown: string[] = [];
    const retryNow = createHandle<() => void>();
    function Products() {
      const { data } = useSuspenseQuery({
        queryKey,
        queryFn: ({ signal }) => rig.steady.json<string>('/products', { signal }),
      });
      return <p>{data}</p>;
    }
    function Fallback() {
      const { status, attempt, retryNow: press } = useRetryStatus({ queryKey });
      retryNow.set(press);
      shown.push(`${rig.elapsed()} ${status} ${attempt}`);
      return <p>{status}</p>;
    }
    rig.show(
      <Suspense fallback={<Fallback />}>
        <Products />
      </Suspense>,
    );
    return { shown, press: () => act(retryNow.get()) };
  }

  test('in its wait: a request at once, and the fallback shows no idle in between', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { status: 503, afterMs: 10 }, { body: 'Tea', afterMs: 10 });
    const { shown, press } = showSuspended(rig);
    await rig.time.advance(100);
    shown.length = 0;
    press();
    expect(rig.server.times()).toEqual([0, 100]);
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 100, 610]);
    expect(shown).toEqual(['100 sending 1', '110 waiting 1', '610 sending 2']);
    expect(screen.getByText('Tea')).toBeDefined();
  });

  test('twenty presses are one request', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { body: 'Tea', afterMs: 10 });
    const { press } = showSuspended(rig);
    await rig.time.advance(100);
    for (let time = 0; time < 20; time++) press();
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 100]);
  });
});
