import { useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createRig } from '../react-query/rig.tsx';
import {
  createProducts,
  failingTwice,
  none,
  statusesOfFailingTwice,
  statusOf,
  watchQuery,
  showProducts,
} from './watch.tsx';

const queryKey = ['products'];

test('every transition of a query that fails twice and then succeeds, exactly', async () => {
  const rig = createRig();
  rig.server.plan('/products', ...failingTwice);
  const startedAt = rig.time.now();
  const { Products } = createProducts(rig);
  const watched = watchQuery(rig, queryKey);
  const { rerender } = rig.show(<watched.Watcher />);
  rerender(
    rig.wrap(
      <>
        <watched.Watcher />
        <Products />
      </>,
    ),
  );
  await rig.time.advance(10_000);
  expect(watched.story()).toEqual([
    '0 idle 0',
    '0 idle 0',
    '0 sending 1',
    '10 waiting 1',
    '510 sending 2',
    '520 waiting 2',
    '1520 sending 3',
    '1530 succeeded 3',
  ]);
  expect(watched.renders.slice(1).map(statusOf)).toEqual(statusesOfFailingTwice(startedAt));
});

test('a query that fails for good ends as failed, with its last error and the reason', async () => {
  const rig = createRig({ policy: { maxRetries: 1 } });
  rig.server.plan('/products', 503, 502);
  const watched = showProducts(rig);
  await rig.time.advance(10_000);
  expect(statusOf(watched.last())).toEqual({
    status: 'failed',
    attempt: 2,
    maxAttempts: 2,
    retryAt: undefined,
    reason: 'max-retries',
    lastError: expect.objectContaining({ status: 502 }),
  });
});

test('failed because the server asks for too long a wait: retryAt says when it would have us', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 429, headers: { 'Retry-After': '3600' } });
  const startedAt = rig.time.now();
  const watched = showProducts(rig);
  await rig.time.settle();
  expect(statusOf(watched.last())).toMatchObject({
    status: 'failed',
    attempt: 1,
    retryAt: startedAt + 3_600_000,
    reason: 'retry-after',
  });
});

test('a failure that nobody waits for any more has no retryAt: no attempt is to come', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 503, afterMs: 100 });
  function Products() {
    useQuery({ queryKey, queryFn: () => rig.steady.json('/products'), retryOnMount: false });
    return null;
  }
  const watched = watchQuery(rig, queryKey);
  const { rerender } = rig.show(
    <>
      <watched.Watcher />
      <Products />
    </>,
  );
  await rig.time.advance(50);
  rerender(rig.wrap(<watched.Watcher />));
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0]);
  expect(statusOf(watched.last())).toMatchObject({ status: 'failed', retryAt: undefined });
});

test('it renders at transitions only: neither other queries nor time wake it', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 429, headers: { 'Retry-After': '50' } });
  const watched = showProducts(rig);
  await rig.time.settle();
  const renders = watched.renders.length;
  for (let other = 0; other < 10; other++) {
    act(() => void rig.client.setQueryData(['other', other], other));
    await rig.time.advance(1000);
  }
  expect(watched.last().status).toBe('waiting');
  expect(watched.renders).toHaveLength(renders);
});

test('data that was set by hand is succeeded without an attempt', async () => {
  const rig = createRig();
  rig.client.setQueryData(queryKey, 'Tea');
  const watched = watchQuery(rig, queryKey);
  rig.show(<watched.Watcher />);
  expect(statusOf(watched.last())).toMatchObject({ status: 'succeeded', attempt: 0 });
});

test('a refetch with data is sending and waiting, too', async () => {
  const rig = createRig();
  rig.server.plan('/products', 200, { status: 503, afterMs: 10 }, { afterMs: 10 });
  const watched = showProducts(rig);
  await rig.time.advance(1000);
  watched.story().length = 0;
  act(() => void rig.client.refetchQueries({ queryKey }));
  await rig.time.advance(10_000);
  expect(watched.story()).toEqual([
    '1000 sending 1',
    '1010 waiting 1',
    '1510 sending 2',
    '1520 succeeded 2',
  ]);
});

test('a query that is reset, or removed, is idle again', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, { afterMs: 10 });
  const watched = watchQuery(rig, queryKey);
  rig.show(<watched.Watcher />);
  void rig.client.prefetchQuery({ queryKey, queryFn: () => rig.steady.json('/products') });
  await rig.time.advance(100);
  expect(watched.last().status).toBe('waiting');
  act(() => rig.client.removeQueries({ queryKey }));
  await rig.time.settle();
  expect(statusOf(watched.last())).toEqual({ status: 'idle', attempt: 0, maxAttempts: 0, ...none });
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0]);
});

test('a string that was thrown is the last error', async () => {
  const rig = createRig();
  const noLuck: unknown = 'no luck';
  const watched = showProducts(rig, { queryFn: () => Promise.reject(noLuck) });
  const startedAt = rig.time.now();
  await rig.time.settle();
  expect(statusOf(watched.last())).toMatchObject({
    status: 'waiting',
    attempt: 1,
    retryAt: startedAt + 1025,
    reason: 'error',
    lastError: 'no luck',
  });
});
