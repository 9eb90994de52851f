import { experimental_createQueryPersister } from '@tanstack/query-persist-client-core';
import {
  type DefaultOptions,
  hashKey,
  onlineManager,
  QueryClient,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { mergeDefaultOptions, type Steadfetch, watchConnectivity } from 'steadfetch';
import { retryPolicy } from 'steadfetch/policy';
import { useRetryStatus } from 'steadfetch/react';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { setBrowserOnline } from './network.ts';
import { createRig, type Rig, setOnline } from './rig.tsx';

const queryKey = ['it'];

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(console, 'warn').mockImplementation((message) => void warnings.push(String(message)));
});

const mergedRig = (yours: DefaultOptions, config = {}): Rig =>
  createRig(
    config,
    (steady) => new QueryClient({ defaultOptions: mergeDefaultOptions(steady, yours) }),
  );

/** Fetches /a with these options of its own until the query has ended, and gives the times. */
async function timesWith(rig: Rig, own: object = {}): Promise<number[]> {
  const result = rig.client.fetchQuery({ queryKey, queryFn: () => rig.steady.json('/a'), ...own });
  await Promise.all([result.catch(() => {}), rig.time.advance(1_000_000)]);
  return rig.server.times();
}

describe('mergeDefaultOptions(steady, yours)', () => {
  test.each<readonly [name: string, yours: DefaultOptions, sent: number, said: number]>([
    ['retry: false for queries', { queries: { retry: false } }, 1, 1],
    ['retry: 0 for queries', { queries: { retry: 0 } }, 1, 0],
    ['retry: 1 for queries', { queries: { retry: 1 } }, 2, 0],
    ['retry: false for mutations', { mutations: { retry: false } }, 5, 0],
    ['nothing', {}, 5, 0],
  ])("keeps the app's %s, and says what is off by it", async (_name, yours, sent, said) => {
    const rig = mergedRig(yours, { health: false, policy: { maxRetries: 4 } });
    mergeDefaultOptions(rig.steady, yours);
    rig.server.plan('/a', 503, 503, 503, 503, 503, 503);
    expect(await timesWith(rig)).toHaveLength(sent);
    expect(warnings.filter((text) => text.includes('retry: false'))).toHaveLength(said);
  });

  test("keeps both: the app's staleTime, and the policy of the instance", async () => {
    const rig = mergedRig({ queries: { staleTime: 60_000 }, mutations: { gcTime: 5 } });
    rig.server.plan('/a', 404);
    expect(await timesWith(rig)).toEqual([0]);
    const { queries, mutations } = rig.client.getDefaultOptions();
    expect(queries).toEqual({ ...rig.steady.defaultOptions.queries, staleTime: 60_000 });
    expect(mutations).toEqual({ ...rig.steady.defaultOptions.mutations, gcTime: 5 });
  });

  test('keeps the options of hydration, and takes what is undefined for not given', () => {
    const rig = createRig();
    const dehydrate = { shouldDehydrateQuery: () => false };
    const yours = { dehydrate, queries: { retryDelay: undefined, networkMode: undefined } };
    expect(mergeDefaultOptions(rig.steady, yours as unknown as DefaultOptions)).toEqual({
      ...rig.steady.defaultOptions,
      dehydrate,
    });
  });

  test('a number of retries is that of the policy: a 503 is sent as often, a 404 once', async () => {
    const rig = mergedRig({ queries: { retry: 1 } });
    rig.server.plan('/a', 503, 503, 503);
    expect(await timesWith(rig)).toEqual([0, 1025]);
    rig.server.unplan('/a');
    rig.server.plan('/a', 404, 404);
    expect(await timesWith(rig)).toHaveLength(3);
  });

  test.each<[string, boolean, number[]]>([
    ['false turns retries off', false, [0]],
    ['true means until the deadline', true, [0, 500, 1500, 3500, 7500, 15_500]],
  ])('%s', async (_name, retry, times) => {
    const rig = mergedRig({ queries: { retry } }, { policy: { deadlineMs: 20_000 } });
    rig.server.plan('/a', ...Array.from({ length: 30 }, () => 503));
    expect(await timesWith(rig)).toEqual(times);
  });

  test("a retryDelay of the app's beside a number of retries: its waits, and still no second 404", async () => {
    const rig = mergedRig({ queries: { retry: 5, retryDelay: 10 } });
    rig.server.plan('/a', 503, 404);
    expect(await timesWith(rig)).toEqual([0, 10]);
  });

  test('a function decides alone, as React Query has it', async () => {
    const rig = mergedRig({ queries: { retry: (count) => count < 1 } });
    rig.server.plan('/a', 404, 404);
    expect(await timesWith(rig)).toHaveLength(2);
  });

  test('a number of retries of mutations sends no POST twice that may have been done', async () => {
    const rig = mergedRig({ mutations: { retry: 3 } });
    rig.server.plan('/a', 503, 503);
    function Order() {
      const { mutate, status } = useMutation({
        mutationFn: () => rig.steady.json('/a', { method: 'POST' }),
      });
      return <button onClick={() => mutate()}>{status}</button>;
    }
    rig.show(<Order />);
    act(() => screen.getByRole('button').click());
    await rig.time.advance(100_000);
    expect(rig.server.times()).toEqual([0]);
    expect(screen.getByText('error')).toBeDefined();
  });

  test('a policy of ours in the place of the retries stays', async () => {
    const rig = createRig(
      {},
      (steady) =>
        new QueryClient({
          defaultOptions: mergeDefaultOptions(steady, {
            queries: steady.queryPolicy({ maxRetries: 1 }),
          }),
        }),
    );
    rig.server.plan('/a', 503, 503, 503);
    expect(await timesWith(rig)).toEqual([0, 1025]);
  });

  test('a name that is not one of React Query is an error', () => {
    const { steady } = createRig();
    const wrong = (yours: unknown) => () => mergeDefaultOptions(steady, yours as DefaultOptions);
    expect(wrong({ querys: {} })).toThrow(
      'mergeDefaultOptions: querys is {}, and must be left out: the options are queries, mutations, hydrate, dehydrate: did you mean queries?.',
    );
    expect(wrong(undefined)).toThrow(
      'mergeDefaultOptions: its argument is undefined, and must be an object.',
    );
  });
});

