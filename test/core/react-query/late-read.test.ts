import { QueryObserver, type QueryFunctionContext } from '@tanstack/react-query';
import { limitConcurrency, type SteadyInit } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

const url = 'http://api.example/a';
type Plan = Parameters<Rig['server']['plan']>[1];
const after = (afterMs: number, more: object = {}): Plan => ({ afterMs, ...more });

/** Shows a query in a component, and tells when it had its data, or its error. */
function show(rig: Rig, queryFn: (context: QueryFunctionContext) => unknown, key: unknown = 'a') {
  const observer = new QueryObserver(rig.client, { queryKey: [key], queryFn });
  const seen: { data?: unknown; at?: number } = {};
  const stop = observer.subscribe(({ data, fetchStatus }) => {
    if (data !== undefined && fetchStatus === 'idle')
      Object.assign(seen, { data, at: rig.elapsed() });
  });
  return { observer, seen, stop };
}

const read = (rig: Rig, init?: SteadyInit) => (): Promise<unknown> => rig.steady.json(url, init);

const aborts = (rig: Rig) => rig.server.sent.map(({ abortedAt }) => abortedAt);

describe('its answer is never that of another request', () => {
  const table: [string, (steps: { attempt: number }) => SteadyInit][] = [
    ['another user', ({ attempt }) => ({ headers: { authorization: `user ${attempt}` } })],
    ['another language', ({ attempt }) => ({ headers: [['accept-language', `x${attempt}`]] })],
    ['a query in its body', ({ attempt }) => ({ method: 'QUERY', body: `{"page":${attempt}}` })],
    ['no cookies', ({ attempt }) => ({ credentials: attempt > 1 ? 'omit' : 'include' })],
  ];
  test.each(table)('%s', async (_, initOf) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', after(15_000, { body: 'old' }), after(8000, { body: 'new' }));
    let attempt = 0;
    const { seen } = show(rig, () => rig.steady.json(url, initOf({ attempt: ++attempt })));
    await rig.time.advance(60_000);
    expect(seen).toEqual({ data: 'new', at: 18_500 });
  });

  test('another page of one queryFn, which its header names', async () => {
    const rig = createRig({ health: {} });
    const page = (number: number, signal: AbortSignal): Promise<unknown> =>
      rig.steady.json(url, { signal, headers: { page: `${number}` } });
    const pages: Plan[] = [after(0, { body: 1 }), after(15_000, { body: 2 })];
    rig.server.plan('/a', ...pages, ...pages, ...pages);
    const { seen } = show(rig, async ({ signal }) => [
      await page(1, signal),
      await page(2, signal),
    ]);
    await rig.time.advance(60_000);
    expect(seen).toEqual({ data: [1, 2], at: 15_000 });
  });
});

describe('its answer is used', () => {
  const table: [string, Plan, number][] = [
    ['an own answer of 503', after(1000, { status: 503 }), 15_000],
    ['an own answer of 429', after(1000, { status: 429 }), 15_338],
    ['a broken network', 'network', 15_000],
    ['a good answer at the same time', after(4500), 15_000],
    ['a better own answer', after(4000), 14_500],
  ];
  test.each(table)('with %s', async (_, own, at) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', after(15_000), ...Array<Plan>(50).fill(own));
    const { seen } = show(rig, read(rig));
    await rig.time.advance(120_000);
    expect(seen.at).toBe(at);
  });

  test.each<[string, SteadyInit]>([
    ['GraphQL', { method: 'POST', body: '{"query":"{list}"}' }],
    ['a search by PUT', { method: 'PUT', body: '{}' }],
    ['QUERY', { method: 'QUERY', body: '{}' }],
  ])('of %s, which a queryFn reads by', async (_, init) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', ...Array<Plan>(10).fill(after(15_000)));
    const { seen } = show(rig, read(rig, init));
    await rig.time.advance(60_000);
    expect([seen.at, rig.server.times()]).toEqual([15_000, [0, 10_500]]);
  });

  test.each([
    'X-Request-Id',
    'x-correlation-id',
    'traceparent',
    'sentry-trace',
    'baggage',
    'X-B3-TraceId',
    'X-Timestamp',
  ])('although %s is another for each attempt', async (name) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', ...Array<Plan>(10).fill(after(15_000)));
    let attempt = 0;
    const { seen } = show(rig, () => rig.steady.json(url, { headers: { [name]: `${++attempt}` } }));
    await rig.time.advance(60_000);
    expect(seen.at).toBe(15_000);
  });

  test('for each of two requests of a queryFn', async () => {
    const rig = createRig({ health: {} });
    for (const path of ['/a', '/b']) rig.server.plan(path, ...Array<Plan>(10).fill(after(15_000)));
    const { seen } = show(rig, () =>
      Promise.all([rig.steady.json(url), rig.steady.json('http://api.example/b')]),
    );
    await rig.time.advance(60_000);
    expect(seen.at).toBe(15_000);
  });
});

