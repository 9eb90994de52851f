import { createSteadfetch } from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeServer, origin, streaming } from './fake-server.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

function open(type: string, config = {}, headers = {}) {
  const { handler, wire } = streaming({ headers: { 'content-type': type, ...headers } });
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch, ...config });
  return { steady, wire, url: `${origin}/events` };
}

test.each([
  'text/event-stream',
  'text/event-stream; charset=utf-8',
  'Text/Event-Stream',
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
  'application/json-seq',
  'application/stream+json',
  'application/x-ndjson; charset=utf-8',
  'text/x-ndjson',
  'text/jsonl',
  'application/x-ldjson',
  'application/x-json-stream',
  'application/geo+json-seq',
  'application/vnd.amazon.eventstream',
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf; stream=watch',
  'multipart/mixed; boundary="-"',
  'multipart/x-mixed-replace; boundary=frame',
  'application/connect+json',
  'application/connect+proto',
  'application/grpc-web+proto',
  'application/grpc-web-text',
])('a stream of type %s may be quiet for an hour', async (type) => {
  for (const via of ['fetch', 'rawFetch'] as const) {
    const { steady, wire, url } = open(type);
    const reader = (await steady[via](url)).body?.getReader();
    const first = observe(reader?.read() ?? Promise.reject(new Error('no body')));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(first.state).toBe('pending');
    wire.push('data: 1\n\n');
    await vi.advanceTimersByTimeAsync(0);
    expect(first.state).toBe('resolved');
  }
});

test.each<[string, string, RequestInit]>([
  [
    'tRPC, by a plain object',
    'application/json',
    { headers: { 'trpc-accept': 'application/jsonl' } },
  ],
  [
    'tRPC, by Headers',
    'application/json',
    { headers: new Headers({ 'trpc-accept': 'application/jsonl' }) },
  ],
  ['a client of events', 'application/json', { headers: { Accept: 'text/event-stream' } }],
])('what %s asks for as a stream may be quiet, whatever its type', async (_, type, init) => {
  for (const asRequest of [false, true]) {
    const { steady, wire, url } = open(type);
    const sent = asRequest ? steady.rawFetch(new Request(url, init)) : steady.rawFetch(url, init);
    const text = observe((await sent).text());
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(text.state).toBe('pending');
    wire.push('{}');
    wire.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(text.value).toBe('{}');
  }
});

test.each(['application/json, text/event-stream', 'text/event-stream, application/json', '*/*'])(
  'an answer to "Accept: %s" may be anything, and is a stream by its type only',
  async (accept) => {
    const { steady, url } = open('application/json');
    const text = observe((await steady.rawFetch(url, { headers: { accept } })).text());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(text).toMatchObject({ state: 'rejected', error: { code: 'timeout' } });
  },
);

describe('a text of unknown length, as AI SDKs stream it,', () => {
  test('may be quiet while it is read part by part', async () => {
    const { steady, wire, url } = open('text/plain; charset=utf-8');
    const reader = (await steady.rawFetch(url)).body?.getReader();
    const first = observe(reader?.read() ?? Promise.reject(new Error('no body')));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(first.state).toBe('pending');
    wire.push('Thinking is over.');
    await vi.advanceTimersByTimeAsync(0);
    expect(first.state).toBe('resolved');
  });

  test.each([
    ['whose length is known', { headers: { 'content-length': '9' } }, {}],
    [
      'with a limit of the app',
      {},
      { policy: { timeout: { headersMs: 10_000, bodyIdleMs: 10_000 } } },
    ],
  ])('%s, may not', async (_, { headers }: { headers?: object }, config) => {
    const { steady, url } = open('text/plain', config, headers);
    const reader = (await steady.rawFetch(url)).body?.getReader();
    const first = observe(reader?.read() ?? Promise.reject(new Error('no body')));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(first).toMatchObject({ state: 'rejected', error: { code: 'timeout' } });
  });
});

test.each(['application/json', 'text/plain', 'application/pdf', 'text/html', ''])(
  'any other body, of type "%s", is not',
  async (type) => {
    const { steady, url } = open(type);
    const text = observe((await steady.fetch(url)).text());
    await vi.advanceTimersByTimeAsync(9999);
    expect(text.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(text).toMatchObject({ state: 'rejected', error: { code: 'timeout' } });
  },
);

test('a limit for silence in a body that the app has given holds for streams, too', async () => {
  const { steady, url } = open('text/event-stream', {
    policy: { timeout: { headersMs: 10_000, bodyIdleMs: 30_000 } },
  });
  const text = observe((await steady.fetch(url)).text());
  await vi.advanceTimersByTimeAsync(29_999);
  expect(text.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(text).toMatchObject({ state: 'rejected', error: { code: 'timeout' } });
});