describe("createPersister of TanStack's", () => {
  const stored = (): Map<string, string> =>
    new Map([
      [
        'tanstack-query-["it"]',
        JSON.stringify({
          buster: '',
          queryHash: hashKey(queryKey),
          queryKey,
          state: { data: 'stored', dataUpdatedAt: Date.now() },
        }),
      ],
    ]);
  const persisterOf = (map: Map<string, string>) =>
    experimental_createQueryPersister({
      storage: {
        getItem: (key) => map.get(key),
        setItem: (key, value: string) => void map.set(key, value),
        removeItem: (key) => void map.delete(key),
      },
    }).persisterFn as never;

  function It({ rig, own = {} }: { readonly rig: Rig; readonly own?: object }) {
    const { data = 'nothing', fetchStatus } = useQuery({
      queryKey,
      queryFn: ({ signal }) => rig.steady.json<string>('/a', { signal }),
      staleTime: 60_000,
      ...own,
    });
    return <p>{`${data} ${fetchStatus}`}</p>;
  }

  test.each<[string, (steady: Steadfetch) => DefaultOptions]>([
    [
      'merged with our options, it shows offline what it has stored',
      (steady) => mergeDefaultOptions(steady, { queries: { persister: persisterOf(stored()) } }),
    ],
    ['without us, it does so as well', () => ({ queries: { persister: persisterOf(stored()) } })],
  ])('%s', async (_name, make) => {
    const rig = createRig({}, (steady) => new QueryClient({ defaultOptions: make(steady) }));
    setOnline(false);
    rig.show(<It rig={rig} />);
    await rig.time.advance(1000);
    expect(screen.getByText('stored idle')).toBeDefined();
    expect(rig.server.sent).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test('in the place of ours, a warning says so while the device is online', async () => {
    const rig = createRig();
    await timesWith(rig, { queryKey: ['other'] });
    rig.show(<It rig={rig} own={{ persister: persisterOf(stored()) }} />);
    await rig.time.advance(1000);
    expect(warnings).toEqual([
      expect.stringMatching(
        /The query \["it"\] has a persister that has taken the place of Steadfetch's.*composePersister\(steady, yours\).*docs\/retry\/default-options\.md/,
      ),
    ]);
  });
});

describe('a merge that has lost our options', () => {
  // What a spread in the wrong order comes to.
  const lost = ({ defaultOptions }: Steadfetch): QueryClient =>
    new QueryClient({
      defaultOptions: { ...defaultOptions, queries: { retry: 2, retryDelay: 10 } },
    });

  test('is told of once when a request of its queries fails again', async () => {
    const rig = createRig({}, lost);
    rig.server.plan('/a?b=c', 503, 503, 503);
    await timesWith(rig, { queryFn: () => rig.steady.json('/a?b=c') });
    await timesWith(rig, { queryKey: ['again'] });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^\[steadfetch\] GET \/a has failed 2 times and is requested again, and no query has run with the options of this instance\..*mergeDefaultOptions\(steady, yours\).*docs\/retry\/default-options\.md/,
      ),
    ]);
  });

  test.each(['POST', 'PUT', 'DELETE'])(
    'is not suspected where a %s is sent again',
    async (method) => {
      const rig = createRig({}, lost);
      rig.server.plan('/a', 503, 503);
      await timesWith(rig, { queryFn: () => rig.steady.json('/a', { method }) });
      expect(rig.server.times()).toEqual([0, 10, 20]);
      expect(warnings).toEqual([]);
    },
  );

  test('is not suspected where requests that succeed are made again, nor where a query has run', async () => {
    const rig = createRig();
    await rig.steady.json('/a');
    await rig.steady.json('/a');
    await timesWith(rig, { queryFn: () => 'data' });
    rig.server.plan('/b', 503, 503);
    for (let count = 0; count < 2; count++) await rig.steady.json('/b').catch(() => {});
    expect(warnings).toEqual([]);
  });

  test('is not suspected where retryPolicy() has the queries', async () => {
    const rig = createRig(
      {},
      () => new QueryClient({ defaultOptions: { queries: retryPolicy() } }),
    );
    rig.server.plan('/a', 503, 503, 503);
    await timesWith(rig);
    expect(rig.server.times()).toHaveLength(4);
    expect(warnings).toEqual([]);
  });

  test('is told of by the status of a query', async () => {
    const rig = createRig({}, lost);
    function Status() {
      return <p>{useRetryStatus({ queryKey }).status}</p>;
    }
    rig.show(<Status />);
    expect(screen.getByText('idle')).toBeDefined();
    expect(warnings).toEqual([
      expect.stringMatching(
        /A QueryClient has the options of this instance for mutations, and not/,
      ),
    ]);
  });

  test('in production nothing is said', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const rig = createRig({}, lost);
    rig.server.plan('/a', 503, 503, 503);
    await timesWith(rig);
    vi.unstubAllEnvs();
    expect(warnings).toEqual([]);
  });
});

