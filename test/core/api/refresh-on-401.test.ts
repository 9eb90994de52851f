import {
  classifyOutcomes,
  createSteadfetch,
  limitConcurrency,
  mutationOptions,
  profiles,
  type RefreshOptions,
  refreshOn401,
  retry,
  type ApiProfile,
  type Steadfetch,
  type SteadfetchConfig,
  type SteadfetchEvent,
} from 'steadfetch';
import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeServer, type Handler, origin } from '../fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/api`;
const bearer = (request: Request): string => request.headers.get('authorization') ?? 'none';

/** What a test rig is made of: what is left out is a good server and a good refresh. */
interface Given extends Partial<RefreshOptions> {
  readonly handler?: Handler;
  readonly api?: Partial<ApiProfile>;
  readonly config?: SteadfetchConfig;
}

/** An app with a token that the server no longer takes, and a refresh that takes 100 ms. */
function rig({ handler, api, config, ...own }: Given = {}) {
  const session = { token: 'old', valid: 'new' };
  const server = fakeServer(
    handler ??
      ((request) =>
        new Response('{}', { status: bearer(request) === `Bearer ${session.valid}` ? 200 : 401 })),
  );
  const refresh = vi.fn<RefreshOptions['refresh']>(async () => {
    await new Promise((done) => void setTimeout(done, 100));
    session.token = 'new';
  });
  const headers = () => ({ authorization: `Bearer ${session.token}` });
  const auth = refreshOn401({ headers, refresh, ...own });
  const steady = createSteadfetch({
    fetch: server.fetch,
    apis: [{ match: origin, auth, ...api }],
    random: () => 0,
    ...config,
  });
  const sent = (): string[] => server.requests.map((request) => bearer(request).slice(7));
  return { steady, server, refresh, session, auth, sent };
}

