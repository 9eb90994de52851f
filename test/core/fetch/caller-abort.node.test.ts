import {
  createSteadfetch,
  defineIdempotency,
  isSteadfetchError,
  limitConcurrency,
  outcomeOf,
  type SteadfetchEvent,
  retry,
} from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { isTimeUp } from '../../../src/core/operation/errors.ts';
import { bodyReaderEntries, contentType } from './body-readers.ts';
import { answer, fakeServer, hang, origin, streaming } from './fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

/** What people abort with. */
const reasons: readonly (readonly [string, unknown])[] = [
  ['an Error', new Error('the user left')],
  ['a string', 'unmounted'],
  ['nothing', undefined],
  ['null', null],
  ['a number', 0],
  ['a TypeError like that of a broken network', new TypeError('Failed to fetch')],
  ['a TimeoutError of its own', new DOMException('signal timed out', 'TimeoutError')],
];

function abortable() {
  const controller = new AbortController();
  const { signal } = controller;
  return { controller, signal };
}

test.each(reasons)('aborted with %s before the call, nothing is sent', async (_, reason) => {
  const { controller, signal } = abortable();
  const server = fakeServer(answer());
  controller.abort(reason);
  const error = await rejectionOf(createSteadfetch({ fetch: server.fetch }).fetch(url, { signal }));
  expect(error).toBe(signal.reason);
  expect(server.requests).toHaveLength(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('aborted before the call, or while its origin keeps it waiting, it was surely not done', async () => {
  const server = fakeServer(hang, answer());
  const steady = createSteadfetch({
    fetch: server.fetch,
    concurrency: limitConcurrency({ maxInFlight: 1 }),
  });
  const post = { method: 'POST' };
  const early = await rejectionOf(
    steady.fetch(url, { ...post, signal: AbortSignal.abort(new Error('too early')) }),
  );
  expect(outcomeOf(early)).toEqual({ kind: 'aborted', processed: 'no' });
  observe(steady.fetch(url, post));
  const { controller, signal } = abortable();
  const waiting = observe(steady.fetch(url, { ...post, signal }));
  await settled();
  controller.abort();
  await settled();
  expect(outcomeOf(waiting.error)).toEqual({ kind: 'aborted', processed: 'no' });
  expect(server.requests).toHaveLength(1);
});

test('what waits for a place when the instance is disposed of was surely not done', async () => {
  const server = fakeServer(hang);
  const concurrency = limitConcurrency({ maxInFlight: 1 });
  const steady = createSteadfetch({ fetch: server.fetch, concurrency });
  observe(steady.fetch(url));
  const waiting = observe(steady.fetch(url, { method: 'POST' }));
  await settled();
  steady.dispose();
  await settled();
  expect(outcomeOf(waiting.error)).toEqual({ kind: 'aborted', processed: 'no' });
  expect(server.requests).toHaveLength(1);
});

test('a request that is not sent after one that was aborted leaves open what became of that', async () => {
  const { controller, signal } = abortable();
  const steady = createSteadfetch({ fetch: fakeServer(hang).fetch });
  const sent = observe(steady.fetch(url, { method: 'POST', signal }));
  await settled();
  controller.abort();
  await settled();
  expect(await rejectionOf(steady.fetch(url, { method: 'POST', signal }))).toBe(sent.error);
  expect(outcomeOf(sent.error)).toEqual({ kind: 'aborted', processed: 'unknown' });
});

test.each(reasons)(
  'aborted with %s by who hears of its start, it rejects with that',
  async (_, reason) => {
    const { controller, signal } = abortable();
    const steady = createSteadfetch({ fetch: fakeServer(hang).fetch });
    steady.subscribe(({ type }) => {
      if (type === 'request:start') controller.abort(reason);
    });
    const error = await rejectionOf(steady.fetch(url, { signal }));
    expect(error).toBe(signal.reason);
    expect(vi.getTimerCount()).toBe(0);
  },
);

test.each(reasons)(
  'aborted with %s before the headers, it rejects with that',
  async (_, reason) => {
    const { controller, signal } = abortable();
    const server = fakeServer(hang);
    const result = observe(createSteadfetch({ fetch: server.fetch }).fetch(url, { signal }));
    await settled();
    controller.abort(reason);
    await settled();
    expect(result.state).toBe('rejected');
    expect(result.error).toBe(signal.reason);
    expect(server.requests[0]?.signal.reason).toBe(signal.reason);
    expect(vi.getTimerCount()).toBe(0);
  },
);

test.each(reasons)('aborted with %s within the body, it rejects with that', async (_, reason) => {
  const { controller, signal } = abortable();
  const { handler, wire } = streaming();
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const response = await steady.fetch(url, { signal });
  const result = observe(response.text());
  wire.push('{');
  controller.abort(reason);
  await settled();
  expect(result.state).toBe('rejected');
  expect(result.error).toBe(signal.reason);
  expect(vi.getTimerCount()).toBe(0);
});

test.each(bodyReaderEntries)('%s rejects with the reason of the caller', async (_, read) => {
  for (const timeout of [10_000, { headersMs: 1000, bodyIdleMs: 500 }]) {
    const { controller, signal } = abortable();
    const { handler, wire } = streaming({ headers: { 'content-type': contentType } });
    const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
    const result = observe(read(await steady.fetch(url, { signal, timeout })));
    wire.push('{"id"');
    await settled();
    controller.abort('unmounted');
    await settled();
    expect(result).toEqual({ state: 'rejected', error: 'unmounted' });
  }
});

test('a body begun after the abort rejects with the reason', async () => {
  const { controller, signal } = abortable();
  const { handler } = streaming();
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const response = await steady.fetch(url, { signal });
  controller.abort('unmounted');
  expect(await rejectionOf(response.json())).toBe('unmounted');
});

test("a Request's own signal is the caller's signal", async () => {
  for (const isEarly of [true, false]) {
    const { controller, signal } = abortable();
    const server = fakeServer(hang);
    const request = new Request(url, { signal });
    if (isEarly) controller.abort('unmounted');
    const result = observe(createSteadfetch({ fetch: server.fetch }).fetch(request));
    await settled();
    if (!isEarly) controller.abort('unmounted');
    await settled();
    expect(result).toEqual({ state: 'rejected', error: 'unmounted' });
    expect(server.requests).toHaveLength(isEarly ? 0 : 1);
  }
});

test("init.signal takes the place of the Request's own", async () => {
  const own = abortable();
  const other = abortable();
  const server = fakeServer(hang);
  const request = new Request(url, { signal: own.signal });
  const steady = createSteadfetch({ fetch: server.fetch });
  const result = observe(steady.fetch(request, { signal: other.signal }));
  own.controller.abort('not asked');
  await settled();
  expect(result.state).toBe('pending');
  other.controller.abort('unmounted');
  await settled();
  expect(result).toEqual({ state: 'rejected', error: 'unmounted' });
});

test("init.signal of null takes the Request's own away", async () => {
  const own = abortable();
  const server = fakeServer(hang);
  const request = new Request(url, { signal: own.signal });
  const result = observe(
    createSteadfetch({ fetch: server.fetch }).fetch(request, { signal: null }),
  );
  own.controller.abort('not asked');
  await settled();
  expect(result.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(result.error).toMatchObject({ code: 'timeout' });
});

test('whatever fetch makes of the abort, the reason is what is thrown', async () => {
  const { controller, signal } = abortable();
  const { fetch } = createSteadfetch({
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () =>
          reject(new DOMException('Fetch is aborted', 'AbortError')),
        );
      }),
  });
  const result = observe(fetch(url, { signal }));
  const reason = new Error('the user left');
  controller.abort(reason);
  await settled();
  expect(result.error).toBe(reason);
});

test("the caller's own time-out is not ours", async () => {
  const { controller, signal } = abortable();
  const result = observe(
    createSteadfetch({ fetch: fakeServer(hang).fetch }).fetch(url, { signal }),
  );
  controller.abort(new DOMException('signal timed out', 'TimeoutError'));
  await settled();
  expect(isSteadfetchError(result.error)).toBe(false);
  expect(result.error).toBe(signal.reason);
});

test.each(reasons)('aborted with %s for good, nothing more is sent', async (_, reason) => {
  const { controller, signal } = abortable();
  const server = fakeServer(hang);
  const steady = createSteadfetch({ fetch: server.fetch });
  const stops: unknown[] = [];
  steady.subscribe((event: SteadfetchEvent) => {
    if (event.type === 'decision') stops.push(event.decision.reason);
  });
  // The signal is not that of the loop: it must be understood from the request.
  const result = observe(
    retry(steady, () => steady.fetch(url, { signal }), {
      idempotent: true,
      shouldRetry: () => true,
    }),
  );
  await settled();
  controller.abort(reason);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(result.error).toBe(signal.reason);
  expect(server.requests).toHaveLength(1);
  // Another attempt might have another signal; this one has the same, and is the last.
  expect(stops).toEqual([isTimeUp(reason) ? 'timeout' : 'error', 'aborted']);
});

test('an abort after everything is read changes nothing', async () => {
  const { controller, signal } = abortable();
  const steady = createSteadfetch({ fetch: fakeServer(answer(200, 'content')).fetch });
  const response = await steady.fetch(url, { signal });
  const copy = response.clone();
  expect(await response.text()).toBe('content');
  controller.abort();
  expect(await copy.text()).toBe('content');
});

test.each([200, 409])(
  'an abort ends the body of an answer with status %i whose clone was cancelled before',
  async (status) => {
    const { controller, signal } = abortable();
    const { handler, wire } = streaming({ status });
    const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
    const given = await steady.rawFetch(url, { signal });
    const copy = given.clone();
    wire.push('a message');
    const reader = copy.body?.getReader();
    await reader?.read();
    // That of a clone is over when both are cancelled.
    void reader?.cancel();
    const result = observe(given.text());
    await settled();
    expect(result.state).toBe('pending');
    controller.abort('unmounted');
    await settled();
    expect(result.error).toBe('unmounted');
  },
);

test('aborted while a profile is asked whether it was done already, it rejects with its own reason', async () => {
  const { controller, signal } = abortable();
  const idempotency = defineIdempotency({
    header: 'Idempotency-Key',
    alreadyDone: () => new Promise<boolean>(() => {}),
  });
  const { fetch } = createSteadfetch({
    fetch: fakeServer(answer(409)).fetch,
    apis: [{ match: origin, idempotency }],
  });
  const result = observe(fetch(url, { method: 'POST', idempotencyKey: 'k-1', signal }));
  await settled();
  expect(result.state).toBe('pending');
  const reason = new Error('the user left');
  controller.abort(reason);
  await settled();
  expect(result.error).toBe(reason);
  expect(vi.getTimerCount()).toBe(0);
});
