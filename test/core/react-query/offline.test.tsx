import {
  focusManager,
  onlineManager,
  QueryClient,
  useQueries,
  useQuery,
} from '@tanstack/react-query';
import { act } from '@testing-library/react';
import {
  createSteadfetch,
  isNotSentError,
  type SteadyInit,
  retry,
  watchConnectivity,
  limitConcurrency,
} from 'steadfetch';
import { useConnectivity, useOriginStatus } from 'steadfetch/react';
import { describe, expect, test, vi } from 'vitest';
import { watchQuery } from '../react/watch.tsx';
import { observe, type Observed } from '../fetch/observe.ts';
import { createHandle } from './handle.ts';
import { setBrowserOnline } from './network.ts';
import { createRig, type Rig } from './rig.tsx';

const api = 'http://api.example';
const other = 'http://other.example';
const probe = { url: '/here' };
const watchingRig: typeof createRig = (config, ...rest) =>
  createRig({ connectivity: watchConnectivity(), ...config }, ...rest);
const withProbe = () =>
  watchingRig({ health: {}, connectivity: watchConnectivity({ check: probe }) });

function send(rig: Rig, url: string, init?: SteadyInit): Observed {
  const sent: Promise<Response>[] = [];
  act(() => void sent.push(rig.steady.fetch(url, init)));
  return observe(Promise.all(sent));
}

/** The device goes offline: no request of the next so many is answered, nor any probe. */
async function goOffline(rig: Rig, ...paths: readonly string[]): Promise<void> {
  for (const path of ['/here', ...paths]) {
    rig.server.plan(path, ...Array.from({ length: 100 }, () => 'network' as const));
  }
  setBrowserOnline(false);
  await rig.time.advance(0);
}
function goOnline(rig: Rig, ...paths: readonly string[]): void {
  for (const path of ['/here', ...paths]) rig.server.unplan(path);
  setBrowserOnline(true);
}

/** Renders the connectivity and the origins, and says what was seen. */
function watchNetwork(rig: Rig) {
  const story: string[] = [];
  const handle = createHandle<() => void>();
  function Network() {
    const network = useConnectivity();
    const origins = useOriginStatus();
    handle.set(network.checkNow);
    story.push(`${rig.elapsed()} ${network.status}, origins ${origins.status}`);
    return null;
  }
  return { Network, story, checkNow: () => act(() => handle.get()()) };
}

