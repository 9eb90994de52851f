import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { createSteadfetch, type SteadfetchEvent } from 'steadfetch';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { origin } from './fake-server.ts';
import { fakeTime, observe, type Observed, settled } from './observe.ts';
import { createPool, type Plan, type Pool } from './pool.ts';

beforeEach(fakeTime);

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** An instance in a browser with so many connections, and what it tells. */
function setUp(places: number, planOf: (path: string) => Plan) {
  const pool = createPool(places, planOf);
  const steady = createSteadfetch({ fetch: pool.fetch, random: () => 0.5 });
  onTestFinished(() => steady.dispose());
  const events: SteadfetchEvent[] = [];
  steady.subscribe((event) => void events.push(event));
  const get = (path: string, init?: Parameters<typeof steady.fetch>[1]): Observed =>
    observe(steady.fetch(path, init).then((response) => response.text()));
  return { pool, steady, events, get };
}

const timeouts = (events: readonly SteadfetchEvent[]): number =>
  events.filter((event) => event.type === 'request:end' && event.outcome.kind === 'timeout').length;

const paths = ({ sent }: Pool): string[] => sent.map(([path]) => path);

/** Queries that need as long, over so many connections, are complete when they are without a time limit. */
const queues = [
  { of: 'HTTP/1.1', places: 6, queries: 100, answerMs: 2000, completeMs: 34_000 },
  { of: 'HTTP/1.1, slowly', places: 6, queries: 30, answerMs: 9999, completeMs: 49_995 },
  { of: 'HTTP/2', places: 100, queries: 250, answerMs: 8000, completeMs: 24_000 },
  { of: 'HTTP/2 of a modest server', places: 10, queries: 100, answerMs: 3000, completeMs: 30_000 },
  { of: 'one connection', places: 1, queries: 5, answerMs: 1900, completeMs: 9500 },
] as const;

