import { onlineManager, useQuery } from '@tanstack/react-query';
import { createSteadfetch, mutationOptions } from 'steadfetch';
import { useConnectivity } from 'steadfetch/react';
import { describe, expect, test } from 'vitest';
import { observe, rejectionOf } from '../fetch/observe.ts';
import { watchQuery } from '../react/watch.tsx';
import { createOrderRig, sendOrder } from './order-rig.tsx';
import { createRig, type Rig, setOnline } from './rig.tsx';

const api = 'http://api.example';

function Products({ rig }: { readonly rig: Rig }) {
  useQuery({
    queryKey: ['products'],
    queryFn: ({ signal }) => rig.steady.json<string>('/products', { signal }),
  });
  return null;
}

describe("without connectivity, the browser's word is React Query's", () => {
  test('its online manager goes by the events of the browser alone', async () => {
    const steady = createSteadfetch({ fetch: () => Promise.reject(new TypeError('lost')) });
    const told = ['offline', 'online', 'offline'].map((event) => {
      window.dispatchEvent(new Event(event));
      return onlineManager.isOnline();
    });
    expect(told).toEqual([false, true, false]);
    window.dispatchEvent(new Event('online'));
    for (let times = 0; times < 3; times++)
      expect(await rejectionOf(steady.fetch(`${api}/${times}`))).toMatchObject({ code: 'network' });
    expect(onlineManager.isOnline()).toBe(true);
    steady.dispose();
  });

  test('a query that React Query pauses offline says so, and goes when it is back', async () => {
    const rig = createRig();
    setOnline(false);
    const { Watcher, last } = watchQuery(rig, ['products']);
    rig.show(
      <>
        <Products rig={rig} />
        <Watcher />
      </>,
    );
    await rig.time.advance(1000);
    expect(last()).toMatchObject({ status: 'paused', reason: 'offline', retryAt: undefined });
    setOnline(true);
    await rig.time.advance(100);
    expect(rig.server.times()).toEqual([1000]);
    expect(last()).toMatchObject({ status: 'succeeded' });
  });

  test('a mutation of ours is paused, too: nothing is sent into nothing', async () => {
    const rig = createOrderRig();
    setOnline(false);
    const order = rig.submit(mutationOptions(rig.steady, { mutationFn: sendOrder }));
    await rig.time.advance(5000);
    expect([order.state.status, rig.server.times()]).toEqual(['pending', []]);
    setOnline(true);
    await rig.time.advance(100);
    expect([order.state.status, rig.server.times()]).toEqual(['success', [5000]]);
  });

  test('what gets no answer while it is offline is no sign against its server', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', 'network', 'network', 'network');
    for (let times = 0; times < 3; times++) {
      const lost = observe(rig.steady.fetch(`${api}/a`));
      setOnline(false);
      await rig.time.advance(1000);
      expect(lost.state).toBe('rejected');
      setOnline(true);
    }
    const next = observe(rig.steady.fetch(`${api}/a`));
    await rig.time.advance(10);
    expect(next.state).toBe('resolved');
  });

  test('useConnectivity says what the browser does, and since when', async () => {
    const rig = createRig();
    const Network = () => <p>{JSON.stringify(useConnectivity())}</p>;
    const { container } = rig.show(<Network />);
    const seen = () => JSON.parse(container.textContent) as unknown;
    expect(seen()).toEqual({ status: 'online', since: 0 });
    await rig.time.advance(1000);
    setOnline(false);
    expect(seen()).toEqual({ status: 'offline', since: rig.time.now() });
    await rig.time.advance(1000);
    setOnline(true);
    expect(seen()).toEqual({ status: 'online', since: rig.time.now() });
  });
});