describe('it is aborted at once', () => {
  const key = { queryKey: ['a'] };
  const table: [string, (rig: Rig, shown: ReturnType<typeof show>) => unknown][] = [
    ['cancelQueries', ({ client }) => client.cancelQueries(key)],
    ['removeQueries', ({ client }) => client.removeQueries(key)],
    ['resetQueries', ({ client }) => void client.resetQueries(key)],
    ['clear', ({ client }) => client.clear()],
    ['endSession', ({ steady }) => steady.endSession()],
    ['unmount', (_, { stop }) => stop()],
    [
      'another key',
      (_, { observer }) => observer.setOptions({ queryKey: ['b'], queryFn: () => 1 }),
    ],
  ];
  // In the wait before the second attempt, and within it.
  const times = [10_200, 12_000];
  const cases = table.flatMap(([name, act]) =>
    times.flatMap((at) => [true, false].map((isLinked) => [name, at, isLinked, act] as const)),
  );
  test.each(cases)(
    'by %s at %i ms, with its signal passed on: %s',
    async (name, at, isLinked, act) => {
      const rig = createRig({ health: {} });
      rig.server.plan('/a', ...Array<Plan>(20).fill('hang'));
      const linked = ({ signal }: QueryFunctionContext): unknown =>
        rig.steady.json(url, { signal });
      const shown = show(rig, isLinked ? linked : read(rig));
      await rig.time.advance(at);
      void act(rig, shown);
      await rig.time.advance(100_000);
      // React Query lets a fetch go on that nobody shows, if it cannot abort it: to the end of the attempt.
      const isLetGo = !isLinked && (name === 'unmount' || name === 'another key');
      const end = at < 10_500 ? 10_500 : 30_500;
      expect(aborts(rig)[0]).toBe(isLetGo ? end : at);
    },
  );
});

test('a request of a query that is gone is aborted when it is late', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', ...Array<Plan>(20).fill('hang'));
  show(rig, read(rig));
  await rig.time.advance(5000);
  void rig.client.cancelQueries();
  await rig.time.advance(20_000);
  expect(aborts(rig)).toEqual([10_000]);
});

test('no limit of simultaneous requests is exceeded', async () => {
  const rig = createRig({ health: {}, concurrency: limitConcurrency({ maxInFlight: 1 }) });
  rig.server.plan('/a', ...Array<Plan>(20).fill('hang'));
  show(rig, read(rig));
  await rig.time.advance(20_000);
  expect(aborts(rig)).toEqual([10_000, undefined]);
});

test('an answer that comes although it was aborted is discarded', async () => {
  const cancelled: string[] = [];
  const rig = createRig({
    health: {},
    fetch: (input) =>
      new Promise((resolve) => {
        const cancel = (): void => void cancelled.push(`${input as string} ${rig.elapsed()}`);
        const body = new ReadableStream({ cancel });
        setTimeout(() => resolve(new Response(body)), 15_000);
      }),
  });
  show(rig, ({ signal }) => rig.steady.json(url, { signal }));
  await rig.time.advance(12_000);
  void rig.client.cancelQueries();
  await rig.time.advance(60_000);
  expect(cancelled).toEqual([`${url} 15000`, `${url} 25500`]);
});

test('an attempt that it answers before its request is sent has none', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', after(12_000), after(1000, { status: 503 }));
  const { seen } = show(rig, read(rig));
  await rig.time.advance(120_000);
  const told = rig.events.flatMap((event) =>
    event.type === 'request:end' ? [event.outcome.kind] : [],
  );
  expect([seen.at, told, rig.server.times()]).toEqual([12_000, ['timeout', 'http'], [0, 10_500]]);
});
