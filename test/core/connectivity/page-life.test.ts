import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  type HttpError,
  type Steadfetch,
  type SteadfetchConfig,
  mutationOptions,
  defineIdempotency,
  limitConcurrency,
  watchConnectivity,
} from 'steadfetch';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { instanceOf } from '../../../src/core/react-query/instance.ts';
import {
  answer,
  type FakeServer,
  fakeServer,
  type Handler,
  hang,
  origin,
  refuse,
  streaming,
} from '../fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

const happen = (type: string): boolean => window.dispatchEvent(new Event(type));
const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

interface Rig {
  readonly steady: Steadfetch;
  readonly server: FakeServer;
  /** The page, or the network, breaks what is under way. */
  readonly cut: () => void;
}

/** A page whose first requests stay under way until they are cut off; the next ones are answered. */
function rig(count = 1, config: SteadfetchConfig = {}): Rig {
  const cuts: (() => void)[] = [];
  const pending: Handler = () =>
    new Promise((_resolve, reject) => {
      cuts.push(() => reject(new TypeError('Failed to fetch')));
    });
  const handlers = Array.from({ length: count }, () => pending);
  const server = fakeServer(pending, ...handlers.slice(1), answer());
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    connectivity: watchConnectivity(),
    ...config,
  });
  onTestFinished(() => {
    steady.dispose();
    happen('pageshow');
  });
  return { steady, server, cut: () => cuts.forEach((each) => each()) };
}

