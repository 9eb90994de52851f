import { watchConnectivity } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { setBrowserOnline } from './network.ts';
import { createRig } from './rig.tsx';

/** What other clients throw when there is no network: of axios, of the environment's fetch, of a house. */
const thrown: readonly (readonly [string, () => Error])[] = [
  ['axios', () => Object.assign(new Error('Network Error'), { code: 'ERR_NETWORK' })],
  ['fetch', () => new TypeError('Failed to fetch')],
  ['an interceptor', () => new Error('Something went wrong')],
];

describe.each(thrown)('a query of another client, offline: the error of %s', (_, make) => {
  test('is paused after its first attempt in a page that was loaded offline, and goes on when the network is back', async () => {
    setBrowserOnline(false, false);
    const rig = createRig({ connectivity: watchConnectivity() });
    rig.client.mount();
    rig.server.plan('/', ...Array.from({ length: 100 }, () => 'network' as const));
    let isBack = false;
    let runs = 0;
    const asked = rig.client.fetchQuery({
      queryKey: ['it'],
      queryFn: async () => {
        runs++;
        if (!isBack) throw make();
        return 'fine';
      },
    });
    await rig.time.advance(60_000);
    expect(runs).toBe(1);
    expect(rig.client.getQueryState(['it'])).toMatchObject({
      status: 'pending',
      fetchStatus: 'paused',
    });
    isBack = true;
    rig.server.unplan('/');
    setBrowserOnline(true);
    await rig.time.advance(1000);
    expect(await asked).toBe('fine');
    expect(runs).toBe(2);
  });
});

test('an error of the app while the device is online is none of the network', async () => {
  const rig = createRig({ connectivity: watchConnectivity({ check: '/here' }) });
  const asked = rig.client
    .fetchQuery({ queryKey: ['it'], queryFn: () => Promise.reject(new Error('a mistake')) })
    .catch(() => {});
  await Promise.all([asked, rig.time.advance(10_000)]);
  expect(rig.server.sent).toEqual([]);
});
