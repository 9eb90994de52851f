import { act, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { createRig, setOnline, setVisible } from '../react-query/rig.tsx';
import { statusOf, watchQuery, showProducts } from './watch.tsx';

const queryKey = ['products'];

describe('when paused', () => {
  test('offline, before the first attempt: one real attempt, and then paused again', async () => {
    const rig = createRig();
    rig.server.plan('/products', 'network', 'network', 'network');
    setOnline(false);
    const { retryNow: press, last } = showProducts(rig);
    await rig.time.advance(100);
    expect(rig.server.sent).toEqual([]);
    press();
    expect(rig.server.times()).toEqual([100]);
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([100]);
    expect(statusOf(last())).toMatchObject({ status: 'paused', attempt: 1, reason: 'offline' });
    press();
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([100, 10_100]);
  });

  test('while its endpoint is down: one press sends', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan('/products', 503, 503, { body: 'Tea' });
    const { retryNow: press, last } = showProducts(rig);
    await rig.time.advance(600);
    expect(statusOf(last())).toMatchObject({ status: 'paused', attempt: 3 });
    press();
    await rig.time.advance(10);
    expect(rig.server.times()).toEqual([0, 500, 600]);
    expect(screen.getByText('success idle Tea')).toBeDefined();
  });

  test('offline though the network is there: the attempt succeeds', async () => {
    const rig = createRig();
    rig.server.plan('/products', { body: 'Tea', afterMs: 10 });
    setOnline(false);
    const { retryNow: press } = showProducts(rig);
    await rig.time.advance(100);
    press();
    await rig.time.advance(10);
    expect(screen.getByText('success idle Tea')).toBeDefined();
  });

  test('offline, twenty presses: one attempt', async () => {
    const rig = createRig();
    rig.server.plan('/products', { afterMs: 10 });
    setOnline(false);
    const { last } = showProducts(rig);
    await rig.time.settle();
    act(() => {
      for (let press = 0; press < 20; press++) last().retryNow();
    });
    await rig.time.advance(1000);
    expect(rig.server.times()).toEqual([0]);
  });

  test('after the press its network mode is what it was', async () => {
    const rig = createRig();
    rig.server.plan('/products', 200, 503);
    setOnline(false);
    const { retryNow: press, last } = showProducts(rig);
    await rig.time.settle();
    press();
    await rig.time.settle();
    expect(last().status).toBe('succeeded');
    act(() => void rig.client.refetchQueries({ queryKey }));
    await rig.time.advance(1000);
    expect(rig.server.times()).toEqual([0]);
    expect(statusOf(last())).toMatchObject({ status: 'paused', reason: 'offline' });
  });

  test('with no observer, too, after the press its network mode is what it was', async () => {
    const rig = createRig();
    rig.server.plan('/products', 404);
    setOnline(false);
    const watched = watchQuery(rig, queryKey);
    rig.show(<watched.Watcher />);
    void rig.client.prefetchQuery({ queryKey, queryFn: () => rig.steady.json('/products') });
    await rig.time.settle();
    act(() => watched.last().retryNow());
    await rig.time.settle();
    expect(watched.last()).toMatchObject({ status: 'failed', attempt: 1 });
    act(() => watched.last().retryNow());
    await rig.time.advance(1000);
    expect(rig.server.times()).toEqual([0]);
    expect(watched.last()).toMatchObject({ status: 'paused', reason: 'offline' });
  });

  test('hidden, at the end of a wait: a request at once', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { body: 'Tea' });
    const { retryNow: press, last } = showProducts(rig);
    setVisible(false);
    await rig.time.advance(1000);
    expect(last().status).toBe('paused');
    press();
    expect(rig.server.times()).toEqual([0, 1000]);
  });
});
