import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { StackContextManager } from '@opentelemetry/sdk-trace';
import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { mutationOptions, refreshOn401, retry, type Steadfetch } from 'steadfetch';
import { traceOperations } from 'steadfetch/otel';
import type { OutboxState } from 'steadfetch/outbox';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createStore } from '../../src/core/lib/store.ts';
import { instanceOfSteady } from '../../src/core/react-query/instance.ts';
import { answer, hang, refuse, type Handler } from '../core/fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../core/fetch/observe.ts';
import { open, url } from '../telemetry/rig.ts';
import { openSdk } from './rig.ts';

beforeEach(fakeTime);

const load = (steady: Steadfetch, signal?: AbortSignal, target = url): Promise<Response> =>
  retry(steady, (attempt) => steady.fetch(target, attempt), { signal });

function openTraced(
  handlers: readonly [Handler, ...Handler[]],
  config: Parameters<typeof open>[1] = { health: false },
  options: Parameters<typeof traceOperations>[1] = {},
) {
  const sdk = openSdk();
  const { steady, server } = open(handlers, config);
  const stop = traceOperations(steady, { tracer: sdk.tracer, meter: sdk.meter, ...options });
  return { sdk, steady, server, stop };
}

const server = { 'server.address': 'localhost', 'server.port': 3000 };
const request = { 'http.request.method': 'GET', 'url.full': url, ...server };