describe('a device that is offline', () => {
  test('holds operations as offline, and no origin is taken for down', async () => {
    const rig = withProbe();
    const { Network, story } = watchNetwork(rig);
    rig.show(<Network />);
    await goOffline(rig);
    const calls = ['/a', '/b', '/c'].map((path) => send(rig, api + path));
    await rig.time.advance(0);
    expect(rig.server.times('/a')).toEqual([]);
    const pauses = rig.events.filter(({ type }) => type === 'pause:start');
    // As soon as it is known; and again when the time of the next look is another.
    expect(pauses.slice(0, 3).map((event) => event)).toMatchObject(
      Array.from({ length: 3 }, () => ({ reason: 'offline', retryAt: rig.time.now() + 2000 })),
    );
    await rig.time.advance(7000);
    goOnline(rig);
    await rig.time.advance(1000);
    expect(calls.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'resolved']);
    const sent = rig.server.sent.filter(({ request }) => /\/[abc]$/.test(request));
    expect(sent.map(({ at }) => at)).toEqual([7000, 7000, 7000]);
    expect(story.filter((line) => !line.endsWith('origins up'))).toEqual([]);
    expect(story.map((line) => line.replace(/,.*/, ''))).toContain('0 offline');
  });

  test('requests that it cuts off trip no circuit and cost no budget', async () => {
    const rig = withProbe();
    rig.server.plan('/a', 'network', 'network', 'network', 'network');
    rig.server.plan('/here', 'network');
    setBrowserOnline(false);
    const calls = Array.from({ length: 4 }, () => send(rig, `${api}/a`));
    await rig.time.advance(0);
    expect(calls.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'rejected'));
    goOnline(rig);
    await rig.time.advance(0);
    const next = send(rig, `${api}/a`);
    await rig.time.advance(0);
    expect(next.state).toBe('resolved');
  });

  test('a call that may not wait is told at once, and nothing is sent', async () => {
    const rig = withProbe();
    await goOffline(rig);
    const call = send(rig, `${api}/a`, { policy: { whenDown: 'fail' } });
    await rig.time.advance(0);
    expect(isNotSentError(call.error)).toBe(true);
    expect(call.error).toMatchObject({
      message: 'There is no connection to the network. The request was not sent.',
      outcome: { kind: 'paused-too-long', reason: 'offline', processed: 'no' },
    });
    expect(rig.server.times('/a')).toEqual([]);
  });

  test('a call waits as long as maxPauseMs, and was then never sent', async () => {
    const rig = withProbe();
    await goOffline(rig);
    const call = send(rig, `${api}/a`, { method: 'POST', policy: { maxPauseMs: 5000 } });
    await rig.time.advance(4999);
    expect(call.state).toBe('pending');
    await rig.time.advance(1);
    expect(call.error).toMatchObject({ outcome: { reason: 'offline', processed: 'no' } });
    expect(rig.server.times('/a')).toEqual([]);
  });

  test('React Query is told, and a query says why it is paused', async () => {
    const rig = withProbe();
    const { Watcher, last } = watchQuery(rig, ['a']);
    function Query() {
      useQuery({ queryKey: ['a'], queryFn: () => rig.steady.json(`${api}/a`) });
      return null;
    }
    await goOffline(rig);
    expect(onlineManager.isOnline()).toBe(false);
    rig.show(
      <>
        <Query />
        <Watcher />
      </>,
    );
    await rig.time.advance(1000);
    expect(last()).toMatchObject({ status: 'paused', reason: 'offline' });
    expect(rig.server.times('/a')).toEqual([]);
    goOnline(rig);
    await rig.time.advance(1000);
    expect(last().status).toBe('succeeded');
  });

  test.each([
    ['always', [100, 600, 1600, 3600]],
    ['offlineFirst', [100]],
  ] as const)(
    'a query that says %s need not leave the device, and goes',
    async (networkMode, times) => {
      const rig = withProbe();
      await goOffline(rig, '/a');
      await rig.time.advance(100);
      const queryFn = () => rig.steady.json(`${api}/a`);
      rig.client.fetchQuery({ queryKey: ['a'], queryFn, networkMode }).catch(() => {});
      await rig.time.advance(60_000);
      expect(rig.server.times('/a')).toEqual(times);
    },
  );

  test('retryNow sends one that is paused, and its answer opens the way for the rest', async () => {
    const rig = withProbe();
    const { Network, story } = watchNetwork(rig);
    const { Watcher, last } = watchQuery(rig, ['a']);
    function Query() {
      useQuery({ queryKey: ['a'], queryFn: () => rig.steady.json(`${api}/a`) });
      return null;
    }
    await goOffline(rig);
    rig.show(
      <>
        <Query />
        <Watcher />
        <Network />
      </>,
    );
    const rest = send(rig, `${api}/b`);
    await rig.time.advance(500);
    act(() => last().retryNow());
    await rig.time.advance(1000);
    expect(rig.server.times('/a')).toEqual([500]);
    expect(rest.state).toBe('resolved');
    expect(story.at(-1)).toBe('500 online, origins up');
  });

  test('a request without an answer keeps no place while the probe is out', async () => {
    const rig = watchingRig({
      health: {},
      concurrency: limitConcurrency({ maxInFlight: 1 }),
      connectivity: watchConnectivity({ check: probe }),
    });
    rig.server.plan('/a', 'network');
    rig.server.plan('/here', 'hang');
    const first = send(rig, `${api}/a`);
    const next = send(rig, `${api}/b`);
    await rig.time.advance(0);
    expect([first.state, next.state]).toEqual(['rejected', 'resolved']);
    expect([rig.server.times('/here'), rig.server.times('/b')]).toEqual([[0], [0]]);
  });

  test('checkNow looks at once', async () => {
    const rig = withProbe();
    const { Network, checkNow } = watchNetwork(rig);
    rig.show(<Network />);
    await goOffline(rig);
    await rig.time.advance(300);
    checkNow();
    await rig.time.advance(0);
    expect(rig.server.times('/here')).toEqual([0, 300]);
  });
});

