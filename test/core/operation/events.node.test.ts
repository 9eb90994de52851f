import { createSteadfetch, type Steadfetch, type SteadfetchEvent, retry } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import {
  answer,
  fakeServer,
  hang,
  type Handler,
  origin,
  refuse,
  streaming,
} from '../fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;
const startedAt = 1_800_000_000_000;

/** An instance and one line for each of its events: when, what, and what it says. */
function record(...handlers: readonly [Handler, ...Handler[]]) {
  const server = fakeServer(...handlers);
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    ...noOrigin,
  });
  const lines: string[] = [];
  steady.subscribe((event) => {
    const { attempt } = event.operation;
    lines.push([event.at - startedAt, `#${attempt}`, event.type, ...detail(event)].join(' '));
  });
  return { steady, lines };
}

function detail(event: SteadfetchEvent): readonly string[] {
  switch (event.type) {
    case 'request:start':
      return [event.method];
    case 'request:end':
      return [event.outcome.kind];
    case 'decision':
      return [event.decision.kind, event.decision.reason];
    case 'operation:end':
      return [event.result];
    default:
      return [];
  }
}

const retryFetch = (steady: Steadfetch, signal?: AbortSignal): Promise<Response> =>
  retry(steady, (context) => steady.fetch(url, context), { signal });

test('a retried operation tells everything, in order', async () => {
  const { steady, lines } = record(refuse, answer(503), answer());
  observe(retryFetch(steady));
  await vi.runAllTimersAsync();
  expect(lines).toEqual([
    '0 #1 operation:start',
    '0 #1 attempt:start',
    '0 #1 request:start GET',
    '0 #1 request:end network',
    '0 #1 attempt:end',
    '0 #1 decision retry network',
    '500 #2 attempt:start',
    '500 #2 request:start GET',
    '500 #2 request:end http',
    '500 #2 attempt:end',
    '500 #2 decision retry unavailable',
    '1500 #3 attempt:start',
    '1500 #3 request:start GET',
    '1500 #3 request:end ok',
    '1500 #3 attempt:end',
    '1500 #3 operation:end succeeded',
  ]);
});

test('an operation that fails ends after its last decision', async () => {
  const { steady, lines } = record(answer(404));
  observe(retryFetch(steady));
  await settled();
  expect(lines).toEqual([
    '0 #1 operation:start',
    '0 #1 attempt:start',
    '0 #1 request:start GET',
    '0 #1 request:end http',
    '0 #1 attempt:end',
    '0 #1 decision stop not-retryable',
    '0 #1 operation:end failed',
  ]);
});

test('an operation aborted in its sleep ends as cancelled, at that moment', async () => {
  const { steady, lines } = record(refuse);
  const controller = new AbortController();
  observe(retryFetch(steady, controller.signal));
  await vi.advanceTimersByTimeAsync(100);
  controller.abort();
  await settled();
  expect(lines.slice(-2)).toEqual([
    '0 #1 decision retry network',
    '100 #1 operation:end cancelled',
  ]);
});

test('an operation aborted in an attempt ends as cancelled, once, and is silent from then on', async () => {
  const { steady, lines } = record(hang);
  const controller = new AbortController();
  observe(retryFetch(steady, controller.signal));
  await vi.advanceTimersByTimeAsync(100);
  controller.abort();
  await settled();
  expect(lines.filter((line) => !line.includes('decision'))).toEqual([
    '0 #1 operation:start',
    '0 #1 attempt:start',
    '0 #1 request:start GET',
    '100 #1 attempt:end',
    '100 #1 operation:end cancelled',
  ]);
});

test('a lone fetch shows its request, and nothing of an operation', async () => {
  const { steady, lines } = record(answer(), answer(503), refuse);
  for (let call = 0; call < 3; call += 1) observe(steady.fetch(url, { method: 'put' }));
  await settled();
  expect(lines.toSorted()).toEqual([
    '0 #1 request:end http',
    '0 #1 request:end network',
    '0 #1 request:end ok',
    '0 #1 request:start PUT',
    '0 #1 request:start PUT',
    '0 #1 request:start PUT',
  ]);
});

test('a body that fails after good headers ends its request once more', async () => {
  const { handler, wire } = streaming();
  const { steady, lines } = record(handler);
  const response = await steady.fetch(url);
  const result = observe(response.text());
  wire.cut(new TypeError('network error'));
  await settled();
  expect(result.state).toBe('rejected');
  expect(lines).toEqual(['0 #1 request:start GET', '0 #1 request:end ok', '0 #1 request:end body']);
});

test('a body that is not JSON ends its request once more, for what it paused is lost', async () => {
  const { steady, lines } = record(answer(200, '{"id":'));
  observe(steady.json(url));
  await settled();
  expect(lines).toEqual(['0 #1 request:start GET', '0 #1 request:end ok', '0 #1 request:end body']);
});

test('a request that is never sent never starts and never ends', async () => {
  const { steady, lines } = record(answer());
  await steady.fetch(url, { signal: AbortSignal.abort() }).catch(() => {});
  expect(lines).toEqual([]);
});

test('the two events of a request share its number, and no two requests do', async () => {
  const steady = createSteadfetch({ fetch: fakeServer(refuse, answer()).fetch });
  const numbers: Record<string, number[]> = { 'request:start': [], 'request:end': [] };
  steady.subscribe((event) => {
    if ('request' in event) numbers[event.type]?.push(event.request);
  });
  observe(retryFetch(steady));
  await vi.runAllTimersAsync();
  expect(numbers['request:start']).toEqual(numbers['request:end']);
  expect(new Set(numbers['request:start']).size).toBe(2);
});

test('an event names the operation, its URL, its outcome and its error', async () => {
  const steady = createSteadfetch({
    fetch: fakeServer(answer(429, null, { 'retry-after': '90' })).fetch,
  });
  const events: SteadfetchEvent[] = [];
  steady.subscribe((event) => events.push(event));
  const result = observe(retry(steady, (context) => steady.fetch(`${url}?page=2`, context)));
  await settled();
  const failure = { kind: 'http', status: 429, retryAfterMs: 90_000, processed: 'no' };
  const operation = { kind: 'call', startedAt, attempt: 1 };
  expect(events.slice(2)).toMatchObject([
    { type: 'request:start', at: startedAt, operation, method: 'GET', url: `${url}?page=2` },
    { type: 'request:end', operation, url: `${url}?page=2`, outcome: failure },
    { type: 'attempt:end', operation },
    { type: 'decision', operation, failure, decision: { reason: 'retry-after' } },
    { type: 'operation:end', operation },
  ]);
  expect(events[4]).toHaveProperty('error', result.error);
  expect(events[5]).toHaveProperty('error', result.error);
});

test('what a function sends without the signal, once it has awaited, is a request of its own', async () => {
  const steady = createSteadfetch({ fetch: fakeServer(answer()).fetch });
  const ids = new Map<string, number>();
  steady.subscribe((event) => {
    if (event.type === 'request:start') ids.set(event.url, event.operation.id);
    if (event.type === 'operation:start') ids.set('operation', event.operation.id);
  });
  await retry(steady, async ({ signal }) => {
    await steady.fetch(`${origin}/at-once`);
    await steady.fetch(`${origin}/with-signal`, { signal });
    await steady.fetch(`${origin}/without`);
  });
  const id = ids.get('operation');
  expect(ids.get(`${origin}/at-once`)).toBe(id);
  expect(ids.get(`${origin}/with-signal`)).toBe(id);
  expect(ids.get(`${origin}/without`)).not.toBe(id);
});
