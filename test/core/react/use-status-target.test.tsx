import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { Suspense } from 'react';
import { describe, expect, test } from 'vitest';
import { useRetryStatus } from 'steadfetch/react';
import { createHandle } from '../react-query/handle.ts';
import { createRig } from '../react-query/rig.tsx';
import { createProducts, statusOf, watchQuery } from './watch.tsx';

const queryKey = ['products'];

test('in a Suspense fallback it shows every transition', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 503, afterMs: 10 }, { body: 'Tea', afterMs: 10 });
  function Products() {
    const { data } = useSuspenseQuery({
      queryKey,
      queryFn: ({ signal }) => rig.steady.json<string>('/products', { signal }),
    });
    return <p>{data}</p>;
  }
  function Fallback() {
    const { status, attempt, retryAt } = useRetryStatus({ queryKey });
    return <p>{`${status} ${attempt} ${retryAt === undefined ? '' : retryAt - startedAt}`}</p>;
  }
  const startedAt = rig.time.now();
  rig.show(
    <Suspense fallback={<Fallback />}>
      <Products />
    </Suspense>,
  );
  await rig.time.settle();
  expect(screen.getByText('sending 1')).toBeDefined();
  await rig.time.advance(10);
  expect(screen.getByText('waiting 1 510')).toBeDefined();
  await rig.time.advance(500);
  expect(screen.getByText('sending 2')).toBeDefined();
  await rig.time.advance(10);
  expect(screen.getByText('Tea')).toBeDefined();
});

test('fetchNextPage is an operation of its own: its attempts begin at 1', async () => {
  const rig = createRig();
  rig.server.plan('/pages/0', 503);
  rig.server.plan('/pages/1', { status: 503, afterMs: 10 }, { afterMs: 10 });
  const next = createHandle<() => void>();
  function Pages() {
    const { fetchNextPage } = useInfiniteQuery({
      queryKey,
      queryFn: ({ pageParam, signal }) => rig.steady.json(`/pages/${pageParam}`, { signal }),
      initialPageParam: 0,
      getNextPageParam: (_last, pages) => pages.length,
    });
    next.set(() => void fetchNextPage());
    return null;
  }
  const watched = watchQuery(rig, queryKey);
  rig.show(
    <>
      <watched.Watcher />
      <Pages />
    </>,
  );
  await rig.time.advance(1000);
  watched.story().length = 0;
  act(next.get());
  await rig.time.advance(10_000);
  expect(watched.story()).toEqual([
    '1000 sending 1',
    '1010 waiting 1',
    '1510 sending 2',
    '1520 succeeded 2',
  ]);
});

test('a streamed query whose error is redacted shows its wait, too', async () => {
  const rig = createRig();
  const watched = watchQuery(rig, queryKey);
  const { Products } = createProducts(rig);
  const query = rig.client
    .getQueryCache()
    .build(rig.client, rig.client.defaultQueryOptions({ queryKey }));
  const redacted = Promise.reject(new Error('redacted'));
  void query.fetch(undefined, { initialPromise: redacted }).catch(() => {});
  rig.show(
    <>
      <watched.Watcher />
      <Products />
    </>,
  );
  const startedAt = rig.time.now();
  await rig.time.settle();
  expect(statusOf(watched.last())).toMatchObject({
    status: 'waiting',
    attempt: 1,
    retryAt: startedAt + 1025,
    reason: 'error',
  });
  act(() => watched.last().retryNow());
  await rig.time.settle();
  expect(rig.server.times()).toEqual([0]);
});

describe('the target', () => {
  test('may change from render to render', async () => {
    const rig = createRig();
    rig.client.setQueryData(['a'], 'A');
    function Status({ name }: { readonly name: string }) {
      return <p>{useRetryStatus({ queryKey: [name] }).status}</p>;
    }
    const { rerender } = rig.show(<Status name="a" />);
    expect(screen.getByText('succeeded')).toBeDefined();
    rerender(rig.wrap(<Status name="b" />));
    expect(screen.getByText('idle')).toBeDefined();
    await act(() => rig.client.prefetchQuery({ queryKey: ['b'], queryFn: () => 'B' }));
    await rig.time.settle();
    expect(screen.getByText('succeeded')).toBeDefined();
  });

  test('of the same content is the same target: nothing is subscribed anew', async () => {
    const rig = createRig();
    const results = new Set<unknown>();
    function Status() {
      results.add(useRetryStatus({ queryKey: ['a', { b: 1 }] }));
      return null;
    }
    const { rerender } = rig.show(<Status />);
    rerender(rig.wrap(<Status />));
    rerender(rig.wrap(<Status />));
    expect(results.size).toBe(1);
  });
});