describe('what proves the network', () => {
  test('not an answer to a query that need not leave the device: a service worker may have given it', async () => {
    const rig = withProbe();
    await goOffline(rig);
    const held = send(rig, `${api}/b`);
    await rig.time.advance(100);
    const cached = observe(
      rig.client.fetchQuery({
        queryKey: ['c'],
        queryFn: () => rig.steady.json(`${api}/cached`),
        networkMode: 'offlineFirst',
      }),
    );
    await rig.time.advance(1000);
    expect([cached.state, held.state]).toEqual(['resolved', 'pending']);
    expect(onlineManager.isOnline()).toBe(false);
  });

  test('a probe that is broken is found out by a look of our own at what has failed', async () => {
    const rig = withProbe();
    await goOffline(rig, '/a');
    rig.client.mount();
    rig.client
      .fetchQuery({
        queryKey: ['a'],
        queryFn: () => rig.steady.json(`${api}/a`),
        networkMode: 'always',
        retry: false,
      })
      .catch(() => {});
    const paused = observe(
      rig.client.fetchQuery({ queryKey: ['b'], queryFn: () => rig.steady.json(`${api}/b`) }),
    );
    await rig.time.advance(23_999);
    expect(rig.server.times('/here')).toEqual([0, 2000, 6000, 14_000]);
    expect(rig.server.times('/')).toEqual([]);
    await rig.time.advance(1);
    expect([rig.server.times('/'), rig.server.times('/b')]).toEqual([[24_000], [24_000]]);
    await rig.time.advance(0);
    expect(paused.state).toBe('resolved');
  });

  test('two queries that need not leave the device wait for the one slot, and for nothing else', async () => {
    const rig = watchingRig({
      health: {},
      concurrency: limitConcurrency({ maxInFlight: 1 }),
      connectivity: watchConnectivity({ check: probe }),
    });
    await goOffline(rig);
    for (const path of ['/a', '/b']) {
      rig.server.plan(path, { afterMs: 100 });
      void rig.client.fetchQuery({
        queryKey: [path],
        queryFn: () => rig.steady.json(api + path),
        networkMode: 'always',
      });
    }
    await rig.time.advance(1000);
    expect([rig.server.times('/a'), rig.server.times('/b')]).toEqual([[0], [100]]);
  });
});