describe('a number of retries of a query', () => {
  test('that sends again what the policy would not is told of once, with the remedy', async () => {
    const rig = createRig();
    rig.server.plan('/a', 404, 404, 404, 404, 404, 404, 404);
    await timesWith(rig, { retry: 2 });
    await timesWith(rig, { retry: 2, queryKey: ['again'] });
    expect(rig.server.times()).toHaveLength(6);
    expect(warnings).toEqual([
      expect.stringMatching(
        /The query \["it"\] is retried by a retry of its own where the policy stops \(not-retryable\).*\.\.\.steady\.queryPolicy\(\{ maxRetries: 2 \}\).*docs\/retry\/default-options\.md/,
      ),
    ]);
  });

  test.each<[string, object, number[]]>([
    ['a number, and what the policy would retry', { retry: 2 }, [503, 503, 503]],
    ['false', { retry: false }, [404]],
    ['a function, which knows the error', { retry: (count: number) => count < 2 }, [404, 404, 404]],
    ['both of the two functions', { retry: 2, retryDelay: 1 }, [404, 404, 404]],
  ])('%s: nothing is said', async (_name, own, plan) => {
    const rig = createRig();
    rig.server.plan('/a', ...plan);
    await timesWith(rig, own);
    expect(rig.server.times()).toHaveLength(plan.length);
    expect(warnings).toEqual([]);
  });
});

describe('fetchQuery and prefetchQuery', () => {
  test('retry by the policy, unlike without us, and not with retry: false', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 503, 503, 503, 503, 503, 503, 503);
    const prefetch = (own: object) =>
      rig.client.prefetchQuery({ queryKey, queryFn: () => rig.steady.json('/a'), ...own });
    await Promise.all([prefetch({}), rig.time.advance(100_000)]);
    expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
    await Promise.all([prefetch({ retry: false }), rig.time.advance(100_000)]);
    expect(rig.server.times()).toHaveLength(5);
    await timesWith(rig, { retry: false });
    expect(rig.server.times()).toHaveLength(6);
  });
});

describe('refetchOnReconnect', () => {
  test.each<[string, object, number[]]>([
    // The answer to a request of its own is the first word that the network is there.
    ['with the watch over the network', { connectivity: watchConnectivity() }, [0, 1000, 2000]],
    ['without it', {}, [0, 2000]],
  ])('%s, it fires when the browser is back', async (_name, config, times) => {
    const rig = createRig(config);
    function It() {
      useQuery({ queryKey, queryFn: () => rig.steady.json('/a') });
      return null;
    }
    rig.show(<It />);
    await rig.time.advance(1000);
    setBrowserOnline(false);
    await rig.time.advance(1000);
    setBrowserOnline(true);
    await rig.time.advance(1000);
    expect(onlineManager.isOnline()).toBe(true);
    expect(rig.server.times('/a')).toEqual(times);
  });
});