describe('spans', () => {
  test('an operation is a span, and each of its requests a client span within it', async () => {
    const { sdk, steady } = openTraced([answer(503), refuse, answer()]);
    observe(load(steady));
    await vi.runAllTimersAsync();
    const client = { name: 'GET', kind: 'CLIENT', parent: 'call', events: [] };
    expect(sdk.spans()).toEqual([
      {
        ...client,
        times: [0, 0],
        isError: true,
        attributes: { ...request, 'http.response.status_code': 503, 'error.type': '503' },
      },
      {
        ...client,
        times: [500, 500],
        isError: true,
        attributes: { ...request, 'http.request.resend_count': 1, 'error.type': 'network' },
      },
      {
        ...client,
        times: [1500, 1500],
        isError: false,
        attributes: {
          ...request,
          'http.request.resend_count': 2,
          'http.response.status_code': 200,
        },
      },
      {
        name: 'call',
        kind: 'INTERNAL',
        parent: undefined,
        times: [0, 1500],
        isError: false,
        attributes: {
          'steadfetch.operation.id': 1,
          'steadfetch.operation.kind': 'call',
          'steadfetch.operation.result': 'succeeded',
          'steadfetch.operation.attempts': 3,
        },
        events: [
          [
            0,
            'steadfetch.retry',
            {
              'steadfetch.reason': 'unavailable',
              'steadfetch.retry.delay_ms': 500,
              'error.type': '503',
            },
          ],
          [
            500,
            'steadfetch.retry',
            {
              'steadfetch.reason': 'network',
              'steadfetch.retry.delay_ms': 1000,
              'error.type': 'network',
            },
          ],
        ],
      },
    ]);
  });

  test('an operation that fails says with what, and why there was no further attempt', async () => {
    const { sdk, steady } = openTraced([answer(404)]);
    observe(load(steady));
    await settled();
    const attributes = { 'steadfetch.reason': 'not-retryable', 'error.type': '404' };
    expect(sdk.spans()[1]).toMatchObject({
      isError: true,
      attributes: { 'steadfetch.operation.result': 'failed', 'error.type': '404' },
      events: [[0, 'steadfetch.stop', attributes]],
    });
  });

  test('a pause is told within its operation, with how it ended', async () => {
    const { sdk, steady } = openTraced([refuse, refuse, answer()], {});
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    await settled();
    observe(load(steady));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sdk.spans().find(({ name }) => name === 'call')?.events).toEqual([
      [0, 'steadfetch.pause', { 'steadfetch.pause.reason': 'server-down' }],
      [1200, 'steadfetch.pause.end', { 'steadfetch.pause.result': 'probe' }],
    ]);
  });

  test('what the caller aborts ends at once with its requests, and is no error', async () => {
    const { sdk, steady } = openTraced([hang]);
    const controller = new AbortController();
    observe(load(steady, controller.signal));
    await vi.advanceTimersByTimeAsync(300);
    controller.abort();
    await settled();
    expect(sdk.spans()).toMatchObject([
      { name: 'GET', times: [0, 300], isError: false, attributes: { 'error.type': 'aborted' } },
      {
        name: 'call',
        times: [0, 300],
        isError: false,
        attributes: { 'steadfetch.operation.result': 'cancelled' },
      },
    ]);
    expect(sdk.spans()[1]?.attributes).not.toHaveProperty('error.type');
  });

  test('a query has its kind and, if asked for, its key', async () => {
    for (const showQueryKeys of [false, true]) {
      const { sdk, steady } = openTraced([answer()], {}, { showQueryKeys });
      const client = new QueryClient({ defaultOptions: steady.defaultOptions });
      const queryKey = ['items', 7];
      await client.fetchQuery({ queryKey, queryFn: async () => (await steady.fetch(url)).status });
      const span = sdk.spans().find(({ name }) => name === 'query');
      expect(span?.attributes['steadfetch.query.key']).toBe(
        showQueryKeys ? '["items",7]' : undefined,
      );
    }
  });

  test('a URL has neither credentials nor its query string, unless that is asked for', async () => {
    const secret = 'http://me:secret@[::1]/items?token=x#top';
    for (const showQueryStrings of [false, true]) {
      const { sdk, steady } = openTraced([answer()], {}, { showQueryStrings });
      observe(load(steady, undefined, secret.replace('me:secret@', '')));
      await settled();
      expect(sdk.spans()[0]?.attributes).toMatchObject({
        'url.full': `http://[::1]/items${showQueryStrings ? '?token=x' : ''}`,
        'server.address': '::1',
        'server.port': 80,
      });
    }
  });

  test('a method that is not known is none of its own', async () => {
    const { sdk, steady } = openTraced([answer()]);
    observe(steady.fetch(url, { method: 'PURGE' }));
    await settled();
    expect(sdk.spans()[0]).toMatchObject({
      name: 'HTTP',
      attributes: { 'http.request.method': '_OTHER', 'http.request.method_original': 'PURGE' },
    });
  });

  test('a request that goes again within an attempt, after a 401, was sent before', async () => {
    const auth = refreshOn401({ refresh: () => true });
    const { sdk, steady } = openTraced([answer(401), answer()], { apis: [{ match: '/', auth }] });
    observe(load(steady));
    await vi.runAllTimersAsync();
    const counts = sdk.spans().map(({ attributes }) => attributes['http.request.resend_count']);
    expect(counts).toEqual([undefined, 1, undefined]);
  });

  test('a request that is first made in a second attempt was not sent before', async () => {
    const { sdk, steady } = openTraced([refuse, answer(), answer()]);
    observe(
      retry(steady, async (attempt) => {
        await steady.fetch(url, attempt);
        await steady.fetch(`${url}/next`, attempt);
      }),
    );
    await vi.runAllTimersAsync();
    const counts = sdk.spans().map(({ attributes }) => attributes['http.request.resend_count']);
    expect(counts).toEqual([undefined, 1, undefined, undefined]);
  });

  test('of a plain mutation, whose beginning is not told, requests are spans by themselves', async () => {
    const { sdk, steady } = openTraced([refuse, answer()]);
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const mutation = new MutationObserver(client, {
      mutationFn: () => steady.fetch(url, { method: 'PUT' }),
    });
    observe(mutation.mutate());
    await vi.runAllTimersAsync();
    expect(sdk.spans()).toMatchObject([
      { name: 'PUT', parent: undefined, attributes: { 'error.type': 'network' } },
      { name: 'PUT', parent: undefined, attributes: { 'http.request.resend_count': 1 } },
    ]);
  });

  test('where fetch is instrumented already, requests are no spans', async () => {
    const { sdk, steady } = openTraced([answer()], {}, { requestSpans: false });
    await load(steady);
    expect(sdk.spans().map(({ name }) => name)).toEqual(['call']);
  });

  describe('where fetch is instrumented, which makes a span in the context that is active', () => {
    /** A server behind such an instrumentation. */
    function openInstrumented(
      handlers: readonly [Handler, ...Handler[]],
      options?: Parameters<typeof traceOperations>[1],
    ) {
      context.setGlobalContextManager(new StackContextManager().enable());
      onTestFinished(() => context.disable());
      const rig = openTraced(handlers, { health: false }, options);
      const { context: sending } = instanceOfSteady(rig.steady, 'a test');
      const { transport } = sending;
      sending.transport = (...given) => {
        const span = rig.sdk.tracer.startSpan('fetch');
        const end = (): void => span.end();
        const sent = transport(...given);
        sent.then(end, end);
        return sent;
      };
      const parents = (): (string | undefined)[] =>
        rig.sdk
          .spans()
          .filter(({ name }) => name === 'fetch')
          .map(({ parent }) => parent);
      return { ...rig, parents };
    }
    type Run = (steady: Steadfetch) => Promise<unknown>;
    const query =
      (queryFn: (steady: Steadfetch, signal: AbortSignal) => Promise<unknown>): Run =>
      (steady) =>
        new QueryClient({ defaultOptions: steady.defaultOptions }).fetchQuery({
          queryKey: ['kites'],
          queryFn: ({ signal }) => queryFn(steady, signal),
        });
    const write = (steady: Steadfetch): Promise<unknown> => {
      const client = new QueryClient({ defaultOptions: steady.defaultOptions });
      const options = mutationOptions(steady, {
        mutationKey: ['order'],
        mutationFn: (_: undefined, { fetch }) => fetch(url, { method: 'PUT' }),
      });
      return new MutationObserver(client, options).mutate(undefined);
    };

    test.each<readonly [name: string, parent: string, run: Run]>([
      ['retry', 'call', load],
      ['a query', 'query', query((steady) => steady.fetch(url))],
      [
        'a query that awaits before it sends',
        'query',
        query(async (steady, signal) => {
          await Promise.resolve();
          return steady.fetch(url, { signal });
        }),
      ],
      ['a mutation', 'mutation', write],
    ])('all requests of %s are in its trace', async (_name, parent, run) => {
      const { steady, parents } = openInstrumented([answer(503), refuse, answer()], {
        requestSpans: false,
      });
      observe(run(steady));
      await vi.runAllTimersAsync();
      expect(parents()).toEqual([parent, parent, parent]);
    });

    test('they are within the spans of requests, where there are such', async () => {
      const { steady, parents } = openInstrumented([answer(503), answer()]);
      observe(load(steady));
      await vi.runAllTimersAsync();
      expect(parents()).toEqual(['GET', 'GET']);
    });

    test('what another client sends in a queryFn is in the trace of its query', async () => {
      const { steady, sdk } = openInstrumented([answer()], { requestSpans: false });
      const other = (): Promise<string> => {
        sdk.tracer.startSpan('other').end();
        return Promise.resolve('kites');
      };
      observe(query(other)(steady));
      await vi.runAllTimersAsync();
      expect(sdk.spans()).toMatchObject([{ name: 'other', parent: 'query' }, { name: 'query' }]);
    });

    test('nothing is in its trace once tracing has ended', async () => {
      const { steady, parents, stop } = openInstrumented([answer()], { requestSpans: false });
      stop();
      observe(load(steady));
      await vi.runAllTimersAsync();
      expect(parents()).toEqual([undefined]);
    });
  });

  test('the span that is active when an operation begins is its parent', async () => {
    const { sdk, steady } = openTraced([answer()]);
    context.setGlobalContextManager(new StackContextManager().enable());
    onTestFinished(() => context.disable());
    const press = sdk.tracer.startSpan('press');
    observe(context.with(trace.setSpan(context.active(), press), () => load(steady)));
    await settled();
    press.end();
    expect(sdk.spans().map(({ name, parent }) => [name, parent])).toEqual([
      ['GET', 'call'],
      ['call', 'press'],
      ['press', undefined],
    ]);
  });

  test('no header is set: a traceparent is that of the app', async () => {
    const { steady, server: seen } = openTraced([refuse, answer()]);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    observe(
      retry(steady, (attempt) => steady.fetch(url, { ...attempt, headers: { traceparent } })),
    );
    await vi.runAllTimersAsync();
    expect(seen.requests.map(({ headers }) => [...headers])).toEqual([
      [['traceparent', traceparent]],
      [['traceparent', traceparent]],
    ]);
    expect(propagation.fields()).toEqual([]);
  });
});