describe('coming back', () => {
  const atOnce = (at: number) => Array.from({ length: 30 }, () => at);
  /** Thirty queries with their retries inside. */
  function manyInside(rig: Rig) {
    return function Many() {
      useQueries({
        queries: Array.from({ length: 30 }, (_, index) => ({
          queryKey: [index],
          retry: false,
          queryFn: () =>
            retry(rig.steady, ({ signal }) => rig.steady.json(`${api}/${index}`, { signal })),
        })),
      });
      return null;
    };
  }

  test('thirty plain mutations that React Query has paused leave at once', async () => {
    const rig = withProbe();
    rig.client.mount();
    await goOffline(rig);
    for (let index = 0; index < 30; index++) {
      const mutationFn = () => rig.steady.json(`${api}/${index}`, { method: 'POST' });
      void rig.client.getMutationCache().build(rig.client, { mutationFn }).execute(undefined);
    }
    await rig.time.advance(1000);
    goOnline(rig);
    await rig.time.advance(20_000);
    const sent = rig.server.sent.filter(({ request }) => request.startsWith('POST'));
    expect(sent.map(({ at }) => at)).toEqual(atOnce(1000));
  });

  test('thirty queries with their retries inside leave at once', async () => {
    const rig = withProbe();
    const Many = manyInside(rig);
    await goOffline(rig);
    rig.show(<Many />);
    await rig.time.advance(1000);
    goOnline(rig);
    await rig.time.advance(20_000);
    const sent = rig.server.sent.filter(({ request }) => request.startsWith('GET'));
    expect(sent.map(({ at }) => at)).toEqual(atOnce(1000));
  });

  test('so do they when the tab is seen again', async () => {
    const rig = withProbe();
    const Many = manyInside(rig);
    rig.show(<Many />);
    await rig.time.advance(100);
    act(() => focusManager.setFocused(false));
    await rig.time.advance(119_900);
    act(() => focusManager.setFocused(true));
    await rig.time.advance(20_000);
    expect(rig.server.times().slice(30)).toEqual(atOnce(120_000));
  });

  test('thirty queries that wait leave at once', async () => {
    const rig = withProbe();
    function Many() {
      useQueries({
        queries: Array.from({ length: 30 }, (_, index) => ({
          queryKey: [index],
          queryFn: () => rig.steady.json(`${api}/${index}`),
        })),
      });
      return null;
    }
    await goOffline(rig);
    rig.show(<Many />);
    await rig.time.advance(1000);
    goOnline(rig);
    await rig.time.advance(20_000);
    const sent = rig.server.sent.filter(({ request }) => request.startsWith('GET'));
    expect(sent.map(({ at }) => at)).toEqual(atOnce(1000));
  });

  test('thirty loops whose waits have ended while the machine slept leave at once', async () => {
    const rig = watchingRig({ health: false });
    for (let index = 0; index < 30; index++) rig.server.plan(`/${index}`, 503);
    const loops = Array.from({ length: 30 }, (_, index) =>
      observe(retry(rig.steady, ({ signal }) => rig.steady.json(`${api}/${index}`, { signal }))),
    );
    await rig.time.advance(100);
    // The wall clock goes on without the timers.
    vi.setSystemTime(rig.time.now() + 3_600_000);
    await rig.time.advance(20_000);
    expect(loops.every(({ state }) => state === 'resolved')).toBe(true);
    const again = rig.server.times().slice(30);
    expect(again).toEqual(atOnce(again[0] ?? 0));
  });

  describe('thirty that wait while the machine sleeps for an hour go in turn on waking', () => {
    /** They are asked for, and then the wall clock goes on without the timers. */
    async function askAndSleep(rig: Rig): Promise<Observed[]> {
      const calls = Array.from({ length: 30 }, (_, index) => send(rig, `${api}/${index}`));
      await rig.time.advance(1000);
      expect(calls.every(({ state }) => state === 'pending')).toBe(true);
      vi.setSystemTime(rig.time.now() + 3_600_000);
      await rig.time.advance(60_000);
      return calls;
    }
    const asked = (rig: Rig) =>
      rig.server.sent.filter(({ request }) => /[/][0-9]/.test(request)).map(({ at }) => at);

    test('though their server’s pause was to end only in 50 s, and that they may wait', async () => {
      const apis = [{ match: api, limitsApplyTo: 'api' }] as const;
      const rig = watchingRig({ health: {}, apis });
      rig.server.plan('/first', { status: 429, headers: { 'retry-after': '50' } });
      send(rig, `${api}/first`);
      await rig.time.advance(0);
      const calls = await askAndSleep(rig);
      expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
      const times = asked(rig);
      // The next beat is 1 s after waking.
      expect(times[0]).toBe(3_602_000);
      expect(new Set(times).size).toBe(30);
    });

    test('though their server was down, and nobody has looked since', async () => {
      // What has not failed is not held back, unless it is one with what has.
      const rig = watchingRig({ health: {}, apis: [{ match: api, endpoint: () => 'all' }] });
      for (const path of ['/98', '/99']) {
        rig.server.plan(path, 'network');
        send(rig, api + path);
        await rig.time.advance(0);
      }
      const calls = await askAndSleep(rig);
      expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
      const times = asked(rig).slice(2);
      expect(times[0]).toBe(3_601_200);
      // The first of those that waited goes as soon as the probe is answered, which takes no time here.
      expect(new Set(times).size).toBe(29);
    });
  });
});

describe('one origin down and another up', () => {
  test('is not offline: that one’s operations are paused as server-down, the other’s go', async () => {
    const rig = withProbe();
    const { Network, story } = watchNetwork(rig);
    rig.show(<Network />);
    for (const path of ['/down', '/gone']) {
      rig.server.plan(path, 'network');
      send(rig, api + path);
      await rig.time.advance(100);
    }
    const held = send(rig, `${api}/down`);
    const sent = send(rig, `${other}/a`);
    await rig.time.advance(0);
    expect([held.state, sent.state]).toEqual(['pending', 'resolved']);
    expect(story.at(-1)).toBe('200 online, origins down');
    expect(story.some((line) => line.includes('offline'))).toBe(false);
    expect(onlineManager.isOnline()).toBe(true);
  });
});

/** So many in a row get no answer. */
const inVain = Array.from({ length: 100 }, () => 'network' as const);