describe('a 401', () => {
  test('is one refresh, and the request once more with the new credentials', async () => {
    const { steady, refresh, server, sent } = rig();
    const result = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect((result.value as Response).status).toBe(200);
    expect(sent()).toEqual(['old', 'new']);
    expect(server.timesMs).toEqual([0, 100]);
    expect(refresh).toHaveBeenCalledOnce();
  });

  test('of fifty requests at once is one refresh', async () => {
    const { steady, refresh, server } = rig();
    const results = Array.from({ length: 50 }, (_, id) => observe(steady.fetch(`${url}/${id}`)));
    await vi.runAllTimersAsync();
    expect(results.filter(({ state }) => state === 'resolved')).toHaveLength(50);
    expect(server.requests).toHaveLength(100);
    expect(refresh).toHaveBeenCalledOnce();
  });

  test('to new credentials, too, is the answer: no third request, and no loop', async () => {
    const { steady, refresh, sent } = rig({ handler: () => new Response(null, { status: 401 }) });
    const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { signal })));
    await vi.runAllTimersAsync();
    expect(result.error).toMatchObject({ status: 401, outcome: { processed: 'no' } });
    expect(sent()).toEqual(['old', 'new']);
    expect(refresh).toHaveBeenCalledOnce();
  });

  test('that comes after the refresh asks for no other one', async () => {
    const { steady, refresh, sent } = rig({
      async handler(request) {
        if (request.url.endsWith('/slow') && bearer(request) === 'Bearer old')
          await new Promise((done) => void setTimeout(done, 5000));
        return new Response('{}', { status: bearer(request) === 'Bearer new' ? 200 : 401 });
      },
    });
    const slow = observe(steady.fetch(`${url}/slow`));
    const fast = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect([slow.state, fast.state]).toEqual(['resolved', 'resolved']);
    expect(sent()).toEqual(['old', 'old', 'new', 'new']);
    expect(refresh).toHaveBeenCalledOnce();
  });

  test('that comes after the refresh asks for no other one, with cookies, too', async () => {
    let isFresh = false;
    const { steady, refresh, server } = rig({
      headers: undefined,
      async handler(request) {
        const isKnown = isFresh;
        if (request.url.endsWith('/slow') && !isKnown)
          await new Promise((done) => void setTimeout(done, 5000));
        return new Response('{}', { status: isKnown ? 200 : 401 });
      },
    });
    refresh.mockImplementation(() => void (isFresh = true));
    const results = [observe(steady.fetch(`${url}/slow`)), observe(steady.fetch(url))];
    await vi.runAllTimersAsync();
    expect(results.map(({ state }) => state)).toEqual(['resolved', 'resolved']);
    expect(server.requests).toHaveLength(4);
    expect(refresh).toHaveBeenCalledOnce();
  });

  test('to credentials that are others by now asks for none: another tab has got them', async () => {
    const { steady, refresh, session, sent } = rig({
      handler(request) {
        session.token = 'new';
        return new Response('{}', { status: bearer(request) === 'Bearer new' ? 200 : 401 });
      },
    });
    const result = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(sent()).toEqual(['old', 'new']);
    expect(refresh).not.toHaveBeenCalled();
  });

  test('with cookies: the same request once more, with the headers that it had', async () => {
    let isFresh = false;
    const { steady, server } = rig({
      headers: undefined,
      refresh: () => void (isFresh = true),
      handler: () => new Response('{}', { status: isFresh ? 200 : 401 }),
    });
    const result = observe(steady.fetch(url, { headers: { 'x-own': '1' } }));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(server.requests.map((request) => [...request.headers])).toEqual([
      [['x-own', '1']],
      [['x-own', '1']],
    ]);
  });

  test('of another API costs no refresh, and its requests carry no credentials', async () => {
    const { steady, refresh, sent } = rig({ api: { match: 'https://other.example' } });
    const result = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(result.error).toMatchObject({ status: 401 });
    expect(sent()).toEqual(['']);
    expect(refresh).not.toHaveBeenCalled();
  });

  test('that an answer with status 200 is read as counts, too', async () => {
    const { steady, sent } = rig({
      api: {
        outcomes: classifyOutcomes({
          classifyResponse: (_, body) =>
            (body as { code?: string }).code === 'UNAUTHENTICATED' ? { status: 401 } : undefined,
        }),
      },
      handler: (request) =>
        Response.json(bearer(request) === 'Bearer new' ? {} : { code: 'UNAUTHENTICATED' }),
    });
    const result = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(sent()).toEqual(['old', 'new']);
  });

  test('is told of: two requests of one attempt, and the first one ends as what it was', async () => {
    const { steady } = rig();
    const events: string[] = [];
    steady.subscribe((event: SteadfetchEvent) => {
      const isEnd = event.type === 'request:end' && event.outcome.kind !== 'aborted';
      const status = isEnd && 'status' in event.outcome ? ` ${event.outcome.status}` : '';
      events.push(`${event.type}${status}`);
    });
    observe(retry(steady, ({ signal }) => steady.fetch(url, { signal })));
    await vi.runAllTimersAsync();
    expect(events).toEqual([
      'operation:start',
      'attempt:start',
      'request:start',
      'request:end 401',
      'request:start',
      'request:end 200',
      'attempt:end',
      'operation:end',
    ]);
  });
});

