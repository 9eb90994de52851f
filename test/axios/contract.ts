import {
  environmentManager,
  MutationObserver,
  onlineManager,
  QueryClient,
} from '@tanstack/react-query';
import axiosNewest, { type AxiosInstance, type AxiosStatic } from 'axios';
import axiosPrevious from 'axios-0';
import {
  classifyOutcomes,
  createSteadfetch,
  isNotSentError,
  isTimeoutError,
  mutationOptions,
  outcomeOf,
  profiles,
  retry,
  type Steadfetch,
  type SteadfetchConfig,
  type SteadfetchEvent,
} from 'steadfetch';
import { type SteadyAdapterOptions, steadyAdapter } from 'steadfetch/axios';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openTalk } from '../browser/talk.ts';
import { rejectionOf } from '../core/fetch/observe.ts';

/** The parts of axios that both majors have, with the types of the newest. */
const versions: readonly (readonly [string, AxiosStatic])[] = [
  ['axios, newest', axiosNewest],
  ['axios 0.x', axiosPrevious as unknown as AxiosStatic],
];

/** What holds for the adapter wherever it runs: in Node and in a browser, against a real server. */
export function describeAdapter(originOf: () => string): void {
  beforeAll(() => environmentManager.setIsServer(() => false));

  describe.each(versions)('%s', (_, axios) => {
    function rig(config: SteadfetchConfig = {}, options?: SteadyAdapterOptions) {
      const steady = createSteadfetch({
        policy: { baseMs: 0, capMs: 0 },
        random: () => 0,
        ...config,
      });
      const events: SteadfetchEvent[] = [];
      steady.subscribe((event) => void events.push(event));
      onTestFinished(() => steady.dispose());
      const api = axios.create({ adapter: steadyAdapter(steady, axios, options) });
      return { steady, events, api };
    }
    /** A query by axios. */
    function queryOf(steady: Steadfetch, api: AxiosInstance, url: string) {
      const client = new QueryClient({ defaultOptions: steady.defaultOptions });
      client.mount();
      onTestFinished(() => {
        onlineManager.setOnline(true);
        client.unmount();
      });
      const queryKey = [url];
      const ask = () =>
        client.fetchQuery({
          queryKey,
          queryFn: async ({ signal }) => (await api.get<unknown>(url, { signal })).data,
        });
      const paused = new Promise<void>((resolve) => {
        client.getQueryCache().subscribe(({ query }) => {
          if (query.state.fetchStatus === 'paused') resolve();
        });
      });
      return { ask, paused, state: () => client.getQueryState(queryKey) };
    }
    const talkOf = (
      ...answers: Parameters<typeof openTalk> extends [string, ...infer A] ? A : never
    ) => openTalk(originOf(), ...answers);

    test('an answer is that of axios: data, status, headers, config', async () => {
      const { api } = rig();
      const { url } = talkOf('ok');
      const answer = await api.get<unknown>(url, { params: { page: 2 } });
      expect(answer.data).toEqual({ id: 1 });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.config.params).toEqual({ page: 2 });
    });

    test('a 503 is retried, and then answered', async () => {
      const { api, steady } = rig();
      const talk = talkOf('unavailable', 'ok');
      const answer = await retry(steady, ({ signal }) => api.get(talk.url, { signal }));
      expect(answer.data).toEqual({ id: 1 });
      expect((await talk.log()).requests).toHaveLength(2);
    });

    test('the outcomes of its API are read from the data of an answer', async () => {
      const bodies: unknown[] = [];
      const classifyResponse = (_response: Response, body: unknown) => {
        bodies.push(body);
        return bodies.length === 1 ? { status: 429 } : undefined;
      };
      const { api, steady } = rig({
        apis: [{ match: /./, outcomes: classifyOutcomes({ classifyResponse }) }],
      });
      const talk = talkOf('ok', 'ok');
      const answer = await retry(steady, async ({ signal }) => {
        const { data } = await api.get<unknown>(talk.url, { signal });
        // As an interceptor of the app does.
        if (bodies.length === 1) throw new Error('not this one');
        return data;
      });
      expect(answer).toEqual({ id: 1 });
      expect(bodies).toEqual([{ id: 1 }, { id: 1 }]);
      expect((await talk.log()).requests).toHaveLength(2);
    });

    test('offline a query is paused before it sends anything, and goes on when the network is back', async () => {
      const { api, steady } = rig();
      const { ask, state } = queryOf(steady, api, talkOf('ok').url);
      onlineManager.setOnline(false);
      const asked = ask();
      expect(state()).toMatchObject({ fetchStatus: 'paused', fetchFailureCount: 0 });
      onlineManager.setOnline(true);
      expect(await asked).toEqual({ id: 1 });
    });

    test('a query that fails as the device goes offline is paused after that attempt, and goes on when the network is back', async () => {
      const { api, steady } = rig();
      const talk = talkOf('garbage', 'ok');
      const { ask, state, paused } = queryOf(steady, api, talk.url);
      const stop = steady.subscribe(({ type }) => {
        if (type === 'request:start') onlineManager.setOnline(false);
      });
      const asked = ask();
      await paused;
      expect(state()).toMatchObject({ fetchFailureCount: 1 });
      expect((await talk.log()).requests).toHaveLength(1);
      stop();
      onlineManager.setOnline(true);
      expect(await asked).toEqual({ id: 1 });
      expect((await talk.log()).requests).toHaveLength(2);
    });

    test('a POST of mutationOptions gets its key, which is the same on the retry', async () => {
      const { api, steady } = rig({ apis: [{ match: originOf(), idempotency: profiles.draft }] });
      const talk = talkOf('reset', 'unavailable', 'ok');
      const options = mutationOptions(steady, {
        // Also after an await.
        mutationFn: async (sku: string, { signal }) => {
          await Promise.resolve();
          return (await api.post<unknown>(talk.url, { sku }, { signal })).data;
        },
      });
      const observer = new MutationObserver(new QueryClient(), options);
      expect(await observer.mutate('kite')).toEqual({ id: 1 });
      const { requests } = await talk.log();
      const [first, ...others] = requests.map(({ headers }) => headers['idempotency-key']);
      expect(first).toMatch(/^"[\da-f-]{36}"$/);
      expect(others).toEqual([first, first]);
      expect(requests.map(({ body }) => body)).toEqual(Array(3).fill('{"sku":"kite"}'));
    });

    test('a 404 is an AxiosError with its response, and is not retried', async () => {
      const { api, steady } = rig();
      const talk = talkOf('not-found');
      const error = await rejectionOf(retry(steady, ({ signal }) => api.get(talk.url, { signal })));
      expect(axios.isAxiosError(error)).toBe(true);
      expect(error).toMatchObject({
        code: 'ERR_BAD_REQUEST',
        response: { status: 404, data: { problem: 'unknown' } },
        config: { url: talk.url },
      });
      expect(outcomeOf(error)).toMatchObject({ kind: 'http', status: 404, processed: 'no' });
      expect((await talk.log()).requests).toHaveLength(1);
    });

    test('a 429 is an AxiosError, and its Retry-After is obeyed', async () => {
      const { api, steady, events } = rig();
      const talk = talkOf('too-many');
      const stop = new AbortController();
      steady.subscribe((event) => {
        if (event.type === 'decision') stop.abort();
      });
      await rejectionOf(
        retry(steady, ({ signal }) => api.get(talk.url, { signal }), { signal: stop.signal }),
      );
      const [decided] = events.flatMap((event) => (event.type === 'decision' ? [event] : []));
      expect(decided?.decision).toMatchObject({ kind: 'retry', delayMs: 2000 });
      expect(axios.isAxiosError(decided?.error)).toBe(true);
      expect(decided?.error).toMatchObject({ response: { status: 429 } });
    });

    test('an error that an interceptor has put in its place is still known', async () => {
      const { api, steady } = rig();
      const talk = talkOf('not-found');
      api.interceptors.response.use(undefined, () => Promise.reject(new Error('Please try later')));
      const error = await rejectionOf(
        retry(steady, ({ signal }) => api.get(talk.url, { signal }), { idempotent: true }),
      );
      expect(error).toEqual(new Error('Please try later'));
      expect((await talk.log()).requests).toHaveLength(1);
    });

    test('an origin that is down pauses the next request, and a probe that is answered lets it go', async () => {
      const { api, events } = rig();
      const talk = talkOf('unavailable', 'unavailable', 'ok');
      await rejectionOf(api.get(talk.url));
      await rejectionOf(api.get(talk.url));
      expect((await api.get(talk.url)).data).toEqual({ id: 1 });
      expect(events.filter(({ type }) => type.startsWith('pause'))).toMatchObject([
        { type: 'pause:start', reason: 'server-down' },
        { type: 'pause:end', result: 'probe' },
      ]);
    });

    test('what may not be paused fails at once, as an AxiosError whose cause says why', async () => {
      const { api } = rig({ policy: { whenDown: 'fail' } });
      const talk = talkOf('unavailable');
      await rejectionOf(api.get(talk.url));
      await rejectionOf(api.get(talk.url));
      const error = await rejectionOf(api.get(talk.url));
      expect(axios.isAxiosError(error)).toBe(true);
      expect(error).toMatchObject({ code: 'ERR_BAD_RESPONSE', response: { status: 503 } });
      expect(isNotSentError((error as Error).cause)).toBe(true);
      expect(outcomeOf(error)).toMatchObject({ kind: 'paused-too-long', processed: 'no' });
      expect((await talk.log()).requests).toHaveLength(2);
    });

    test('where the adapter is told so, the time limit of the policy ends an attempt, as one of axios does', async () => {
      const { api } = rig({ policy: { timeout: 50 } }, { timeout: 'policy' });
      const error = await rejectionOf(api.get(talkOf('hang').url));
      expect(axios.isAxiosError(error)).toBe(true);
      expect((error as Error & { code: string }).code).toBe('ECONNABORTED');
      expect(isTimeoutError((error as Error).cause)).toBe(true);
      expect(outcomeOf(error)).toMatchObject({ kind: 'timeout' });
    });

    test("a time limit of axios' own takes its place", async () => {
      const { api } = rig({ policy: { timeout: 1 } }, { timeout: 'policy' });
      const error = await rejectionOf(api.get(talkOf('hang').url, { timeout: 50 }));
      expect((error as Error).message).toBe('timeout of 50ms exceeded');
      expect(outcomeOf(error)).toEqual({ kind: 'timeout', phase: 'headers', processed: 'unknown' });
    });

    test('no answer is a network failure', async () => {
      const { api } = rig();
      const error = await rejectionOf(api.get(talkOf('reset').url));
      expect(axios.isAxiosError(error)).toBe(true);
      expect(outcomeOf(error)).toEqual({ kind: 'network', processed: 'unknown' });
    });

    test('a signal cancels a request under way, and the server is told', async () => {
      const { api } = rig();
      const talk = talkOf('hang');
      const stop = new AbortController();
      const failing = rejectionOf(api.get(talk.url, { signal: stop.signal }));
      await talk.arrived(1);
      stop.abort();
      expect(axios.isCancel(await failing)).toBe(true);
      await talk.closed(1);
    });

    test('a CancelToken cancels with its message', async () => {
      const { api } = rig();
      const talk = talkOf('hang');
      const source = axios.CancelToken.source();
      const failing = rejectionOf(api.get(talk.url, { cancelToken: source.token }));
      await talk.arrived(1);
      source.cancel('no longer wanted');
      const error = await failing;
      expect(axios.isCancel(error)).toBe(true);
      expect(error).toMatchObject({ message: 'no longer wanted' });
      await talk.closed(1);
    });

    test.each(['signal', 'CancelToken'])('a %s cancels a request that is paused', async (by) => {
      const { api, steady } = rig();
      const talk = talkOf('unavailable');
      await rejectionOf(api.get(talk.url));
      await rejectionOf(api.get(talk.url));
      const stop = new AbortController();
      const source = axios.CancelToken.source();
      steady.subscribe(({ type }) => {
        if (type !== 'pause:start') return;
        if (by === 'signal') stop.abort();
        else source.cancel();
      });
      const given = by === 'signal' ? { signal: stop.signal } : { cancelToken: source.token };
      expect(axios.isCancel(await rejectionOf(api.get(talk.url, given)))).toBe(true);
      expect((await talk.log()).requests).toHaveLength(2);
    });

    test('validateStatus decides what resolves, and health still knows the status', async () => {
      const { api, events } = rig();
      const answer = await api.get(talkOf('unavailable').url, { validateStatus: () => true });
      expect(answer.status).toBe(503);
      expect(events.find(({ type }) => type === 'request:end')).toMatchObject({
        outcome: { kind: 'http', status: 503 },
      });
    });

    test('transformRequest, transformResponse and interceptors run once each, as ever', async () => {
      const { api } = rig();
      const talk = talkOf('ok');
      const ran: string[] = [];
      api.interceptors.request.use((config) => {
        ran.push('request');
        config.headers['x-own'] = 'yes';
        return config;
      });
      api.interceptors.response.use((response) => {
        ran.push('response');
        return response;
      });
      const answer = await api.post<unknown>(
        talk.url,
        { sku: 'kite' },
        {
          transformRequest: (data: unknown) => `sent ${JSON.stringify(data)}`,
          transformResponse: (data: unknown) => `read ${String(data)}`,
        },
      );
      expect(answer.data).toBe('read {"id":1}');
      expect(ran).toEqual(['request', 'response']);
      const [sent] = (await talk.log()).requests;
      expect(sent?.body).toBe('sent {"sku":"kite"}');
      expect(sent?.headers['x-own']).toBe('yes');
    });

    test('the progress of an upload and of a download is told', async () => {
      const { api } = rig();
      const told = { up: 0, down: 0 };
      await api.post(talkOf('ok').url, 'x'.repeat(1000), {
        onUploadProgress: ({ loaded }) => (told.up = loaded),
        onDownloadProgress: ({ loaded }) => (told.down = loaded),
      });
      const isTold = axios === axiosNewest || 'XMLHttpRequest' in globalThis;
      // In Node only the newest tells it.
      expect(told).toEqual(isTold ? { up: 1000, down: 8 } : { up: 0, down: 0 });
    });

    test('a POST with a key is sent again with the same key and the same bytes; one without is not', async () => {
      const { api, steady } = rig({ apis: [{ match: originOf(), idempotency: profiles.draft }] });
      const keyed = talkOf('reset', 'unavailable', 'ok');
      const headers = { 'Idempotency-Key': '"8e03978e"' };
      await retry(steady, ({ signal }) =>
        api.post(keyed.url, { sku: 'kite' }, { headers, signal }),
      );
      expect(
        (await keyed.log()).requests.map(({ body, headers: sent }) => [
          body,
          sent['idempotency-key'],
          sent['content-type'],
        ]),
      ).toEqual(
        Array.from({ length: 3 }, () => ['{"sku":"kite"}', '"8e03978e"', 'application/json']),
      );
      const bare = talkOf('unavailable');
      await rejectionOf(
        retry(steady, ({ signal }) => api.post(bare.url, { sku: 'kite' }, { signal })),
      );
      expect((await bare.log()).requests).toHaveLength(1);
    });

    test('a config that an error names can be sent again', async () => {
      const { api } = rig();
      const talk = talkOf('not-found', 'ok');
      api.interceptors.response.use(undefined, (error: { readonly config: object }) =>
        api.request(error.config),
      );
      expect((await api.get(talk.url)).data).toEqual({ id: 1 });
      expect((await talk.log()).requests).toHaveLength(2);
    });

    test('a mistake in the request counts against no server', async () => {
      const { api, events } = rig();
      const error = await rejectionOf(api.get('http://[', {}));
      expect(outcomeOf(error)).not.toMatchObject({ kind: 'http' });
      expect(events.filter(({ type }) => type === 'pause:start')).toEqual([]);
    });

    test('as the adapter of axios itself, and made twice, it still sends once', async () => {
      const { steady } = rig();
      const talk = talkOf('unavailable');
      const before = axios.defaults.adapter;
      onTestFinished(() => {
        if (before) axios.defaults.adapter = before;
      });
      axios.defaults.adapter = steadyAdapter(steady, axios);
      axios.defaults.adapter = steadyAdapter(steady, axios);
      await rejectionOf(axios.get(talk.url));
      expect((await talk.log()).requests).toHaveLength(1);
    });

    test('an instance in the place of axios is an error that says so', () => {
      const { steady, api } = rig();
      expect(() => steadyAdapter(steady, api as AxiosStatic)).toThrow('must be axios itself');
    });
  });
}