describe('without a probe', () => {
  /** The browser says offline, and a request fails. */
  async function loseNetwork(rig: Rig): Promise<void> {
    rig.server.plan('/', ...inVain);
    rig.server.plan('/lost', 'network');
    setBrowserOnline(false);
    send(rig, `${api}/lost`);
    await rig.time.advance(0);
  }
  const sentTo = (rig: Rig) => rig.server.sent.map(({ at, request }) => `${at} ${request}`);

  test('offline and one failure hold; a look at what failed goes ever later, and an answer opens the way', async () => {
    const rig = watchingRig({ health: {} });
    await loseNetwork(rig);
    const calls = [`${api}/a`, `${api}/b`, `${other}/c`].map((url) => send(rig, url));
    const post = send(rig, `${api}/d`, { method: 'POST' });
    await rig.time.advance(13_999);
    expect(sentTo(rig)).toEqual(['0 HEAD /', '0 GET /lost', '2000 HEAD /', '6000 HEAD /']);
    expect([...calls, post].map(({ state }) => state)).toEqual(
      inVain.slice(0, 4).map(() => 'pending'),
    );
    rig.server.unplan('/');
    await rig.time.advance(1);
    expect(onlineManager.isOnline()).toBe(true);
    await rig.time.advance(1000);
    expect(sentTo(rig)[4]).toBe('14000 HEAD /');
    expect([...calls, post].map(({ state }) => state)).toEqual(
      inVain.slice(0, 4).map(() => 'resolved'),
    );
  });

  test('queries and a plain mutation that React Query has paused stay so: none is sent into nothing', async () => {
    const rig = watchingRig({ health: {} });
    rig.client.mount();
    await loseNetwork(rig);
    const queries = ['a', 'b', 'c'].map((path) =>
      observe(
        rig.client.fetchQuery({
          queryKey: [path],
          queryFn: () => rig.steady.json(`${api}/${path}`),
        }),
      ),
    );
    const mutation = observe(
      rig.client
        .getMutationCache()
        .build(rig.client, { mutationFn: () => rig.steady.json(`${api}/m`, { method: 'POST' }) })
        .execute(undefined),
    );
    await rig.time.advance(300_000);
    expect(sentTo(rig).filter((line) => !line.endsWith('HEAD /'))).toEqual(['0 GET /lost']);
    expect(onlineManager.isOnline()).toBe(false);
    rig.server.unplan('/');
    await rig.time.advance(60_000);
    expect([...queries, mutation].map(({ state }) => state)).toEqual(
      inVain.slice(0, 4).map(() => 'resolved'),
    );
  });

  test('onLine is false and the network works: the look finds out, and queries that React Query holds go', async () => {
    const rig = watchingRig({ health: {} });
    await loseNetwork(rig);
    rig.server.unplan('/');
    rig.client.mount();
    const query = observe(
      rig.client.fetchQuery({ queryKey: ['b'], queryFn: () => rig.steady.json(`${api}/b`) }),
    );
    await rig.time.advance(1999);
    expect(rig.server.times('/b')).toEqual([]);
    await rig.time.advance(1);
    expect(rig.server.times('/b')).toEqual([2000]);
    await rig.time.advance(0);
    expect(query.state).toBe('resolved');
  });
});