describe('what is sent again', () => {
  test.each<[string, RequestInit & { readonly duplex?: 'half' }, string]>([
    ['text', { body: '{"sku":1}' }, '{"sku":1}'],
    ['bytes', { body: new TextEncoder().encode('bytes') }, 'bytes'],
    ['nothing', {}, ''],
  ])('a POST of %s goes with the same body', async (_, init, expected) => {
    const { steady, server } = rig();
    const result = observe(steady.fetch(url, { method: 'POST', ...init }));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    const bodies = await Promise.all(server.requests.map((request) => request.text()));
    expect(bodies).toEqual([expected, expected]);
  });

  test('a Request goes with the same body and its own headers, and is not used up', async () => {
    const { steady, server, sent } = rig();
    const request = new Request(url, { method: 'PUT', body: 'text', headers: { 'x-own': '1' } });
    const result = observe(steady.fetch(request));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(await Promise.all(server.requests.map((one) => one.text()))).toEqual(['text', 'text']);
    expect(server.requests.map(({ headers }) => headers.get('x-own'))).toEqual(['1', '1']);
    expect(server.requests.map(({ headers }) => headers.get('content-type'))).toEqual(
      Array(2).fill('text/plain;charset=UTF-8'),
    );
    expect(sent()).toEqual(['old', 'new']);
  });

  test('a stream cannot be: its 401 is the answer, and the next request has new credentials', async () => {
    const { steady, sent } = rig();
    const body = new Response('streamed').body;
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
    const first = observe(steady.fetch(url, init));
    await vi.runAllTimersAsync();
    expect(first.error).toMatchObject({ status: 401 });
    const second = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(second.state).toBe('resolved');
    expect(sent()).toEqual(['old', 'new']);
  });

  test('a mutation keeps its idempotency key and its bytes', async () => {
    const { steady, server, sent } = rig({ api: { idempotency: profiles.draft } });
    const placeOrder = mutationOptions(steady, {
      mutationFn: (sku: number, { json }) => json<object>(url, { json: { sku } }),
    });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const result = observe(new MutationObserver(client, placeOrder).mutate(7));
    await vi.runAllTimersAsync();
    expect(result.value).toEqual({});
    expect(sent()).toEqual(['old', 'new']);
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys[0]).toMatch(/^"[\w-]{36}"$/);
    expect(keys[1]).toBe(keys[0]);
    const bodies = await Promise.all(server.requests.map((request) => request.text()));
    expect(bodies).toEqual(['{"sku":7}', '{"sku":7}']);
  });

  test('headers of the call stay, and the credentials replace what has their name', async () => {
    const { steady, server, sent } = rig();
    const headers = { authorization: 'Bearer own', 'x-own': '1' };
    observe(steady.fetch(url, { headers }));
    await vi.runAllTimersAsync();
    expect(sent()).toEqual(['old', 'new']);
    expect(server.requests.map((request) => request.headers.get('x-own'))).toEqual(['1', '1']);
  });

  test('credentials that are gone by then are not sent again', async () => {
    const session = { token: 'old' as string | undefined };
    const { steady, server } = rig({
      headers: (): Record<string, string> =>
        session.token ? { authorization: `Bearer ${session.token}` } : {},
      refresh: () => void (session.token = undefined),
      handler: () => new Response(null, { status: 401 }),
    });
    observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(server.requests.map(bearer)).toEqual(['Bearer old', 'none']);
  });
});

