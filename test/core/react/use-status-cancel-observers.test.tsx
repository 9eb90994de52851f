import { useInfiniteQuery } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createHandle } from '../react-query/handle.ts';
import { createRig, setOnline } from '../react-query/rig.tsx';
import { createProducts, showProducts, watchQuery } from './watch.tsx';

const queryKey = ['products'];

test('with no observer: after it retryNow has the policy as it was', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503, 503, 503, 503);
  const watched = watchQuery(rig, queryKey);
  rig.show(<watched.Watcher />);
  void rig.client.prefetchQuery({ queryKey, queryFn: () => rig.steady.json('/products') });
  await rig.time.advance(100);
  act(() => watched.last().cancel());
  await rig.time.advance(900);
  act(() => watched.last().retryNow());
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 1000, 1500, 2500, 4500]);
});

test('several observers, also under StrictMode: all show the last error, and nothing is sent', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503);
  const { Products } = createProducts(rig, {
    queryFn: () => rig.steady.json<string>('/products'),
  });
  const watched = watchQuery(rig, queryKey);
  rig.show(
    <>
      <watched.Watcher />
      <Products />
      <Products />
    </>,
    { strict: true },
  );
  await rig.time.advance(100);
  act(() => watched.last().cancel());
  await rig.time.advance(10_000);
  expect(screen.getAllByText('error idle The server answered 503.')).toHaveLength(2);
  expect(rig.server.times()).toEqual([0]);
});

test('fetchNextPage: its error is the last one, and the pages stay', async () => {
  const rig = createRig();
  rig.server.plan('/pages/1', 503);
  const pages = createHandle<ReturnType<typeof useInfiniteQuery>>();
  function Pages() {
    const result = useInfiniteQuery({
      queryKey,
      queryFn: ({ pageParam, signal }) => rig.steady.json(`/pages/${pageParam}`, { signal }),
      initialPageParam: 0,
      getNextPageParam: (_last, all) => all.length,
      notifyOnChangeProps: 'all',
    });
    pages.set(result);
    return null;
  }
  const watched = watchQuery(rig, queryKey);
  rig.show(
    <>
      <watched.Watcher />
      <Pages />
    </>,
  );
  await rig.time.settle();
  act(() => void pages.get().fetchNextPage());
  await rig.time.advance(100);
  act(() => watched.last().cancel());
  await rig.time.advance(10_000);
  expect(rig.server.times('/pages/1')).toEqual([0]);
  expect(pages.get()).toMatchObject({
    isFetchNextPageError: true,
    fetchStatus: 'idle',
    error: { status: 503, decision: { reason: 'cancelled' } },
    data: { pages: ['GET /pages/0 1'] },
  });
});

test('after it, a refetch that is paused before its first attempt can be cancelled, too', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503);
  const { cancel: press, last } = showProducts(rig, { refetchOnReconnect: false });
  await rig.time.advance(100);
  press();
  await rig.time.settle();
  setOnline(false);
  act(() => void rig.client.refetchQueries({ queryKey }));
  await rig.time.settle();
  expect(last().status).toBe('paused');
  press();
  await rig.time.settle();
  expect(last()).toMatchObject({ status: 'failed', reason: 'cancelled' });
  setOnline(true);
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0]);
});

test('after it, retryNow, a refetch and a remount fetch again, with the policy as it was', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503, 503, { body: 'Tea' });
  const { cancel: press, last } = showProducts(rig);
  await rig.time.advance(100);
  press();
  await rig.time.advance(900);
  act(() => last().retryNow());
  await rig.time.advance(100);
  press();
  await rig.time.advance(900);
  act(() => void rig.client.refetchQueries({ queryKey }));
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 1000, 2000, 2500]);
  expect(screen.getByText('success idle Tea')).toBeDefined();
});