describe('the hand on React Query’s onlineManager', () => {
  test('a page that loads offline is known before any client is mounted', async () => {
    setBrowserOnline(false, false);
    const rig = watchingRig();
    rig.server.plan('/here', 'network');
    const steady = createSteadfetch({
      fetch: rig.server.fetch,
      connectivity: watchConnectivity({ check: probe }),
    });
    await rig.time.advance(0);
    expect(onlineManager.isOnline()).toBe(false);
    steady.dispose();
  });

  test('the browser’s offline counts until an origin answers a request of our own', async () => {
    const rig = watchingRig();
    setBrowserOnline(false);
    expect(onlineManager.isOnline()).toBe(false);
    await rig.time.advance(0);
    expect(rig.server.sent.map(({ request }) => request)).toEqual(['HEAD /']);
    expect(onlineManager.isOnline()).toBe(true);
  });

  test('a page that was loaded offline is online until a request has failed', async () => {
    setBrowserOnline(false, false);
    const rig = watchingRig();
    await rig.time.advance(1000);
    expect(onlineManager.isOnline()).toBe(true);
    expect(rig.server.sent).toEqual([]);
  });

  test.each([
    ['React Query alone', () => new QueryClient(), [0, 2000, 4000]],
    // And when an answer has refuted what the browser says.
    ['ours', undefined, [0, 1000, 2000, 3000, 4000]],
  ])(
    'what is shown is fetched again when the browser is back, each time: %s',
    async (_name, makeClient, times) => {
      const rig = watchingRig({}, makeClient);
      // By itself React Query hears of the browser's events.
      if (makeClient) rig.steady.dispose();
      function Shown() {
        useQuery({ queryKey: ['it'], queryFn: () => rig.steady.json(`${api}/a`) });
        return null;
      }
      rig.show(<Shown />);
      await rig.time.advance(1000);
      for (let time = 0; time < 2; time++) {
        setBrowserOnline(false);
        await rig.time.advance(1000);
        setBrowserOnline(true);
        await rig.time.advance(1000);
      }
      expect(rig.server.times('/a')).toEqual(times);
    },
  );

  test('once only, where it was found offline in between', async () => {
    const rig = watchingRig();
    function Shown() {
      useQuery({ queryKey: ['it'], queryFn: () => rig.steady.json(`${api}/a`) });
      return null;
    }
    rig.show(<Shown />);
    await rig.time.advance(1000);
    rig.server.plan('/', 'network');
    setBrowserOnline(false);
    await rig.time.advance(0);
    expect(onlineManager.isOnline()).toBe(false);
    setBrowserOnline(true);
    await rig.time.advance(1000);
    expect(rig.server.times('/a')).toEqual([0, 1000]);
  });

  test('what the devtools set by hand stays until something changes', async () => {
    const rig = watchingRig();
    onlineManager.setOnline(false);
    rig.server.plan('/a', 'network');
    send(rig, `${api}/a`);
    await rig.time.advance(0);
    expect(onlineManager.isOnline()).toBe(false);
  });

  test('dispose gives it back as React Query has it', async () => {
    const rig = withProbe();
    const client = new QueryClient();
    client.mount();
    await goOffline(rig);
    const held = send(rig, `${api}/a`);
    rig.steady.dispose();
    expect(onlineManager.isOnline()).toBe(true);
    await rig.time.advance(1000);
    expect(held.state).toBe('rejected');
    setBrowserOnline(false);
    expect(onlineManager.isOnline()).toBe(false);
    setBrowserOnline(true);
    expect(onlineManager.isOnline()).toBe(true);
    client.unmount();
  });

  test('a newer instance that is disposed of gives it back to the older one', async () => {
    const rig = withProbe();
    const newer = createSteadfetch({ fetch: rig.server.fetch, connectivity: watchConnectivity() });
    const newest = createSteadfetch({ fetch: rig.server.fetch, connectivity: watchConnectivity() });
    newer.dispose();
    newest.dispose();
    newest.dispose();
    rig.server.plan('/here', 'network');
    setBrowserOnline(false);
    await rig.time.advance(0);
    expect(onlineManager.isOnline()).toBe(false);
    // React Query by itself would take the browser's word alone.
    rig.server.unplan('/here');
    await rig.time.advance(3000);
    expect(onlineManager.isOnline()).toBe(true);
  });

  test('an older instance that is disposed of takes nothing from a newer one', async () => {
    const rig = watchingRig();
    const newer = createSteadfetch({
      fetch: rig.server.fetch,
      connectivity: watchConnectivity({ check: probe }),
    });
    rig.steady.dispose();
    rig.server.plan('/here', 'network');
    setBrowserOnline(false);
    await rig.time.advance(0);
    expect(onlineManager.isOnline()).toBe(false);
    // React Query by itself would take the browser's word alone.
    rig.server.unplan('/here');
    await rig.time.advance(3000);
    expect(onlineManager.isOnline()).toBe(true);
    newer.dispose();
  });
});

describe('a hidden tab', () => {
  const hide = (isHidden: boolean): void => act(() => focusManager.setFocused(!isHidden));

  test('a query waits for it with its retry, and one with its retries inside does not', async () => {
    const rig = watchingRig();
    rig.server.plan('/outside', 503);
    rig.server.plan('/inside', 503);
    const outside = () => rig.steady.json(`${api}/outside`);
    const inside = () =>
      retry(rig.steady, ({ signal }) => rig.steady.json(`${api}/inside`, { signal }));
    rig.client.mount();
    rig.client.fetchQuery({ queryKey: ['outside'], queryFn: outside }).catch(() => {});
    rig.client.fetchQuery({ queryKey: ['inside'], queryFn: inside, retry: false }).catch(() => {});
    await rig.time.advance(100);
    hide(true);
    await rig.time.advance(59_900);
    expect(rig.server.times('/outside')).toEqual([0]);
    expect(rig.server.times('/inside')).toEqual([0, 500]);
    hide(false);
    await rig.time.advance(0);
    expect(rig.server.times('/outside')).toEqual([0, 60_000]);
  });
});
