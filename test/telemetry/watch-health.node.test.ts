import { watchHealth } from 'steadfetch/telemetry';
import { beforeEach, expect, test, vi } from 'vitest';
import { answer, hang, origin, refuse } from '../core/fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../core/fetch/observe.ts';
import { open, startedAt, url } from './rig.ts';

beforeEach(fakeTime);

const items = { endpoint: 'GET /items', partition: undefined, downSince: startedAt };

test('before the first request there is no origin', () => {
  const { steady } = open([answer()]);
  expect(watchHealth(steady).getState()).toEqual([]);
});

test('each origin has its status, and its endpoints that are down', async () => {
  const { steady } = open([refuse, refuse, answer()]);
  const health = watchHealth(steady);
  observe(steady.fetch(url));
  observe(steady.fetch(url));
  observe(steady.fetch('https://other.test/'));
  await settled();
  observe(steady.fetch(url));
  await settled();
  const up = { status: 'up', retryAt: undefined, waiting: 0, down: [] };
  expect(health.getState()).toEqual([
    { origin, status: 'down', retryAt: startedAt + 1200, waiting: 1, down: [items] },
    { origin: 'https://other.test', ...up },
  ]);
  await vi.runAllTimersAsync();
  expect(health.getState()).toEqual([
    { origin, ...up },
    { origin: 'https://other.test', ...up },
  ]);
});

test('an endpoint is down while the rest of its origin is up', async () => {
  const { steady } = open([answer(), refuse, refuse]);
  const health = watchHealth(steady);
  observe(steady.fetch(`${origin}/news`));
  await settled();
  observe(steady.fetch(url));
  observe(steady.fetch(url));
  await settled();
  expect(health.getState()).toMatchObject([{ origin, status: 'up', down: [items] }]);
});

test('the state is the same value until something changes, and changes are told', async () => {
  const { steady } = open([refuse, refuse, answer()]);
  const health = watchHealth(steady);
  observe(steady.fetch(url));
  await settled();
  const before = health.getState();
  expect(health.getState()).toBe(before);
  const listener = vi.fn<() => void>();
  const unsubscribe = health.subscribe(listener);
  observe(steady.fetch(url));
  await settled();
  expect(listener).toHaveBeenCalled();
  expect(health.getState()).not.toBe(before);
  unsubscribe();
  listener.mockClear();
  observe(steady.fetch(url));
  await vi.runAllTimersAsync();
  expect(listener).not.toHaveBeenCalled();
});

test('a reset lets go at once what is paused for an outage', async () => {
  const { steady, server } = open([refuse, refuse, answer(200, 'content')]);
  const health = watchHealth(steady);
  observe(steady.fetch(url));
  observe(steady.fetch(url));
  await settled();
  const result = observe(steady.fetch(url).then((response) => response.text()));
  await vi.advanceTimersByTimeAsync(100);
  expect(server.timesMs).toEqual([0, 0]);
  health.reset(`${origin}/any/path`);
  expect(health.getState()).toMatchObject([{ down: [] }]);
  await vi.advanceTimersByTimeAsync(100);
  expect(server.timesMs).toEqual([0, 0, 100]);
  expect(result.value).toBe('content');
});

test('a reset of another origin leaves this one as it is, and one without an origin is of all', async () => {
  const { steady } = open([refuse]);
  const health = watchHealth(steady);
  observe(steady.fetch(url));
  observe(steady.fetch(url));
  await settled();
  health.reset('https://other.test');
  expect(health.getState()).toMatchObject([{ down: [items] }]);
  health.reset();
  expect(health.getState()).toMatchObject([{ down: [] }]);
});

test('what is still down after a reset is down again after two failures', async () => {
  const { steady } = open([refuse]);
  const health = watchHealth(steady);
  for (let count = 0; count < 2; count++) observe(steady.fetch(url));
  await settled();
  health.reset(origin);
  for (let count = 0; count < 2; count++) observe(steady.fetch(url));
  await vi.advanceTimersByTimeAsync(1000);
  expect(health.getState()).toMatchObject([{ down: [{ endpoint: 'GET /items' }] }]);
});

test('a reset does not overrule a Retry-After', async () => {
  const { steady, server } = open([answer(429, null, { 'retry-after': '5' }), answer()]);
  const health = watchHealth(steady);
  observe(steady.fetch(url));
  await settled();
  observe(steady.fetch(url));
  await settled();
  health.reset(origin);
  await vi.advanceTimersByTimeAsync(4999);
  expect(server.timesMs).toEqual([0]);
});

test('a reset of what is no URL is a clear error', () => {
  const { steady } = open([answer()]);
  expect(() => watchHealth(steady).reset('http://')).toThrow(
    new TypeError("health.reset: its argument is 'http://', and must be a URL, or left out."),
  );
});

test('after stop nobody is told any more', async () => {
  const { steady } = open([refuse]);
  const health = watchHealth(steady);
  const listener = vi.fn<() => void>();
  health.subscribe(listener);
  health.stop();
  listener.mockClear();
  observe(steady.fetch(url));
  observe(steady.fetch(url));
  await settled();
  expect(listener).not.toHaveBeenCalled();
});

test('requests and failures are counted by origin and endpoint, without what was aborted', async () => {
  const { steady } = open([answer(), answer(503), hang, answer(404), answer()], { health: false });
  observe(steady.fetch(url));
  await settled();
  const health = watchHealth(steady);
  expect(health.totals()).toEqual([]);
  observe(steady.fetch(`${origin}/items/17`));
  const controller = new AbortController();
  observe(steady.fetch(`${origin}/items/18`, { signal: controller.signal }));
  observe(steady.fetch(url, { method: 'PUT' }));
  observe(steady.fetch('https://other.test/'));
  await settled();
  const before = health.totals();
  controller.abort();
  await settled();
  expect(before).toEqual([
    {
      origin,
      requests: 3,
      failures: 2,
      endpoints: [
        { endpoint: 'GET /items/:id', requests: 2, failures: 1 },
        { endpoint: 'PUT /items', requests: 1, failures: 1 },
      ],
    },
    {
      origin: 'https://other.test',
      requests: 1,
      failures: 0,
      endpoints: [{ endpoint: 'GET /', requests: 1, failures: 0 }],
    },
  ]);
  expect(health.totals()).toEqual(before);
  health.stop();
  await steady.fetch(url);
  expect(health.totals()).toEqual(before);
});

test('of more than 100 endpoints the later ones count for their origin alone', async () => {
  const { steady } = open([answer()]);
  const health = watchHealth(steady);
  for (let count = 0; count < 101; count++)
    observe(steady.fetch(`${origin}/page-of-${'x'.repeat(count)}`));
  await settled();
  const [totals] = health.totals();
  expect([totals?.requests, totals?.endpoints.length]).toEqual([101, 100]);
});
