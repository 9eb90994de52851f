import { createSteadfetch } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeServer, origin, streaming } from './fake-server.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

function open(type: string, config = {}) {
  const { handler, wire } = streaming({ headers: { 'content-type': type } });
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
