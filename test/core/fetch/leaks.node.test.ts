import { createSteadfetch, type SteadyInit, retry } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  answer,
  fakeServer,
  hang,
  type Handler,
  origin,
  refuse,
  streaming,
} from './fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from './observe.ts';

const url = `${origin}/items`;

beforeEach(fakeTime);

/** A signal that counts who listens to it. */
function watchedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.delete(args[1]);
    remove(...args);
  };
  return { controller, signal, listeners };
}

function open(handler: Handler, init?: SteadyInit) {
  const watched = watchedSignal();
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
  return { ...watched, steady, promise: steady.fetch(url, { signal: watched.signal, ...init }) };
}

test('an attempt has a timer until its headers, and a listener until its body is read', async () => {
  const { promise, listeners } = open(answer(200, '{}'));
  expect([vi.getTimerCount(), listeners.size]).toEqual([1, 1]);
  const response = await promise;
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 1]);
  await response.json();
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
});

test.each<[string, (response: Response) => Promise<unknown>]>([
  ['a SyntaxError', (response) => rejectionOf(response.json())],
  ['a form that cannot be parsed', (response) => rejectionOf(response.formData())],
  ['cancelling it', async (response) => response.body?.cancel()],
  [
    'leaving it half-way',
    async (response) => {
      for await (const _ of response.body ?? []) break;
    },
  ],
  [
    'reading a clone and the original',
    async (response) => {
      await Promise.all([response.clone().text(), response.text()]);
    },
  ],
])('%s ends timer and listener, too', async (_, read) => {
  for (const timeout of [10_000, { headersMs: 1000, bodyIdleMs: 500 }]) {
    const { promise, listeners } = open(answer(200, 'content'), { timeout });
    await read(await promise);
    await settled();
    expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
  }
});

test.each<[string, Handler, SteadyInit]>([
  ['a 204', answer(204), {}],
  ['a 205', answer(205), {}],
  ['a HEAD', answer(200), { method: 'HEAD' }],
  ['a HEAD answered 503', answer(503), { method: 'HEAD' }],
  ['a 304', answer(304), {}],
  ['a 503 without a body', answer(503), {}],
  ['a network failure', refuse, {}],
  ['a mistake', hang, { body: 'a GET has none' }],
])('%s has no body to wait for: timer and listener are gone at once', async (_, handler, init) => {
  const { promise, listeners } = open(handler, init);
  await promise.catch(() => {});
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
});

test('an HttpError holds nothing once its body is in', async () => {
  const { promise, listeners } = open(answer(503, 'sorry'));
  await rejectionOf(promise);
  await settled();
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
});

test('an HttpError with a large body that is not read lets go of it at the limit of a silence', async () => {
  const { promise, listeners } = open(answer(503, 'x'.repeat(65_537)));
  await rejectionOf(promise);
  await settled();
  expect([vi.getTimerCount(), listeners.size]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
});

test('a time-out before the headers leaves nothing behind', async () => {
  const { promise, listeners } = open(hang);
  const result = observe(promise);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(result.state).toBe('rejected');
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
});

test('a time-out within a body leaves nothing behind', async () => {
  const { promise, listeners } = open(streaming().handler);
  observe((await promise).text());
  await vi.advanceTimersByTimeAsync(10_000);
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
});

test('a body of which each part is read an hour after the last one has no timer in between', async () => {
  const { handler, wire } = streaming();
  const reader = (await open(handler).promise).body?.getReader();
  for (const part of ['a', 'b', 'c']) {
    wire.push(part);
    await reader?.read();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(3_600_000);
  }
  wire.end();
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
});

test('what nobody reads rejects nowhere: a body that breaks, is late, or is aborted', async () => {
  const unhandled = vi.fn<(reason: unknown) => void>();
  process.on('unhandledRejection', unhandled);
  for (const timeout of [10_000, { headersMs: 1000, bodyIdleMs: 500 }]) {
    const broken = streaming();
    const { body } = await open(broken.handler, { timeout }).promise;
    broken.wire.cut(new TypeError('network error'));
    const late = await open(streaming().handler, { timeout }).promise;
    const aborted = open(streaming().handler, { timeout });
    const copy = (await aborted.promise).clone();
    aborted.controller.abort('unmounted');
    await vi.advanceTimersByTimeAsync(10_000);
    expect([body, late.body, copy.body]).not.toContain(null);
  }
  // Node tells of unhandled rejections once all promises have had their turn.
  await new Promise((resolve) => void setImmediate(resolve));
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

test.each<[string, Handler]>([
  ['before the headers', hang],
  ['within the body', streaming().handler],
])("the caller's abort %s leaves no timer", async (_, handler) => {
  const { promise, controller } = open(handler);
  const result = observe(promise.then((response) => response.text()));
  await settled();
  controller.abort('unmounted');
  await settled();
  expect(result.error).toBe('unmounted');
  expect(vi.getTimerCount()).toBe(0);
});

test('retry leaves no timer and no listener on the signal', async () => {
  const { signal, listeners } = watchedSignal();
  const steady = createSteadfetch({ fetch: fakeServer(refuse, answer(503), answer()).fetch });
  const run = (context: { signal: AbortSignal }): Promise<string> =>
    steady.fetch(url, context).then((response) => response.text());
  const result = observe(retry(steady, run, { signal }));
  await vi.runAllTimersAsync();
  expect(result.state).toBe('resolved');
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
});

test('retry aborted in its sleep leaves no timer', async () => {
  const { signal, controller } = watchedSignal();
  const steady = createSteadfetch({ fetch: fakeServer(refuse).fetch, random: () => 0.5 });
  const result = observe(retry(steady, (context) => steady.fetch(url, context), { signal }));
  await vi.advanceTimersByTimeAsync(100);
  controller.abort('unmounted');
  await settled();
  expect(result.error).toBe('unmounted');
  expect(vi.getTimerCount()).toBe(0);
});
