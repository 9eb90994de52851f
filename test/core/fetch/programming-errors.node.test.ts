import { createSteadfetch, outcomeOf, type SteadyInit, retry } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { answer, fakeServer, hang, origin, refuse } from './fake-server.ts';
import { fakeTime, observe, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

function usedRequest(): Request {
  const request = new Request(url, { method: 'POST', body: 'content' });
  void request.text();
  return request;
}

function lockedStream(): ReadableStream {
  const stream = new ReadableStream();
  stream.getReader();
  return stream;
}

type Call = readonly [input: RequestInfo | URL, init?: SteadyInit & { duplex?: 'half' }];

/** What fetch itself refuses, whatever the network is like. */
const mistakes: readonly (readonly [string, () => Call])[] = [
  ['a URL that is none', () => ['http://[']],
  ['credentials in the URL', () => ['http://name:secret@localhost:3000/items']],
  ['a GET with a body', () => [url, { body: 'content' }]],
  ['a GET with an empty body', () => [url, { body: '' }]],
  [
    'a Request with a body, made a GET',
    () => [new Request(url, { method: 'POST', body: 'content' }), { method: 'GET' }],
  ],
  ['a HEAD with a body', () => [url, { method: 'HEAD', body: 'content' }]],
  ['a GET with a stream as its body', () => [url, { body: new ReadableStream(), duplex: 'half' }]],
  ['a method that is no token', () => [url, { method: 'GET /' }]],
  ['a method that fetch forbids', () => [url, { method: 'TRACE' }]],
  ['a header name that is none', () => [url, { headers: { 'no header': '1' } }]],
  ['a header value with a line break', () => [url, { headers: { 'x-own': 'a\nb' } }]],
  ['an unknown mode', () => [url, { mode: 'navigate' }]],
  ['a Request whose body is used', () => [usedRequest()]],
  ['a used Request, with new headers', () => [usedRequest(), { headers: { 'x-own': '1' } }]],
  ['a stream that is locked', () => [url, { method: 'PUT', body: lockedStream(), duplex: 'half' }]],
  ['a stream without duplex', () => [url, { method: 'PUT', body: new ReadableStream() }]],
];

test.each(mistakes)('%s stays the TypeError of fetch', async (_, call) => {
  const thrown: unknown[] = [];
  const server = fakeServer(answer());
  const steady = createSteadfetch({
    fetch: (input, init) =>
      server.fetch(input, init).catch((error: unknown) => {
        thrown.push(error);
        throw error;
      }),
  });
  const error = await rejectionOf(steady.fetch(...call()));
  expect(error).toBeInstanceOf(TypeError);
  expect(thrown).toEqual([error]);
  expect(error).toBe(thrown[0]);
  expect(server.requests).toHaveLength(0);
  expect(vi.getTimerCount()).toBe(0);
});

test.each(mistakes)('%s is not retried, even by a policy that retries all', async (_, call) => {
  const server = fakeServer(answer());
  const steady = createSteadfetch({ fetch: server.fetch });
  const run = vi.fn<() => Promise<Response>>(() => steady.fetch(...call()));
  const result = observe(retry(steady, run, { idempotent: true, shouldRetry: () => true }));
  await vi.runAllTimersAsync();
  expect(result.error).toBeInstanceOf(TypeError);
  expect(run).toHaveBeenCalledTimes(1);
});

/** Unusual, and nothing wrong with it: when the network fails it is the network. */
const unusual: readonly (readonly [string, () => Call])[] = [
  [
    'a Request with a method, and a body of init',
    () => [new Request(url, { method: 'POST' }), { body: 'content' }],
  ],
  ['a used Request whose body init replaces', () => [usedRequest(), { body: 'content' }]],
  [
    'a Request with a body, of another method',
    () => [new Request(url, { method: 'POST', body: 'content' }), { method: 'PUT' }],
  ],
  [
    'a stream as the body',
    () => [url, { method: 'PUT', body: new Response('content').body, duplex: 'half' }],
  ],
  ['a body of null', () => [url, { body: null }]],
  ['a FormData', () => [url, { method: 'POST', body: new FormData() }]],
  ['a method in lower case', () => [url, { method: 'put', body: 'content' }]],
  ['a method of its own', () => [url, { method: 'QUERY', body: 'content' }]],
];

test.each(unusual)('%s is no mistake: a failing network is a NetworkError', async (_, call) => {
  const steady = createSteadfetch({ fetch: fakeServer(refuse).fetch });
  expect(await rejectionOf(steady.fetch(...call()))).toMatchObject({ code: 'network' });
});

test.each(unusual)('%s is no mistake: a server that hangs is a TimeoutError', async (_, call) => {
  const policy = { uploadBytesPerSecond: Infinity };
  const steady = createSteadfetch({ fetch: fakeServer(hang).fetch, policy });
  const result = observe(steady.fetch(...call()));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(result.error).toMatchObject({ code: 'timeout' });
});

/** What Steadfetch itself refuses, before anything is begun. */
const refusals: readonly (readonly [string, object])[] = [
  ['a time limit that is no number', { timeout: NaN }],
  ['a policy with an option that there is not', { policy: { retries: 3 } }],
  ['an option that is misspelt', { idempotencyKeys: 'k-1' }],
  ['an expectation that there is not', { expect: 'xml' }],
  ['a signal that is none', { signal: {} }],
];

test.each(refusals)(
  '%s is refused before anything is sent, so nothing was done',
  async (_, init) => {
    const server = fakeServer(answer());
    const steady = createSteadfetch({ fetch: server.fetch });
    const error = await rejectionOf(steady.fetch(url, { method: 'POST', ...init }));
    expect(error).toBeInstanceOf(TypeError);
    expect(outcomeOf(error)).toEqual({ kind: 'invalid', processed: 'no' });
    const looped = await rejectionOf(
      retry(steady, () => steady.fetch(url, init), { shouldRetry: () => true }),
    );
    expect(outcomeOf(looped)).toEqual({ kind: 'invalid', processed: 'no' });
    expect(server.requests).toHaveLength(0);
  },
);
