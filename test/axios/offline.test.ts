import axios from 'axios';
import { type SteadfetchConfig, watchConnectivity } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { setBrowserOnline } from '../core/react-query/network.ts';
import { createRig } from '../core/react-query/rig.tsx';

/** A query by axios, on a device whose network the test takes away. */
function openRig(isAdapted: boolean, config: SteadfetchConfig) {
  const network = { isThere: true, requests: 0 };
  const send = async (): Promise<Response> => {
    if (!network.isThere) throw new TypeError('Failed to fetch');
    return new Response('["kite"]', { headers: { 'content-type': 'application/json' } });
  };
  const { adapter = [] } = axios.defaults;
  onTestFinished(() => void Object.assign(axios.defaults, { adapter }));
  Object.assign(axios.defaults, { adapter: 'fetch' });
  vi.stubGlobal('fetch', () => {
    network.requests++;
    return send();
  });
  // The check of the network finds none, either.
  const { steady, client, time } = createRig({ fetch: send, ...config });
  const api = axios.create(isAdapted ? { adapter: steadyAdapter(steady, axios) } : {});
  client.mount();
  onTestFinished(() => client.unmount());
  const ask = () =>
    client.fetchQuery({
      queryKey: ['products'],
      queryFn: async ({ signal }) =>
        (await api.get<unknown>('http://localhost:3000/products', { signal })).data,
    });
  /** The network is back. */
  const comeBack = async (): Promise<void> => {
    network.isThere = true;
    setBrowserOnline(true);
    await time.advance(1000);
  };
  return { network, ask, state: () => client.getQueryState(['products']), time, comeBack };
}

const watching = { connectivity: watchConnectivity() };

describe.each<[string, boolean, SteadfetchConfig]>([
  ['with the adapter and watchConnectivity', true, watching],
  ['with the adapter, without watchConnectivity', true, {}],
  ['without the adapter, with watchConnectivity', false, watching],
  ['without both', false, {}],
])('axios %s', (_, isAdapted, config) => {
  test('a query that fails as the device goes offline is paused after that attempt, and goes on when the network is back', async () => {
    const { network, ask, state, time, comeBack } = openRig(isAdapted, config);
    network.isThere = false;
    const asked = ask();
    setBrowserOnline(false);
    await time.advance(600_000);
    expect(state()).toMatchObject({ fetchStatus: 'paused', fetchFailureCount: 1 });
    await comeBack();
    expect(await asked).toEqual(['kite']);
    expect(network.requests).toBe(2);
  });

  test('a query that begins offline is paused, and goes on when the network is back', async () => {
    const { network, ask, state, time, comeBack } = openRig(isAdapted, config);
    network.isThere = false;
    setBrowserOnline(false);
    const asked = ask();
    await time.advance(600_000);
    expect(state()).toMatchObject({ status: 'pending', fetchStatus: 'paused' });
    const before = network.requests;
    await comeBack();
    expect(await asked).toEqual(['kite']);
    expect(network.requests).toBe(before + 1);
    expect(before).toBe(0);
  });
});

test.each([
  ['with', true],
  ['without', false],
])(
  'axios %s the adapter: a query of a page that has loaded offline is paused after one attempt by watchConnectivity',
  async (_, isAdapted) => {
    setBrowserOnline(false, false);
    const { network, ask, state, time, comeBack } = openRig(isAdapted, watching);
    network.isThere = false;
    const asked = ask();
    await time.advance(600_000);
    expect(state()).toMatchObject({ fetchStatus: 'paused', fetchFailureCount: 1 });
    await comeBack();
    expect(await asked).toEqual(['kite']);
    expect(network.requests).toBe(2);
  },
);