describe('a refresh that does not work', () => {
  const failing: readonly (readonly [string, RefreshOptions['refresh']])[] = [
    ['rejects', () => Promise.reject(new Error('the login server is down'))],
    [
      'throws',
      () => {
        throw new TypeError('a mistake');
      },
    ],
    ['says that there are none', () => false],
  ];

  test.each(failing)(
    '%s: the caller gets the 401, once for all, with its body',
    async (_, refresh) => {
      vi.spyOn(console, 'warn').mockReturnValue();
      const asked = vi.fn<RefreshOptions['refresh']>(refresh);
      const { steady, server } = rig({
        refresh: asked,
        handler: () => Response.json({ problem: 'expired' }, { status: 401 }),
      });
      const results = Array.from({ length: 20 }, () => observe(steady.fetch(url)));
      await settled();
      await vi.runAllTimersAsync();
      expect(results.every(({ state }) => state === 'rejected')).toBe(true);
      expect(asked).toHaveBeenCalledOnce();
      expect(server.requests).toHaveLength(20);
      const { response } = (results[0] as { error: unknown }).error as { response: Response };
      expect(await response.json()).toEqual({ problem: 'expired' });
    },
  );

  test('hangs: the caller gets the 401 after the limit, and its signal is aborted', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const signals: AbortSignal[] = [];
    const { steady } = rig({
      timeoutMs: 3000,
      refresh: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    const results = [observe(steady.fetch(url)), observe(steady.fetch(`${url}/2`))];
    await vi.advanceTimersByTimeAsync(2999);
    expect(results.map(({ state }) => state)).toEqual(['pending', 'pending']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(results).toMatchObject([{ error: { status: 401 } }, { error: { status: 401 } }]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('may take longer than the attempt: that has its whole time again afterwards', async () => {
    const first = rig({
      timeoutMs: 60_000,
      refresh: async () => {
        await new Promise((done) => void setTimeout(done, 50_000));
        first.session.token = 'new';
      },
    });
    const result = observe(
      retry(first.steady, ({ signal }) => first.steady.fetch(url, { signal }), { maxRetries: 0 }),
    );
    await vi.advanceTimersByTimeAsync(50_000);
    expect(result.state).toBe('resolved');
  });

  test('is made again after 1 s, 2 s, 4 s and so on, whatever is asked for meanwhile', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const startedAt = Date.now();
    const times: number[] = [];
    const { steady } = rig({
      refresh: () => {
        times.push(Date.now() - startedAt);
        return false;
      },
    });
    for (let second = 0; second < 64; second++) {
      observe(steady.fetch(url));
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(times).toEqual([0, 1000, 3000, 7000, 15_000, 31_000, 63_000]);
  });

  /** Each loop of ours around a request that is refused. */
  const loops: readonly [string, (given: Steadfetch, client: QueryClient) => Promise<unknown>][] = [
    [
      'a query',
      (steady, client) =>
        client.fetchQuery({
          queryKey: ['api'],
          queryFn: ({ signal }) => steady.json(url, { signal }),
        }),
    ],
    [
      'a write without a key',
      (steady, client) => {
        const options = mutationOptions(steady, {
          mutationFn: (body: string, { json }) => json(url, { method: 'POST', body }),
        });
        return new MutationObserver(client, options).mutate('order');
      },
    ],
    ['retry', (steady) => retry(steady, ({ signal }) => steady.json(url, { signal }))],
  ];

  describe.each(loops)('and whose login server cannot be reached: %s', (_, run) => {
    const begin = (refresh: RefreshOptions['refresh']) => {
      vi.spyOn(console, 'warn').mockReturnValue();
      const startedAt = Date.now();
      const times: number[] = [];
      const made = rig({
        refresh(given) {
          times.push(Date.now() - startedAt);
          return refresh(given);
        },
      });
      const client = new QueryClient({ defaultOptions: made.steady.defaultOptions });
      return { ...made, times, result: observe(run(made.steady, client)) };
    };

    test.each([
      ['of fetch', new TypeError('Failed to fetch')],
      ['that wraps one', new Error('<no response>', { cause: new TypeError('Load failed') })],
      ['of a time-out', new DOMException('signal timed out', 'TimeoutError')],
      ['of axios without an answer', Object.assign(new Error(''), { code: 'ERR_NETWORK' })],
      ['with the status 503', Object.assign(new Error(''), { status: 503 })],
    ])('is tried again when the refresh is, and answered, after an error %s', async (_of, down) => {
      let isDown = true;
      const { session, times, result, sent } = begin(async () => {
        if (isDown) throw down;
        session.token = 'new';
      });
      await vi.advanceTimersByTimeAsync(2000);
      isDown = false;
      await vi.runAllTimersAsync();
      expect(result.state).toBe('resolved');
      expect(times).toEqual([0, 1000, 3000]);
      expect(sent()).toEqual(['old', 'old', 'old', 'new']);
    });

    test('ends with its 401 after its retries', async () => {
      const { times, result } = begin(() => Promise.reject(new TypeError('Failed to fetch')));
      await vi.runAllTimersAsync();
      expect(result).toMatchObject({ error: { status: 401 } });
      expect(times).toEqual([0, 1000, 3000, 7000]);
    });

    test('is tried again after a refresh that took too long', async () => {
      const { times, result } = begin(() => new Promise(() => {}));
      await vi.runAllTimersAsync();
      expect(result).toMatchObject({ error: { status: 401 } });
      expect(times).toEqual([0, 11_000, 23_000, 37_000]);
    });

    test.each([
      ['that says nothing, of a session that has expired', {}],
      ['of axios, for a 400', { response: { status: 400 }, config: { method: 'post' } }],
      ['that has the status of a refusal', { status: 401 }],
      ['that has one in its cause', { cause: { statusCode: 403 } }],
    ])('ends at once with an error %s', async (_says, fields) => {
      const { times, result } = begin(() =>
        Promise.reject(Object.assign(new Error('Not renewed.'), fields)),
      );
      await vi.runAllTimersAsync();
      expect(result).toMatchObject({ error: { status: 401 } });
      expect(times).toEqual([0]);
    });
  });

  test('has its signal aborted by a log-out, says nothing, and leaves no credentials', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const { steady, session, sent } = rig({
      async refresh({ signal }) {
        await new Promise((done, fail) => {
          setTimeout(done, 100);
          signal.addEventListener('abort', () => fail(signal.reason));
        });
        session.token = 'new';
      },
    });
    const result = observe(steady.fetch(url));
    await vi.advanceTimersByTimeAsync(50);
    session.token = '';
    await steady.endSession();
    await vi.runAllTimersAsync();
    expect(result.state).toBe('rejected');
    expect(session.token).toBe('');
    expect(console.warn).not.toHaveBeenCalled();
    // The next session has a refresh of its own, which no failure of that one holds up.
    session.token = 'other';
    const next = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(next.state).toBe('resolved');
    expect(sent()).toEqual(['old', 'other', 'new']);
  });

  test('holds nobody up who has logged in since', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const { steady, session, refresh, sent } = rig();
    refresh.mockReturnValueOnce(false);
    observe(steady.fetch(url));
    await settled();
    session.token = 'another';
    const result = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(sent()).toEqual(['old', 'another', 'new']);
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  test('an endpoint that refuses new credentials, too, costs its neighbours nothing', async () => {
    const { steady, refresh, session } = rig({
      handler: (request) =>
        new Response('{}', {
          status:
            !request.url.endsWith('/forbidden') && bearer(request).endsWith(session.valid)
              ? 200
              : 401,
        }),
    });
    for (let asked = 0; asked < 5; asked++) {
      observe(steady.fetch(`${url}/forbidden`));
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(refresh).toHaveBeenCalledOnce();
    session.token = 'expired';
    const result = observe(steady.fetch(`${url}/fine`));
    await vi.advanceTimersByTimeAsync(1000);
    expect(result.state).toBe('resolved');
    expect(refresh).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(60_000);
    observe(steady.fetch(`${url}/forbidden`));
    await vi.advanceTimersByTimeAsync(1000);
    expect(refresh).toHaveBeenCalledTimes(3);
  });
});

describe('while it waits', () => {
  test('an abort ends a request at once, with its own reason; the others go on', async () => {
    const { steady, server } = rig();
    const caller = new AbortController();
    const aborted = observe(steady.fetch(url, { signal: caller.signal }));
    const other = observe(steady.fetch(`${url}/2`));
    await vi.advanceTimersByTimeAsync(50);
    caller.abort('enough');
    await settled();
    expect(aborted).toMatchObject({ state: 'rejected', error: 'enough' });
    await vi.runAllTimersAsync();
    expect(other.state).toBe('resolved');
    expect(server.requests).toHaveLength(3);
  });

  test('a request does not keep its place: a refresh over the same origin is not queued behind it', async () => {
    const { steady, session, sent } = rig({
      config: { concurrency: limitConcurrency({ maxInFlight: 2, queueTimeoutMs: 60_000 }) },
      async refresh({ signal }) {
        await steady.fetch(`${origin}/login`, { signal, method: 'POST' });
        session.token = 'new';
      },
      api: { match: `${origin}/api` },
      handler: (request) =>
        new Response('{}', {
          status: request.url.endsWith('/login') || bearer(request) === 'Bearer new' ? 200 : 401,
        }),
    });
    const results = Array.from({ length: 6 }, (_, id) => observe(steady.fetch(`${url}/${id}`)));
    await vi.advanceTimersByTimeAsync(100);
    expect(results.map(({ state }) => state)).toEqual(Array(6).fill('resolved'));
    expect(sent().filter((token) => token === '')).toHaveLength(1);
  });

  test('a refresh that is refused itself, by the same API, waits for nobody', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const { steady, server } = rig({
      refresh: ({ signal }) => steady.fetch(`${url}/login`, { signal, method: 'POST' }),
      handler: () => new Response(null, { status: 401 }),
    });
    const result = observe(steady.fetch(url));
    await settled();
    expect(result.error).toMatchObject({ status: 401 });
    expect(server.requests).toHaveLength(2);
  });

  test('two instances with one value share a refresh; with two values they have their own', async () => {
    const first = rig();
    const second = createSteadfetch({
      fetch: first.server.fetch,
      apis: [{ match: origin, auth: first.auth }],
    });
    const other = rig();
    const results = [first.steady, second, other.steady].map((steady) =>
      observe(steady.fetch(url)),
    );
    await vi.runAllTimersAsync();
    expect(results.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'resolved']);
    expect(first.refresh).toHaveBeenCalledOnce();
    expect(other.refresh).toHaveBeenCalledOnce();
  });
});

describe('headers', () => {
  test('may come later: the request waits for them', async () => {
    const { steady, server } = rig({
      headers: async () => {
        await new Promise((done) => void setTimeout(done, 40));
        return { authorization: 'Bearer new' };
      },
    });
    const result = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(server.timesMs).toEqual([40]);
  });

  test.each<[string, () => HeadersInit | Promise<HeadersInit>, number]>([
    [
      'that throw',
      () => {
        throw new Error('no');
      },
      0,
    ],
    ['that cannot be sent', () => ({ authorization: 'a\nb' }), 0],
    ['that never come', () => new Promise(() => {}), 2000],
  ])('%s cost no request: it goes without them', async (_, headers, atMs) => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const { steady, server } = rig({
      headers,
      timeoutMs: 2000,
      handler: () => new Response('{}'),
    });
    const result = observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(server.timesMs).toEqual([atMs]);
    expect(server.requests.map(bearer)).toEqual(['none']);
  });

  test('an abort before they come ends the request, which is not sent', async () => {
    const { steady, server } = rig({ headers: () => new Promise(() => {}) });
    const caller = new AbortController();
    const result = observe(steady.fetch(url, { signal: caller.signal }));
    await settled();
    caller.abort('enough');
    await settled();
    expect(result.error).toBe('enough');
    expect(server.requests).toEqual([]);
  });
});

test('a wrong option is refused by name', () => {
  const refresh = () => undefined;
  expect(() => refreshOn401({ refresh: 5 as never })).toThrow(
    'refreshOn401: refresh is 5, and must be a function.',
  );
  expect(() => refreshOn401({ refresh, timeout: 5 } as never)).toThrow('did you mean timeoutMs?');
  expect(() => refreshOn401({ refresh, timeoutMs: 0 })).toThrow('a number from 1 to 2147483647');
  expect(() => refreshOn401({ refresh, headers: { a: 'b' } as never })).toThrow(
    'refreshOn401: headers is {"a":"b"}, and must be a function that returns them.',
  );
  expect(() => createSteadfetch({ apis: [{ match: '/', auth: { refresh } as never }] })).toThrow(
    'auth is {}, and must be what refreshOn401() returns.',
  );
});
