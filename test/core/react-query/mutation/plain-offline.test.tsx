import { MutationObserver, type MutationOptions, QueryClient } from '@tanstack/react-query';
import { type SteadfetchConfig, watchConnectivity } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { setBrowserOnline } from '../network.ts';
import { createRig, type Rig } from '../rig.tsx';

const api = 'http://api.example';

type Options = MutationOptions<unknown, unknown, unknown>;
type MakeOptions = (rig: Rig) => Options;

const post: MakeOptions = ({ steady }) => ({
  mutationFn: () => steady.json(`${api}/a`, { method: 'POST' }),
});

/** What plain mutations are made of. */
const mutations: readonly (readonly [string, MakeOptions])[] = [
  ['a POST by steady.json', post],
  [
    'a POST by a client that Steadfetch does not know',
    ({ server }) => ({ mutationFn: () => server.fetch(`${api}/a`, { method: 'POST' }) }),
  ],
  ['a PUT', ({ steady }) => ({ mutationFn: () => steady.json(`${api}/a`, { method: 'PUT' }) })],
  ['one with a number of retries', (rig) => ({ ...post(rig), retry: 3 })],
  ['one with a scope', (rig) => ({ ...post(rig), scope: { id: 'it' } })],
  ['one with onMutate', (rig) => ({ ...post(rig), onMutate: () => Promise.resolve() })],
];

/** How the network is watched. */
const watches: readonly (readonly [string, SteadfetchConfig])[] = [
  ['React Query itself', {}],
  ['watchConnectivity()', { connectivity: watchConnectivity() }],
  ['watchConnectivity with a check', { connectivity: watchConnectivity({ check: '/here' }) }],
];

async function mutateOffline(rig: Rig, make: MakeOptions) {
  rig.client.mount();
  for (const path of ['/', '/here', '/a'])
    rig.server.plan(path, ...Array.from({ length: 100 }, () => 'network' as const));
  setBrowserOnline(false);
  const observer = new MutationObserver(rig.client, make(rig));
  observer.mutate(undefined).catch(() => {});
  await rig.time.advance(9900);
  for (const path of ['/', '/here', '/a']) rig.server.unplan(path);
  return observer;
}

describe.each(watches)('the network is watched by %s', (_, config) => {
  describe.each(mutations)('%s', (_name, make) => {
    test('is paused while the browser says offline, and sent once when it says online', async () => {
      const rig = createRig(config);
      const observer = await mutateOffline(rig, make);
      expect(observer.getCurrentResult()).toMatchObject({ status: 'pending', isPaused: true });
      expect(rig.server.times('/a')).toEqual([]);
      setBrowserOnline(true);
      await rig.time.advance(1000);
      expect(observer.getCurrentResult().status).toBe('success');
      expect(rig.server.times('/a')).toEqual([9900]);
    });
  });
});

test('a plain mutation is sent at once where an answer shows that the browser is wrong', async () => {
  const rig = createRig({ connectivity: watchConnectivity() });
  rig.client.mount();
  setBrowserOnline(false);
  const observer = new MutationObserver(rig.client, post(rig));
  observer.mutate(undefined).catch(() => {});
  await rig.time.advance(0);
  expect(observer.getCurrentResult().status).toBe('success');
  expect(rig.server.sent.map(({ at, request }) => `${at} ${request}`)).toEqual([
    '0 HEAD /',
    '0 POST /a',
  ]);
});

test.each([
  ['React Query alone', () => new QueryClient()],
  ['watchConnectivity()', undefined],
])('in a page that was loaded offline it is sent: %s', async (_, makeClient) => {
  setBrowserOnline(false, false);
  const rig = createRig({ connectivity: watchConnectivity() }, makeClient);
  new MutationObserver(rig.client, post(rig)).mutate(undefined).catch(() => {});
  await rig.time.advance(0);
  expect(rig.server.times('/a')).toEqual([0]);
});

describe('a mutation whose networkMode says that it needs no network', () => {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
  const modes = ['always', 'offlineFirst'] as const;
  const cases = methods.flatMap((method) =>
    modes.flatMap((networkMode) =>
      watches.map(([watch, config]) => [method, networkMode, watch, config] as const),
    ),
  );

  test.each(cases)(
    'a %s in the mode %s is sent at once offline: %s',
    async (method, networkMode, _, config) => {
      const rig = createRig(config);
      rig.client.mount();
      await rig.client.fetchQuery({
        queryKey: ['me'],
        queryFn: () => rig.steady.json(`${api}/me`),
      });
      setBrowserOnline(false);
      const observer = new MutationObserver(rig.client, {
        mutationFn: () => rig.steady.json(`${api}/a`, { method }),
        networkMode,
      });
      observer.mutate(undefined).catch(() => {});
      await rig.time.advance(0);
      expect(observer.getCurrentResult().status).toBe('success');
      expect(rig.server.times('/a')).toEqual([0]);
    },
  );

  test('its answer proves no network: a query waits on', async () => {
    const rig = createRig({ connectivity: watchConnectivity() });
    rig.client.mount();
    await rig.client.fetchQuery({ queryKey: ['me'], queryFn: () => rig.steady.json(`${api}/me`) });
    rig.server.plan('/', ...Array.from({ length: 100 }, () => 'network' as const));
    await rig.time.advance(1000);
    setBrowserOnline(false);
    await rig.time.advance(1000);
    const observer = new MutationObserver(rig.client, {
      mutationFn: () => rig.steady.json(`${api}/a`, { method: 'POST' }),
      networkMode: 'always',
    });
    observer.mutate(undefined).catch(() => {});
    const query = rig.client.fetchQuery({
      queryKey: ['b'],
      queryFn: () => rig.steady.json(`${api}/b`),
    });
    query.catch(() => {});
    await rig.time.advance(1000);
    expect(observer.getCurrentResult().status).toBe('success');
    expect(rig.client.getQueryState(['b'])?.fetchStatus).toBe('paused');
  });

  test('beside a mutation in the default mode, a write of the app is still held back offline', async () => {
    const rig = createRig();
    rig.client.mount();
    await rig.client.fetchQuery({ queryKey: ['me'], queryFn: () => rig.steady.json(`${api}/me`) });
    setBrowserOnline(false);
    const observer = new MutationObserver(rig.client, post(rig));
    observer.mutate(undefined).catch(() => {});
    rig.steady.json(`${api}/b`, { method: 'PUT' }).catch(() => {});
    await rig.time.advance(1000);
    expect([rig.server.times('/a'), rig.server.times('/b')]).toEqual([[], []]);
  });
});