describe('metrics', () => {
  test('retries are counted by their reason, and operations measured by how they ended', async () => {
    const { sdk, steady } = openTraced([answer(503), answer(), answer(404)]);
    for (let count = 0; count < 2; count++) {
      observe(load(steady));
      await vi.runAllTimersAsync();
    }
    const ended = { 'steadfetch.operation.kind': 'call' };
    expect(await sdk.metrics()).toEqual({
      'steadfetch.retries ({retry})': [
        [{ 'steadfetch.reason': 'unavailable', 'http.request.method': 'GET', ...server }, 1],
      ],
      'steadfetch.operation.duration (s)': [
        [
          { ...ended, 'steadfetch.operation.result': 'succeeded' },
          { count: 1, sum: 0.5 },
        ],
        [
          { ...ended, 'steadfetch.operation.result': 'failed', 'error.type': '404' },
          { count: 1, sum: 0 },
        ],
      ],
    });
  });

  test('outages are counted when they begin and measured when they end, and so are the pauses in them', async () => {
    const { sdk, steady } = openTraced([refuse, refuse, answer()], {});
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    await settled();
    const scope = { 'steadfetch.outage.scope': 'endpoint', ...server };
    observe(steady.fetch(url));
    await vi.advanceTimersByTimeAsync(500);
    expect(await sdk.metrics()).toMatchObject({ 'steadfetch.outages ({outage})': [[scope, 1]] });
    await vi.advanceTimersByTimeAsync(5000);
    expect(await sdk.metrics()).toEqual({
      'steadfetch.outages ({outage})': [[scope, 1]],
      'steadfetch.outage.duration (s)': [[scope, { count: 1, sum: 1.2 }]],
      'steadfetch.pause.duration (s)': [
        [
          { 'steadfetch.pause.reason': 'server-down', 'steadfetch.pause.result': 'probe' },
          { count: 1, sum: 1.2 },
        ],
      ],
    });
  });

  test('a pause ends with its operation', async () => {
    const { sdk, steady } = openTraced([refuse], {});
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    await settled();
    const controller = new AbortController();
    observe(load(steady, controller.signal));
    await vi.advanceTimersByTimeAsync(300);
    controller.abort();
    await vi.advanceTimersByTimeAsync(5000);
    expect((await sdk.metrics())['steadfetch.pause.duration (s)']).toEqual([
      [
        { 'steadfetch.pause.reason': 'server-down', 'steadfetch.pause.result': 'dropped' },
        { count: 1, sum: 0.3 },
      ],
    ]);
  });

  test('dead letters are those that the outbox has whenever they are asked for', async () => {
    const empty = { due: 0, waiting: 0, sending: 0, paused: 0, dead: 0, oldestAt: undefined };
    const state: OutboxState = { ...empty, storage: 'durable', wasErased: false };
    const outbox = createStore(state);
    const { sdk, stop } = openTraced([answer()], {}, { outbox });
    const name = 'steadfetch.outbox.dead_letters ({entry})';
    expect(await sdk.metrics()).toEqual({ [name]: [[{}, 0]] });
    outbox.set({ ...state, dead: 3 });
    expect(await sdk.metrics()).toEqual({ [name]: [[{}, 3]] });
    stop();
    outbox.set({ ...state, dead: 4 });
    expect(await sdk.metrics()).toEqual({ [name]: [[{}, 3]] });
  });
});

