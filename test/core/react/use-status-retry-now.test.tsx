import { useQuery } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { createHandle } from '../react-query/handle.ts';
import { createRig } from '../react-query/rig.tsx';
import { createProducts, watchQuery, showProducts } from './watch.tsx';

const queryKey = ['products'];

describe('in a wait', () => {
  test('without data: a request at once, and the operation begins anew', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, 503, { status: 503, afterMs: 10 }, 503, { body: 'Tea' });
    const { retryNow: press, story, fetchStatuses } = showProducts(rig);
    await rig.time.advance(600);
    press();
    expect(rig.server.times()).toEqual([0, 500, 600]);
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 500, 600, 1110, 2110]);
    expect(story().filter((line) => Number.parseInt(line, 10) >= 600)).toEqual([
      '600 sending 1',
      '610 waiting 1',
      '1110 waiting 2',
      '2110 succeeded 3',
    ]);
    expect(fetchStatuses.slice(0, -1)).not.toContain('idle');
    expect(screen.getByText('success idle Tea')).toBeDefined();
  });

  test('with data: a request at once, the data stays, and nothing shows idle in between', async () => {
    const rig = createRig();
    rig.server.plan(
      '/products',
      { body: 'Tea' },
      503,
      { status: 503, afterMs: 10 },
      { body: 'Mate' },
    );
    const { retryNow: press, fetchStatuses, last } = showProducts(rig);
    await rig.time.settle();
    act(() => void rig.client.refetchQueries({ queryKey }));
    await rig.time.advance(100);
    expect(last().status).toBe('waiting');
    fetchStatuses.length = 0;
    press();
    expect(rig.server.times()).toEqual([0, 0, 100]);
    await rig.time.advance(5);
    expect(screen.getByText('success fetching Tea')).toBeDefined();
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 0, 100, 610]);
    expect(screen.getByText('success idle Mate')).toBeDefined();
    expect(fetchStatuses.slice(0, -1)).not.toContain('idle');
  });

  test('twenty presses are one request', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { afterMs: 10 });
    const { last } = showProducts(rig);
    await rig.time.advance(100);
    const { retryNow } = last();
    act(() => {
      for (let press = 0; press < 20; press++) retryNow();
    });
    for (let press = 0; press < 20; press++) act(() => last().retryNow());
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 100]);
  });

  test('the deadline counts from the press', async () => {
    const rig = createRig({ policy: { deadlineMs: 3499 } });
    rig.server.plan('/products', ...Array.from({ length: 20 }, () => 503));
    const { retryNow: press } = showProducts(rig);
    await rig.time.advance(3000);
    expect(rig.server.times()).toEqual([0, 500, 1500]);
    press();
    await rig.time.advance(100_000);
    expect(rig.server.times()).toEqual([0, 500, 1500, 3000, 3500, 4500]);
  });

  test('with several observers: one request, and all get the result', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { body: 'Tea' });
    const { Products } = createProducts(rig);
    const watched = watchQuery(rig, queryKey);
    rig.show(
      <>
        <watched.Watcher />
        <Products />
        <Products />
        <Products />
      </>,
    );
    await rig.time.advance(100);
    act(() => watched.last().retryNow());
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 100]);
    expect(screen.getAllByText('success idle Tea')).toHaveLength(3);
  });

  test('with no observer: whoever awaits fetchQuery gets the new result', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { status: 503, afterMs: 10 }, { body: 'Tea' });
    const watched = watchQuery(rig, queryKey);
    rig.show(<watched.Watcher />);
    const result = rig.client.fetchQuery({ queryKey, queryFn: () => rig.steady.json('/products') });
    await rig.time.advance(100);
    act(() => watched.last().retryNow());
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 100, 610]);
    expect(await result).toBe('Tea');
  });

  test('with no observer: when the new operation fails, whoever awaits gets its error', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, 404);
    const watched = watchQuery(rig, queryKey);
    rig.show(<watched.Watcher />);
    const result = rig.client
      .fetchQuery({ queryKey, queryFn: () => rig.steady.json('/products') })
      .catch((error: unknown) => error);
    await rig.time.advance(100);
    act(() => watched.last().retryNow());
    await rig.time.advance(10_000);
    expect(await result).toMatchObject({ status: 404 });
  });

  test('the operation that it replaces ends as superseded', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, 200);
    const { retryNow: press } = showProducts(rig);
    await rig.time.advance(100);
    press();
    await rig.time.settle();
    const ends = rig.events.filter((event) => event.type === 'operation:end');
    expect(ends.map(({ result, operation }) => [result, operation.attempt])).toEqual([
      ['superseded', 1],
      ['succeeded', 1],
    ]);
  });
});

test('while an attempt is under way it does nothing, the first one and a later one', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 503, afterMs: 100 }, { body: 'Tea', afterMs: 100 });
  const { retryNow: press } = showProducts(rig);
  await rig.time.advance(50);
  press();
  await rig.time.advance(600);
  press();
  await rig.time.advance(10_000);
  expect(rig.server.sent.map(({ at, abortedAt }) => [at, abortedAt])).toEqual([
    [0, undefined],
    [600, undefined],
  ]);
  expect(screen.getByText('success idle Tea')).toBeDefined();
});

test('after the failure it begins a new operation', async () => {
  const rig = createRig({ policy: { maxRetries: 1 } });
  rig.server.plan('/products', 503, 503, 503, { body: 'Tea' });
  const { retryNow: press, last } = showProducts(rig);
  await rig.time.advance(2000);
  expect(last().status).toBe('failed');
  press();
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 1025, 2000, 3025]);
  expect(screen.getByText('success idle Tea')).toBeDefined();
});

test('after a success, and on a query that nobody has fetched, it does nothing', async () => {
  const rig = createRig();
  const { retryNow: press } = showProducts(rig);
  const other = watchQuery(rig, ['other']);
  rig.show(<other.Watcher />);
  await rig.time.settle();
  press();
  act(() => other.last().retryNow());
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0]);
});

test('a query that is disabled is fetched by nobody but the press', async () => {
  const rig = createRig();
  rig.server.plan('/products', 404, { body: 'Tea' });
  const refetch = createHandle<() => void>();
  function Products() {
    const result = useQuery({
      queryKey,
      queryFn: () => rig.steady.json<string>('/products'),
      enabled: false,
    });
    refetch.set(() => void result.refetch());
    return <p>{result.data}</p>;
  }
  const watched = watchQuery(rig, queryKey);
  rig.show(
    <>
      <watched.Watcher />
      <Products />
    </>,
  );
  act(refetch.get());
  await rig.time.advance(100);
  act(() => watched.last().retryNow());
  await rig.time.advance(100);
  expect(rig.server.times()).toEqual([0, 100]);
  expect(screen.getByText('Tea')).toBeDefined();
});