describe('a request that is cut off while the page may be on its way out', () => {
  test('a navigation that becomes a 204, or a download: the page stays, and it is sent again', async () => {
    const { steady, server, cut } = rig();
    const call = observe(steady.fetch(`${origin}/a`));
    happen('beforeunload');
    cut();
    await advance(749);
    expect([call.state, server.requests.length]).toEqual(['pending', 1]);
    await advance(1);
    expect([call.state, server.timesMs]).toEqual(['resolved', [0, 750]]);
  });

  test('its time limit does not run meanwhile, and starts anew', async () => {
    const { steady, server, cut } = rig(2, { policy: { timeout: 1000 } });
    const call = observe(steady.fetch(`${origin}/a`));
    await advance(500);
    happen('beforeunload');
    cut();
    await advance(750 + 999);
    expect([call.state, server.timesMs]).toEqual(['pending', [0, 1250]]);
    await advance(1);
    expect(call.error).toMatchObject({ code: 'timeout' });
  });

  test('many with a short limit are no time-outs, and trip no circuit', async () => {
    const { steady, server, cut } = rig(8, { policy: { timeout: 1000 } });
    const calls = Array.from({ length: 8 }, () => observe(steady.fetch(`${origin}/a`)));
    await advance(500);
    happen('beforeunload');
    cut();
    await advance(5000);
    const next = observe(steady.fetch(`${origin}/a`));
    await advance(0);
    expect([...calls, next].map(({ state }) => state)).toEqual(
      Array.from({ length: 9 }, () => 'resolved'),
    );
    expect(server.timesMs).toEqual([...Array(8).fill(0), ...Array(8).fill(1250), 5500]);
  });

  test.each<[string, SteadfetchConfig, RequestInit]>([
    ['of an API declared idempotent', { apis: [{ match: origin, idempotent: true }] }, {}],
    ['that is declared idempotent itself', {}, { idempotent: true } as RequestInit],
  ])('a POST %s is sent again', async (_name, config, init) => {
    const { steady, server, cut } = rig(1, config);
    const call = observe(steady.fetch(`${origin}/a`, { ...init, method: 'POST', body: 'x' }));
    happen('beforeunload');
    cut();
    await advance(750);
    expect([call.state, server.timesMs]).toEqual(['resolved', [0, 750]]);
  });

  test('a POST with a key of ours is sent again, with that key', async () => {
    const { steady, server, cut } = rig(1, {
      apis: [{ match: origin, idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }],
    });
    const client = new QueryClient();
    const options = mutationOptions(steady, {
      mutationFn: (_: void, { fetch, idempotencyKey }) =>
        fetch(`${origin}/a`, {
          method: 'POST',
          body: 'x',
          headers: { 'idempotency-key': idempotencyKey },
        }),
    });
    const mutation = observe(client.getMutationCache().build(client, options).execute(undefined));
    await advance(0);
    happen('beforeunload');
    cut();
    await advance(750);
    expect([mutation.state, server.timesMs]).toEqual(['resolved', [0, 750]]);
    const [first, second] = server.requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(second).toBe(first);
  });

  test('a clock that is set back does not prolong the page’s leaving', async () => {
    const { steady, cut } = rig();
    happen('beforeunload');
    vi.setSystemTime(Date.now() - 3_600_000);
    await advance(60_000);
    const call = observe(steady.fetch(`${origin}/a`));
    cut();
    await advance(0);
    expect(call.error).toMatchObject({ code: 'network' });
  });

  test('the page goes: nothing is heard of it', async () => {
    const { steady, server, cut } = rig();
    const call = observe(steady.fetch(`${origin}/a`));
    happen('beforeunload');
    cut();
    happen('pagehide');
    await advance(8999);
    expect([call.state, server.requests.length]).toEqual(['pending', 1]);
  });

  test('a page that was put away, and whose timers go on, has stayed', async () => {
    const { steady, server, cut } = rig();
    const call = observe(steady.fetch(`${origin}/a`));
    happen('pagehide');
    cut();
    await advance(9000);
    expect([call.state, server.timesMs]).toEqual(['resolved', [0, 9000]]);
  });

  test('and so it is known of whatever fails after that', async () => {
    const { steady, cut } = rig(2);
    const first = observe(steady.fetch(`${origin}/a`));
    happen('pagehide');
    cut();
    await advance(9000);
    cut();
    await settled();
    expect(first.error).toMatchObject({ code: 'network' });
  });

  test('the page comes back from the back-forward cache, and it is sent again', async () => {
    const { steady, server, cut } = rig();
    const call = observe(steady.fetch(`${origin}/a`));
    happen('pagehide');
    cut();
    await settled();
    // No timer runs in there.
    vi.setSystemTime(Date.now() + 60_000);
    happen('pageshow');
    await advance(750);
    expect([call.state, server.requests.length]).toEqual(['resolved', 2]);
  });

  test('a POST that must not be sent twice ends, as a failure of which nothing is known', async () => {
    const { steady, server, cut } = rig();
    const call = observe(steady.fetch(`${origin}/a`, { method: 'POST' }));
    happen('beforeunload');
    cut();
    await advance(750);
    expect(call.error).toMatchObject({ code: 'network', outcome: { processed: 'unknown' } });
    expect(server.requests.length).toBe(1);
  });

  test('a POST that is declared idempotent is sent again, a stream is not', async () => {
    const { steady, server, cut } = rig(2);
    const post = { method: 'POST', idempotent: true };
    const search = observe(steady.fetch(`${origin}/search`, { ...post, body: 'tea' }));
    const body = new ReadableStream();
    const stream = observe(
      steady.fetch(`${origin}/stream`, { ...post, body, duplex: 'half' } as RequestInit),
    );
    happen('beforeunload');
    cut();
    await advance(1000);
    expect([search.state, stream.state]).toEqual(['resolved', 'rejected']);
    expect(server.requests.length).toBe(3);
  });

  test('an abort in the meantime is an abort, at once', async () => {
    const { steady, server, cut } = rig();
    const caller = new AbortController();
    const call = observe(steady.fetch(`${origin}/a`, { signal: caller.signal }));
    happen('beforeunload');
    cut();
    await settled();
    caller.abort('enough');
    await settled();
    expect(call.error).toBe('enough');
    await advance(750);
    expect(server.requests.length).toBe(1);
  });

  test('it does not count against its origin: many of them trip nothing', async () => {
    const { steady, server, cut } = rig(6);
    const calls = Array.from({ length: 6 }, () =>
      observe(steady.fetch(`${origin}/a`, { method: 'POST' })),
    );
    happen('beforeunload');
    cut();
    await advance(1000);
    expect(calls.every(({ state }) => state === 'rejected')).toBe(true);
    const next = observe(steady.fetch(`${origin}/a`));
    await settled();
    expect([next.state, server.requests.length]).toEqual(['resolved', 7]);
  });

  test('six of them do not come back together, and each within a second', async () => {
    const draws = [0, 0.2, 0.4, 0.6, 0.8, 0.99];
    const { steady, server, cut } = rig(6, { random: () => draws.shift() ?? 0.5 });
    for (let index = 0; index < 6; index++) observe(steady.fetch(`${origin}/${index}`));
    happen('beforeunload');
    cut();
    await advance(1000);
    expect(server.timesMs.slice(6)).toEqual([500, 600, 700, 800, 900, 995]);
  });

  test('one that fails again is a failure', async () => {
    const server = fakeServer(refuse);
    const steady = createSteadfetch({
      fetch: server.fetch,
      random: () => 0.5,
      connectivity: watchConnectivity(),
    });
    happen('beforeunload');
    const call = observe(steady.fetch(`${origin}/a`));
    await advance(3000);
    expect(call.error).toMatchObject({ code: 'network' });
    expect(server.requests.length).toBe(2);
    steady.dispose();
  });

  test('half a minute after the page was to be left, a failure is one at once', async () => {
    const { steady, server, cut } = rig();
    happen('beforeunload');
    await advance(30_001);
    const call = observe(steady.fetch(`${origin}/a`));
    cut();
    await settled();
    expect([call.state, server.requests.length]).toEqual(['rejected', 1]);
  });

  describe('in its body', () => {
    type Wire = ReturnType<typeof streaming>['wire'];
    interface Download {
      readonly steady: Steadfetch;
      readonly server: FakeServer;
      readonly wire: Wire;
      /** The page cuts it off. */
      readonly cut: () => void;
    }

    /** The first body is under way; the requests after it are answered by `next`. */
    function download(next: Handler = answer(200, 'new'), status = 200): Download {
      const { handler, wire } = streaming({ status });
      const server = fakeServer(handler, next);
      const steady = createSteadfetch({
        fetch: server.fetch,
        random: () => 0.5,
        connectivity: watchConnectivity(),
      });
      onTestFinished(() => steady.dispose());
      const cut = (): void => {
        happen('beforeunload');
        wire.cut(new TypeError('network error'));
      };
      return { steady, server, wire, cut };
    }

    test.each(['text', 'json', 'arrayBuffer', 'bytes'] as const)(
      'the page stays: a GET is sent again, and %s() reads that',
      async (reader) => {
        const { steady, server, cut, wire } = download(answer(200, '"new"'));
        const response = await steady.fetch(`${origin}/a`);
        const body = observe(response[reader]());
        wire.push('"old');
        cut();
        await advance(749);
        expect([body.state, server.requests.length]).toEqual(['pending', 1]);
        await advance(1);
        expect([body.state, server.timesMs]).toEqual(['resolved', [0, 750]]);
        const text =
          reader === 'json' ? '"new"' : await new Response(body.value as BodyInit).text();
        expect(text).toBe('"new"');
      },
    );

    test('its time limit does not run meanwhile, and starts anew', async () => {
      const { steady, server, cut } = download(hang);
      const response = await steady.fetch(`${origin}/a`, { timeout: 1000 });
      const body = observe(response.text());
      await advance(500);
      cut();
      await advance(750 + 999);
      expect([body.state, server.timesMs]).toEqual(['pending', [0, 1250]]);
      await advance(1);
      expect(body.error).toMatchObject({ code: 'timeout' });
    });

    test.each<[string, RequestInit, Handler, number]>([
      ['a POST that must not be sent twice', { method: 'POST' }, answer(), 1],
      ['one that is not sent through', {}, refuse, 2],
      ['one that is answered otherwise now', {}, answer(206, 'new'), 2],
    ])('%s has no body, once the page stays', async (_name, init, next, count) => {
      const { steady, server, cut } = download(next);
      const response = await steady.fetch(`${origin}/a`, init);
      const body = observe(response.text());
      cut();
      await advance(749);
      expect(body.state).toBe('pending');
      await advance(1);
      expect(body.error).toMatchObject({ code: 'network', outcome: { kind: 'body', status: 200 } });
      expect(server.requests.length).toBe(count);
    });

    test('an abort in the meantime ends the reading, at once', async () => {
      const { steady, server, cut } = download();
      const caller = new AbortController();
      const response = await steady.fetch(`${origin}/a`, { signal: caller.signal });
      const body = observe(response.text());
      cut();
      await settled();
      caller.abort('enough');
      await settled();
      expect(body.error).toBe('enough');
      await advance(750);
      expect(server.requests.length).toBe(1);
    });

    test('one that is not sent through now speaks against the network', async () => {
      const { steady, cut } = download(refuse);
      const client = new QueryClient({ defaultOptions: steady.defaultOptions });
      const { connectivity } = instanceOf(client, 'test');
      const body = observe((await steady.fetch(`${origin}/a`)).text());
      cut();
      await advance(749);
      expect(connectivity?.getState().status).toBe('online');
      await advance(1);
      expect(connectivity?.getState().status).toBe('suspect');
      expect(body.state).toBe('rejected');
    });

    test('nor has that of an error', async () => {
      const { steady, server, cut } = download(answer(), 500);
      const call = observe(steady.fetch(`${origin}/a`));
      await settled();
      const body = observe((call.error as HttpError).response.text());
      cut();
      await advance(750);
      expect([body.state, server.requests.length]).toEqual(['rejected', 1]);
    });

    test('nor one that is read piece by piece, of which some may be used already', async () => {
      const { steady, server, cut, wire } = download();
      const reader = (await steady.fetch(`${origin}/a`)).body?.getReader();
      wire.push('old');
      await reader?.read();
      const next = observe(reader?.read() ?? Promise.resolve());
      cut();
      await advance(749);
      expect(next.state).toBe('pending');
      await advance(1);
      expect(next.error).toMatchObject({ code: 'network', outcome: { kind: 'body' } });
      expect(server.requests.length).toBe(1);
    });
  });

  describe('and the places of its origin', () => {
    const onePlace = { health: {}, concurrency: limitConcurrency({ maxInFlight: 1 }) };

    test.each<[string, Handler]>([
      ['answered', answer()],
      ['refused', answer(503)],
      ['cut off', refuse],
    ])('a body that is asked for again keeps none, once it is %s', async (_name, next) => {
      const { handler, wire } = streaming();
      const server = fakeServer(handler, next, answer());
      const steady = createSteadfetch({
        fetch: server.fetch,
        random: () => 0.5,
        connectivity: watchConnectivity(),
        ...onePlace,
      });
      const body = observe((await steady.fetch(`${origin}/a`)).text());
      happen('beforeunload');
      wire.cut(new TypeError('network error'));
      await advance(750);
      expect([body.state === 'pending', server.requests.length]).toEqual([false, 2]);
      const other = observe(steady.fetch(`${origin}/b`));
      await settled();
      expect(other.state).toBe('resolved');
      steady.dispose();
    });

    test('it keeps none while it waits, and takes one when it is sent again', async () => {
      const { steady, server, cut } = rig(2, onePlace);
      const call = observe(steady.fetch(`${origin}/a`));
      const next = observe(steady.fetch(`${origin}/b`));
      happen('beforeunload');
      cut();
      await advance(0);
      expect(server.requests.map(({ url }) => url)).toEqual([`${origin}/a`, `${origin}/b`]);
      await advance(5000);
      expect([call.state, server.requests.length]).toEqual(['pending', 2]);
      cut();
      await advance(750);
      expect([call.state, next.state]).toEqual(['resolved', 'resolved']);
    });
  });
});

test('nothing of the page is replaced: `window.stop()` is a network failure', async () => {
  const native = window.stop;
  const { steady, cut } = rig();
  expect(window.stop).toBe(native);
  const call = observe(steady.fetch(`${origin}/a`));
  window.stop();
  cut();
  await settled();
  expect(call.error).toMatchObject({ code: 'network' });
});

test('dispose takes the hand off the page', async () => {
  const { steady, cut } = rig();
  steady.dispose();
  const call = observe(steady.fetch(`${origin}/a`));
  happen('beforeunload');
  cut();
  await settled();
  expect(call.state).toBe('rejected');
});