describe('traceOperations', () => {
  test('ends what is open when it is stopped, and tells no more', async () => {
    const { sdk, steady, stop } = openTraced([hang]);
    observe(load(steady));
    observe(steady.fetch(`${url}/lone`));
    await vi.advanceTimersByTimeAsync(300);
    stop();
    observe(load(steady));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sdk.spans().map(({ name, times }) => [name, times])).toEqual([
      ['GET', [0, 300]],
      ['call', [0, 300]],
      ['GET', [0, 300]],
    ]);
  });

  test('whatever happens, every span that begins also ends, once', async () => {
    const { sdk, steady } = openTraced([refuse, answer(503), hang, answer(404), answer()], {});
    const begun = vi.spyOn(sdk.tracer, 'startSpan');
    const controller = new AbortController();
    for (let count = 0; count < 20; count++) {
      observe(load(steady, count % 3 === 0 ? controller.signal : undefined, `${url}/${count}`));
      await vi.advanceTimersByTimeAsync(200);
    }
    controller.abort();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(begun.mock.calls.length).toBeGreaterThan(30);
    expect(sdk.spans()).toHaveLength(begun.mock.calls.length);
  });

  test('a tracer that throws disturbs neither the request nor the metrics', async () => {
    const reported = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
    onTestFinished(() => reported.mockRestore());
    const tracer = {
      startSpan: () => {
        throw new Error('no span');
      },
      startActiveSpan: () => {},
    };
    const { sdk, steady } = openTraced([answer()], {}, { tracer });
    expect((await load(steady)).status).toBe(200);
    expect(reported).toHaveBeenCalledWith(new Error('no span'));
    expect(Object.keys(await sdk.metrics())).toEqual(['steadfetch.operation.duration (s)']);
  });

  test('without a tracer and a meter it takes the global ones', async () => {
    const sdk = openSdk();
    trace.setGlobalTracerProvider({ getTracer: () => sdk.tracer });
    onTestFinished(() => trace.disable());
    const { steady } = open([answer()]);
    traceOperations(steady);
    await load(steady);
    expect(sdk.spans().map(({ name }) => name)).toEqual(['GET', 'call']);
  });

  test.each<[string, number]>([
    ['before it traces', 0],
    ['after it has begun to trace', 1],
    ['after the first request', 2],
    ['anew, as by a hot update', 3],
  ])('the global meter measures, also where the SDK is set up %s', async (_when, turn) => {
    const [earlier, sdk] = [openSdk(), openSdk()];
    const setUp = ({ meter }: typeof sdk): void => {
      metrics.disable();
      metrics.setGlobalMeterProvider({ getMeter: () => meter });
    };
    onTestFinished(() => metrics.disable());
    if (turn === 3) setUp(earlier);
    const outbox = createStore({ dead: 2 } as OutboxState);
    const { steady } = open([answer()]);
    if (turn === 0) setUp(sdk);
    traceOperations(steady, { outbox });
    if (turn === 1) setUp(sdk);
    await load(steady);
    if (turn >= 2) setUp(sdk);
    await load(steady);
    const measured = await sdk.metrics();
    const [[, { count }]] = measured['steadfetch.operation.duration (s)'] as [
      [unknown, { count: number }],
    ];
    expect(count).toBe(turn >= 2 ? 1 : 2);
    expect(measured['steadfetch.outbox.dead_letters ({entry})']).toEqual([[{}, 2]]);
    // The gauge is no longer that of the earlier one.
    const names = turn === 3 ? ['steadfetch.operation.duration (s)'] : [];
    expect(Object.keys(await earlier.metrics())).toEqual(names);
  });

  test('refuses what is no instance, no tracer, no meter and no option', () => {
    const { steady } = open([answer()]);
    expect(() => traceOperations({} as never)).toThrow('traceOperations');
    expect(() => traceOperations(steady, { tracer: {} as never })).toThrow(
      'traceOperations: tracer is {}, and must be a Tracer.',
    );
    expect(() => traceOperations(steady, { meter: {} as never })).toThrow(
      'traceOperations: meter is {}, and must be a Meter.',
    );
    expect(() => traceOperations(steady, { tracr: 1 } as never)).toThrow('did you mean tracer?');
  });
});
