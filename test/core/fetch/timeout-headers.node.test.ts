import { createSteadfetch, TimeoutError, retry } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { answer, fakeServer, hang, origin } from './fake-server.ts';
import { fakeTime, observe, settled } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

function hanging() {
  const server = fakeServer(hang);
  const steady = createSteadfetch({ fetch: server.fetch, ...noOrigin });
  return { server, steady };
}

test('by default an attempt has 10 s for its headers, to the millisecond', async () => {
  const { server, steady } = hanging();
  const result = observe(steady.fetch(url));
  await vi.advanceTimersByTimeAsync(9999);
  expect(result.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(result.error).toBeInstanceOf(TimeoutError);
  expect(result.error).toMatchObject({
    name: 'TimeoutError',
    code: 'timeout',
    outcome: { kind: 'timeout', phase: 'headers', processed: 'unknown' },
  });
  expect((result.error as TimeoutError).response).toBeUndefined();
  expect(server.requests[0]?.signal.aborted).toBe(true);
});

test.each([
  ['in milliseconds', 250],
  ['as headersMs', { headersMs: 250, bodyIdleMs: 1 }],
])('the time limit of a call is obeyed, %s', async (_, timeout) => {
  const { steady } = hanging();
  const result = observe(steady.fetch(url, { timeout }));
  await vi.advanceTimersByTimeAsync(249);
  expect(result.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(result.error).toMatchObject({ code: 'timeout', outcome: { phase: 'headers' } });
});

test('the time limit can come from the policy of the instance and of the call', async () => {
  const server = fakeServer(hang);
  const steady = createSteadfetch({ fetch: server.fetch, policy: { timeout: 500 } });
  const byInstance = observe(steady.fetch(url));
  const byCall = observe(steady.fetch(url, { policy: { timeout: 200 } }));
  const byInit = observe(steady.fetch(url, { policy: { timeout: 200 }, timeout: 100 }));
  await vi.advanceTimersByTimeAsync(100);
  expect([byInit.state, byCall.state, byInstance.state]).toEqual([
    'rejected',
    'pending',
    'pending',
  ]);
  await vi.advanceTimersByTimeAsync(100);
  expect([byCall.state, byInstance.state]).toEqual(['rejected', 'pending']);
  await vi.advanceTimersByTimeAsync(300);
  expect(byInstance.state).toBe('rejected');
});

// A timer that is set to 2^31 ms or more fires at once.
test.each([Infinity, 2 ** 31, { headersMs: Infinity, bodyIdleMs: 1 }])(
  'a limit that no timer can hold (%o) is no limit and no timer',
  async (timeout) => {
    const { steady } = hanging();
    const result = observe(steady.fetch(url, { timeout }));
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(2 ** 31);
    expect(result.state).toBe('pending');
  },
);

test('a timeout of undefined is the default', async () => {
  const { steady } = hanging();
  const result = observe(steady.fetch(url, { timeout: undefined }));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(result.error).toMatchObject({ code: 'timeout' });
});

test('its message is for a user, and its cause names the method, the URL without its query, and the limit', async () => {
  const { steady } = hanging();
  const result = observe(steady.fetch(`${url}?token=secret#part`, { timeout: 250 }));
  await vi.advanceTimersByTimeAsync(250);
  expect(result.error).toMatchObject({
    message: 'The server did not answer in time.',
    cause: {
      message: `GET ${url}: no headers within 250 ms; give it a longer \`timeout\` if it is slow by nature.`,
    },
  });
});

test('a time-out is ours whatever fetch rejects with', async () => {
  const rejections: readonly unknown[] = [new TypeError('Failed to fetch'), 'gone', undefined];
  for (const thrown of rejections) {
    const { fetch } = createSteadfetch({
      fetch: (_, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(thrown));
        }),
    });
    const result = observe(fetch(url));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(result.error).toMatchObject({ code: 'timeout', outcome: { phase: 'headers' } });
  }
});

test('an answer in time, however close, is no time-out', async () => {
  const server = fakeServer(async (request) => {
    await new Promise<void>((resolve) => void setTimeout(resolve, 9999));
    return answer(200, 'content')(request);
  });
  const result = observe(createSteadfetch({ fetch: server.fetch }).fetch(url));
  await vi.advanceTimersByTimeAsync(9999);
  expect(result.state).toBe('resolved');
  await settled();
});

test('each attempt has a time limit of its own, twice that of the one before', async () => {
  const { server, steady } = hanging();
  const policy = { backoff: 'none', baseMs: 1000, maxRetries: 2, factor: 1 } as const;
  const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { signal }), policy));
  await vi.advanceTimersByTimeAsync(71_999);
  expect(server.timesMs).toEqual([0, 11_000, 32_000]);
  expect(result.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(result.error).toMatchObject({ code: 'timeout', operation: { attempt: 3 } });
});