test.each(queues)(
  '$queries queries of $answerMs ms over $of: each is sent once, and none is late',
  async ({ places, queries, answerMs, completeMs }) => {
    const { pool, steady, events } = setUp(places, () => ({ answerMs }));
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const all = observe(
      Promise.all(
        numbers(queries).map((number) =>
          client.fetchQuery({
            queryKey: [number],
            queryFn: ({ signal }) => steady.json(`/slow/${number}`, { signal }),
          }),
        ),
      ),
    );
    await vi.advanceTimersByTimeAsync(completeMs - 1);
    expect(all.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(all.state).toBe('resolved');
    expect(pool.sent).toHaveLength(queries);
    expect(timeouts(events)).toBe(0);
    expect(events.filter(({ type }) => type === 'pause:start')).toEqual([]);
    client.clear();
  },
);

test('a hanging endpoint among healthy ones is late at its own limit, and only it', async () => {
  const { events, get } = setUp(6, (path) => ({ answerMs: path === '/hangs' ? Infinity : 2000 }));
  const hanging = get('/hangs');
  const healthy = numbers(50).map((number) => get(`/healthy/${number}`));
  await vi.advanceTimersByTimeAsync(9999);
  expect(hanging.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(hanging.error).toMatchObject({ code: 'timeout' });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(healthy.map(({ state }) => state)).toEqual(healthy.map(() => 'resolved'));
  expect(timeouts(events)).toBe(1);
});

test('what waits behind six that hang has its own limit once they have ended', async () => {
  const { pool, get } = setUp(6, () => ({ answerMs: Infinity }));
  const first = numbers(6).map((number) => get(`/${number}`));
  const seventh = get('/6');
  await vi.advanceTimersByTimeAsync(9999);
  expect(first.map(({ state }) => state)).toEqual(first.map(() => 'pending'));
  await vi.advanceTimersByTimeAsync(1);
  expect(first.map(({ state }) => state)).toEqual(first.map(() => 'rejected'));
  expect(pool.sent.at(-1)).toEqual(['/6', 10_000]);
  await vi.advanceTimersByTimeAsync(9999);
  expect(seventh.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(seventh.error).toMatchObject({ code: 'timeout' });
});

/** A server that is silent for so long, and queries over HTTP/2 that are asked at once. */
const silences = [
  { queries: 12, silentMs: 500, completeMs: 11_801, sent: 24 },
  { queries: 30, silentMs: 500, completeMs: 11_801, sent: 60 },
  { queries: 30, silentMs: 30_000, completeMs: 34_833, sent: 62 },
] as const;

test.each(silences)(
  'after a silence of $silentMs ms before $queries queries, what was lost behind six others does not wait once more',
  async ({ queries, silentMs, completeMs, sent }) => {
    const backAt = Date.now() + silentMs;
    const { pool, steady } = setUp(Infinity, () => ({
      answerMs: Date.now() < backAt ? Infinity : 50,
    }));
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const shown = numbers(queries).map((number) => {
      const observer = new QueryObserver(client, {
        queryKey: [number],
        queryFn: ({ signal }) => steady.json(`/list/${number}`, { signal }),
      });
      observer.subscribe(() => {});
      return observer;
    });
    const isWhole = (): boolean => shown.every((one) => one.getCurrentResult().isSuccess);
    await vi.advanceTimersByTimeAsync(completeMs - 1);
    expect(isWhole()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isWhole()).toBe(true);
    expect(pool.sent).toHaveLength(sent);
    client.clear();
  },
);

test('what waits behind late reads is not timed', async () => {
  const { events, steady, get } = setUp(6, (path) => ({
    answerMs: path.startsWith('/hangs') ? Infinity : 9000,
  }));
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  onTestFinished(() => client.clear());
  for (const number of numbers(2)) {
    const queryFn = (): Promise<Response> => steady.fetch(`/hangs/${number}`);
    client.fetchQuery({ queryKey: [number], queryFn }).catch(() => {});
  }
  await vi.advanceTimersByTimeAsync(10_100);
  const healthy = numbers(20).map((number) => get(`/healthy/${number}`));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(healthy.map(({ state }) => state)).toEqual(healthy.map(() => 'resolved'));
  expect(timeouts(events)).toBe(4);
});

test('a body that is read takes a connection until it has ended', async () => {
  const timeout = { headersMs: 10_000, bodyIdleMs: 5000 };
  const { events, get } = setUp(6, (path) =>
    path.startsWith('/film') ? { answerMs: 100, bodyMs: 60_000 } : { answerMs: 100 },
  );
  const films = numbers(6).map((number) => get(`/film/${number}`, { timeout }));
  await vi.advanceTimersByTimeAsync(200);
  const behind = get('/list');
  await vi.advanceTimersByTimeAsync(59_899);
  expect(behind.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(101);
  expect([...films, behind].map(({ state }) => state)).toEqual(numbers(7).map(() => 'resolved'));
  expect(timeouts(events)).toBe(0);
});

test('a body that begins to be read takes back the place of the request that came last', async () => {
  const timeout = { headersMs: 10_000, bodyIdleMs: 5000 };
  const { steady, get } = setUp(6, (path) =>
    path.startsWith('/film') ? { answerMs: 100, bodyMs: 30_000 } : { answerMs: 100 },
  );
  const responses = numbers(6).map((number) => steady.fetch(`/film/${number}`, { timeout }));
  const behind = get('/list');
  await vi.advanceTimersByTimeAsync(5000);
  for (const response of await Promise.all(responses)) void response.text();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(behind.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(101);
  expect(behind.state).toBe('resolved');
});

test('an answer whose body is not read keeps no limit from running', async () => {
  const { steady, get } = setUp(Infinity, (path) => ({
    answerMs: path === '/hangs' ? Infinity : 100,
  }));
  for (const number of numbers(6)) void steady.fetch(`/signal/${number}`, { method: 'POST' });
  await vi.advanceTimersByTimeAsync(100);
  const hanging = get('/hangs');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(hanging.error).toMatchObject({ code: 'timeout' });
});

test('an answer to one that waits says that there are more connections', async () => {
  const { get } = setUp(Infinity, (path) => ({ answerMs: path === '/quick' ? 100 : Infinity }));
  const hanging = numbers(6).map((number) => get(`/hangs/${number}`, { timeout: Infinity }));
  const behind = get('/hangs');
  const quick = get('/quick');
  await vi.advanceTimersByTimeAsync(100);
  expect(quick.state).toBe('resolved');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(behind.error).toMatchObject({ code: 'timeout' });
  expect(hanging.map(({ state }) => state)).toEqual(hanging.map(() => 'pending'));
});

test('and its body has its limit', async () => {
  const stalled = new ReadableStream<Uint8Array>({});
  const steady = createSteadfetch({
    fetch: (input) =>
      (input as string).endsWith('/stalls')
        ? Promise.resolve(new Response(stalled))
        : new Promise(() => {}),
  });
  for (const number of numbers(6))
    void observe(steady.fetch(`/hangs/${number}`, { timeout: Infinity }));
  const late = observe(steady.fetch('/stalls').then((response) => response.text()));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(late.error).toMatchObject({ code: 'timeout', outcome: { phase: 'body' } });
});

/** What the browser says of the protocols of origins. */
function speak(protocols: Readonly<Record<string, string>>): void {
  vi.stubGlobal(
    'PerformanceObserver',
    class {
      static readonly supportedEntryTypes = ['navigation', 'resource'];
      readonly #listener: (list: { readonly getEntries: () => readonly object[] }) => void;
      constructor(listener: (list: { readonly getEntries: () => readonly object[] }) => void) {
        this.#listener = listener;
      }
      observe({ type }: { readonly type: string }): void {
        const entries = Object.entries(protocols).map(([name, nextHopProtocol]) => ({
          name,
          nextHopProtocol,
        }));
        if (type === 'resource') setTimeout(() => this.#listener({ getEntries: () => entries }));
      }
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
}

test.each([
  ['h2', 100],
  ['h3', 100],
  ['http/1.1', 6],
  ['', 6],
])('over %o, %i requests are timed at once', async (protocol, places) => {
  speak({ [`${origin}/app.js`]: protocol, 'https://cdn.example/app.js': 'h2' });
  const { get } = setUp(Infinity, () => ({ answerMs: Infinity }));
  const all = numbers(101).map((number) => get(`/${number}`));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(all.filter(({ state }) => state === 'rejected')).toHaveLength(places);
});

test.each([
  ['h2', [15_000, 15_000, 15_000, 15_000, 15_000, 15_000, 15_000, 15_000]],
  ['http/1.1', [15_000, 15_000, 15_000, 15_000, 15_000, 25_000, 30_000, 30_098]],
])(
  'over %o, late reads leave one connection: eight queries are answered at %o',
  async (protocol, answeredAt) => {
    speak({ [`${origin}/app.js`]: protocol });
    const places = protocol === 'h2' ? Infinity : 6;
    const { steady } = setUp(places, () => ({ answerMs: 15_000 }));
    const startedAt = Date.now();
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    onTestFinished(() => client.clear());
    const answered: number[] = [];
    for (const number of numbers(8)) {
      const queryFn = (): Promise<unknown> => steady.json(`/list-${'abcdefgh'[number]}/1`);
      new QueryObserver(client, { queryKey: [number], queryFn }).subscribe(({ isSuccess }) => {
        if (isSuccess) answered.push(Date.now() - startedAt);
      });
    }
    await vi.advanceTimersByTimeAsync(60_000);
    expect(answered).toEqual(answeredAt);
  },
);

test('past a hundred, an answer to one that waits says that there is no limit', async () => {
  speak({ [`${origin}/app.js`]: 'h2' });
  const { get } = setUp(Infinity, (path) => ({ answerMs: path === '/quick' ? 100 : Infinity }));
  for (const number of numbers(100)) get(`/${number}`, { timeout: Infinity });
  await vi.advanceTimersByTimeAsync(0);
  const behind = numbers(200).map((number) => get(`/behind/${number}`));
  get('/quick');
  await vi.advanceTimersByTimeAsync(10_100);
  expect(behind.map(({ state }) => state)).toEqual(behind.map(() => 'rejected'));
});

test.each<HeadersInit>([
  { 'cache-control': 'private, max-age=60' },
  { expires: 'Thu, 01 Jan 2037 00:00:00 GMT' },
  { 'last-modified': 'Thu, 01 Jan 2015 00:00:00 GMT' },
])('one that may come from the cache says nothing of connections: %o', async (headers) => {
  const { pool, events, get } = setUp(6, (path) =>
    path === '/stored' ? { answerMs: 0, isStored: true, headers } : { answerMs: 4000 },
  );
  const slow = numbers(24).map((number) => get(`/slow/${number}`));
  get('/stored');
  await vi.advanceTimersByTimeAsync(16_000);
  expect(slow.map(({ state }) => state)).toEqual(slow.map(() => 'resolved'));
  expect(timeouts(events)).toBe(0);
  expect(pool.sent).toHaveLength(25);
});

test('one that is aborted while it waits gives up its place in the line', async () => {
  const { pool, get } = setUp(6, () => ({ answerMs: Infinity }));
  for (const number of numbers(6)) get(`/${number}`, { timeout: 5000 });
  const controller = new AbortController();
  const aborted = get('/aborted', { signal: controller.signal });
  const behind = numbers(6).map((number) => get(`/behind/${number}`));
  controller.abort();
  await settled();
  expect(aborted.state).toBe('rejected');
  await vi.advanceTimersByTimeAsync(5000);
  expect(paths(pool)).not.toContain('/aborted');
  await vi.advanceTimersByTimeAsync(9999);
  expect(behind.map(({ state }) => state)).toEqual(behind.map(() => 'pending'));
  await vi.advanceTimersByTimeAsync(1);
  expect(behind.map(({ state }) => state)).toEqual(behind.map(() => 'rejected'));
  expect(vi.getTimerCount()).toBe(0);
});

test('each origin has its own line, and what asks no server is in none', async () => {
  const { get } = setUp(Infinity, () => ({ answerMs: Infinity }));
  for (const number of numbers(6)) get(`/${number}`, { timeout: Infinity });
  const others = [
    'https://other.example/a',
    'data:text/plain,a',
    'blob:http://localhost:3000/a',
  ].map((url) => get(url));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(others.map(({ error }) => error)).toMatchObject(others.map(() => ({ code: 'timeout' })));
});
