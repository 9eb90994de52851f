import {
  createSteadfetch,
  isNetworkError,
  isUnexpectedContentError,
  outcomeOf,
  retry,
  type SteadfetchEvent,
} from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { answer, fakeServer, type Handler, origin, refuse } from './fake-server.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

function rig(...handlers: readonly [Handler, ...Handler[]]) {
  const server = fakeServer(...handlers);
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
  const events: SteadfetchEvent[] = [];
  steady.subscribe((event) => void events.push(event));
  return { server, steady, events };
}

const url = `${origin}/a`;

test.each([404, 429, 500, 503])('a %i resolves, and its body is read as ever', async (status) => {
  const { steady } = rig(answer(status, 'too bad'));
  const response = await steady.rawFetch(url);
  expect(response.status).toBe(status);
  expect(response).toBeInstanceOf(Response);
  expect(await response.text()).toBe('too bad');
});

test('no answer rejects with a NetworkError', async () => {
  const { steady } = rig(refuse);
  const result = observe(steady.rawFetch(url));
  await vi.runAllTimersAsync();
  expect(isNetworkError(result.error)).toBe(true);
});

test('an answer that is not what its API answers with rejects: no client may take it for data', async () => {
  const server = fakeServer(answer(200, '<html>', { 'content-type': 'text/html' }));
  const steady = createSteadfetch({ fetch: server.fetch, apis: [{ match: url, expect: 'json' }] });
  const result = observe(steady.rawFetch(url));
  await vi.runAllTimersAsync();
  expect(isUnexpectedContentError(result.error)).toBe(true);
});

test('a listener hears of the status as with steady.fetch', async () => {
  const { steady, events } = rig(answer(503, null, { 'retry-after': '2' }));
  await steady.rawFetch(url);
  expect(events.flatMap((event) => (event.type === 'request:end' ? [event.outcome] : []))).toEqual([
    { kind: 'http', status: 503, retryAfterMs: 2000, inProgress: false, processed: 'unknown' },
  ]);
});

test('its failures count for the health of the endpoint: the third request waits', async () => {
  const { steady, server } = rig(answer(503));
  await steady.rawFetch(url);
  await steady.rawFetch(url);
  const paused = observe(steady.rawFetch(url));
  await vi.advanceTimersByTimeAsync(0);
  expect(server.requests).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(paused.state).not.toBe('pending');
});

/** What clients make of a 503: an error of their own, of which they may know the answer or not. */
const wrappings: readonly (readonly [string, (response: Response) => unknown])[] = [
  ['the Response itself', (response) => response],
  ['`response`', (response) => Object.assign(new Error('503'), { response })],
  ['a clone', (response) => Object.assign(new Error('503'), { response: response.clone() })],
  ['a cause', (response) => new Error('x', { cause: new Error('y', { cause: response }) })],
  ['`networkError`', (response) => Object.assign(new Error('x'), { networkError: { response } })],
  ['a status', ({ status }) => Object.assign(new Error('503'), { status })],
  ['a plain object with a status', ({ status }) => ({ status, message: '503' })],
  ['nothing but a text', () => new Error('it did not work')],
  ['no object', () => 'no'],
];

describe.each(wrappings)('an error that says of the answer %s', (_, wrap) => {
  const headers = { 'retry-after': '20' };

  test('obeys its Retry-After, and goes on', async () => {
    const { steady, server } = rig(answer(503, null, headers), answer(200, 'fine'));
    const result = observe(
      retry(steady, async ({ signal }) => {
        const response = await steady.rawFetch(url, { signal });
        if (!response.ok) throw wrap(response);
        return response.text();
      }),
    );
    await vi.runAllTimersAsync();
    expect(result.value).toBe('fine');
    expect(server.timesMs).toEqual([0, 21_000]);
  });

  test('of a 404 is not retried', async () => {
    const { steady, server } = rig(answer(404));
    const result = observe(
      retry(steady, async ({ signal }) => {
        throw wrap(await steady.rawFetch(url, { signal }));
      }),
    );
    await vi.runAllTimersAsync();
    expect(result.state).toBe('rejected');
    expect(server.requests).toHaveLength(1);
  });

  test('of a POST is not retried: it may have been done', async () => {
    const { steady, server } = rig(answer(503));
    observe(
      retry(steady, async ({ signal }) => {
        throw wrap(await steady.rawFetch(url, { method: 'POST', signal }));
      }),
    );
    await vi.runAllTimersAsync();
    expect(server.requests).toHaveLength(1);
  });
});

test('outcomeOf knows the status behind an error which does not say it', async () => {
  const { steady } = rig(answer(404));
  const error = new Error('not found');
  const result = observe(
    retry(steady, async ({ signal }) => {
      await steady.rawFetch(url, { signal });
      throw error;
    }),
  );
  await vi.runAllTimersAsync();
  expect(result.error).toBe(error);
  expect(outcomeOf(error)).toMatchObject({ kind: 'http', status: 404, processed: 'no' });
});

test('an error after a good answer is not that of the request before it', async () => {
  const { steady, server } = rig(answer(404), answer(200, 'fine'));
  observe(
    retry(
      steady,
      async ({ signal }) => {
        await steady.rawFetch(url, { signal });
        await steady.rawFetch(`${url}/b`, { signal });
        throw new Error('a mistake in what comes after');
      },
      { idempotent: true, maxRetries: 1 },
    ),
  );
  await vi.runAllTimersAsync();
  expect(server.requests).toHaveLength(4);
});

test('a client that gives up by a time limit of its own is not taken for a caller that aborts', async () => {
  const { steady, server } = rig(() => new Promise(() => {}));
  observe(
    retry(
      steady,
      async ({ signal }) => {
        const own = new AbortController();
        const sent = steady.rawFetch(url, { signal: AbortSignal.any([signal, own.signal]) });
        own.abort();
        await sent.catch(() => {});
        throw new Error('the client timed out');
      },
      { idempotent: true, maxRetries: 2 },
    ),
  );
  await vi.runAllTimersAsync();
  expect(server.requests).toHaveLength(3);
});
