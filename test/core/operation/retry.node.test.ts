import {
  createSteadfetch,
  outcomeOf,
  type PolicyOptions,
  refreshOn401,
  type RetryOptions,
  type Steadfetch,
  retry,
} from 'steadfetch';
import { beforeEach, expect, expectTypeOf, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import {
  answer,
  type FakeServer,
  fakeServer,
  type Handler,
  origin,
  refuse,
} from '../fetch/fake-server.ts';
import { fakeTime, observe, type Observed, rejectionOf, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

interface Run {
  readonly steady: Steadfetch;
  readonly server: FakeServer;
  readonly result: Observed;
}

/** retry around steady.fetch, with jitter in the middle: 500, 1000, 2000 ms, ... */
function run(
  handlers: readonly [Handler, ...Handler[]],
  options?: RetryOptions,
  policy?: PolicyOptions,
): Run {
  const server = fakeServer(...handlers);
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    policy,
    ...noOrigin,
  });
  const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { signal }), options));
  return { steady, server, result };
}

test('it resolves with what the function returns, and types it', async () => {
  const steady = createSteadfetch();
  const value = await retry(steady, () => 'now');
  expectTypeOf(value).toBeString();
  expect(value).toBe('now');
  expect(await retry(steady, async () => 42)).toBe(42);
  expect(await retry(steady, () => undefined)).toBeUndefined();
});

test('it retries until an attempt succeeds, after the delays of the policy', async () => {
  const { server, result } = run([refuse, answer(503), answer(500), answer(200, 'content')]);
  await vi.advanceTimersByTimeAsync(3499);
  expect(server.timesMs).toEqual([0, 500, 1500]);
  await vi.advanceTimersByTimeAsync(1);
  expect(server.timesMs).toEqual([0, 500, 1500, 3500]);
  expect(await (result.value as Response).text()).toBe('content');
});

test('after maxRetries it rejects with the last error, as it was thrown', async () => {
  const { server, result } = run([refuse, refuse, refuse, answer(503)]);
  await vi.runAllTimersAsync();
  expect(server.timesMs).toEqual([0, 500, 1500, 3500]);
  expect(result.error).toMatchObject({
    status: 503,
    decision: { kind: 'stop', reason: 'max-retries' },
    operation: { kind: 'call', attempt: 4, startedAt: 1_800_000_000_000 },
  });
});

test('its options are laid over the policy of the instance, and the call over both', async () => {
  const byInstance = run([refuse], undefined, { maxRetries: 1 });
  const byLoop = run([refuse], { maxRetries: 2 }, { maxRetries: 1 });
  await vi.runAllTimersAsync();
  expect(byInstance.server.requests).toHaveLength(2);
  expect(byLoop.server.requests).toHaveLength(3);

  const server = fakeServer(refuse);
  const steady = createSteadfetch({ fetch: server.fetch });
  const result = observe(
    retry(steady, ({ signal }) => steady.fetch(url, { signal, policy: { maxRetries: 0 } }), {
      maxRetries: 2,
    }),
  );
  await vi.runAllTimersAsync();
  expect(result.state).toBe('rejected');
  expect(server.requests).toHaveLength(1);
});

test('a wrong option is refused before the function runs', async () => {
  const steady = createSteadfetch();
  const fn = vi.fn<() => void>();
  const error = await rejectionOf(retry(steady, fn, { maxRetries: -1 }));
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toHaveProperty('message', expect.stringContaining('retry: maxRetries is -1'));
  expect(fn).not.toHaveBeenCalled();
});

test('the function is told the attempt, counted from 1, and a signal, which is aborted when the attempt has failed and another follows', async () => {
  const steady = createSteadfetch({ fetch: fakeServer(refuse).fetch, ...noOrigin });
  const seen: { attempt: number; signal: AbortSignal }[] = [];
  const result = observe(
    retry(steady, (context) => {
      seen.push(context);
      return steady.fetch(url, context);
    }),
  );
  await vi.runAllTimersAsync();
  expect(result.state).toBe('rejected');
  expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  expect(seen.map(({ signal }) => signal.aborted)).toEqual([true, true, true, false]);
});

test('a function that throws at once is no different from one that rejects', async () => {
  const steady = createSteadfetch();
  const cause = new Error('no');
  const fn = vi.fn<() => never>(() => {
    throw cause;
  });
  const result = observe(retry(steady, fn, { idempotent: true }));
  await vi.runAllTimersAsync();
  expect(result.error).toBe(cause);
  expect(fn).toHaveBeenCalledTimes(4);
});

test('when the next wait would pass the deadline it stops at once, with the error as it was', async () => {
  // The second wait would end at 1500 ms.
  const { server, result } = run([refuse], { deadlineMs: 1499 });
  await vi.advanceTimersByTimeAsync(500);
  expect(server.timesMs).toEqual([0, 500]);
  expect(result.error).toMatchObject({
    code: 'network',
    decision: { kind: 'stop', reason: 'deadline' },
    operation: { attempt: 2 },
  });
  expect(vi.getTimerCount()).toBe(0);
});

test('a wait that ends exactly at the deadline is taken', async () => {
  const { server, result } = run([refuse, refuse, answer()], { deadlineMs: 1500 });
  await vi.advanceTimersByTimeAsync(1500);
  expect(server.timesMs).toEqual([0, 500, 1500]);
  expect(result.state).toBe('resolved');
});

test('the time that the attempts themselves take counts for the deadline', async () => {
  const slow: Handler = async (request) => {
    await new Promise<void>((resolve) => void setTimeout(resolve, 4000));
    return answer(503)(request);
  };
  // The first attempt ends at 4000 ms, the second at 8500 ms, and 9500 ms would be too late.
  const { server, result } = run([slow], { deadlineMs: 9000 });
  await vi.advanceTimersByTimeAsync(8500);
  expect(server.timesMs).toEqual([0, 4500]);
  expect(result.error).toMatchObject({ decision: { reason: 'deadline' } });
});

test('a Retry-After is waited for, with up to a tenth on top, and never less', async () => {
  const { server, result } = run([answer(429, null, { 'retry-after': '20' }), answer()]);
  await vi.advanceTimersByTimeAsync(20_999);
  expect(server.timesMs).toEqual([0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(server.timesMs).toEqual([0, 21_000]);
  expect(result.state).toBe('resolved');
});

test('a wait beyond what one timer can hold is refused as an option', async () => {
  const steady = createSteadfetch();
  const error = await rejectionOf(retry(steady, () => 1, { baseMs: 2 ** 31, capMs: 2 ** 31 }));
  expect(error).toBeInstanceOf(TypeError);
});

test('a body read inside the function is part of the attempt', async () => {
  const cut: Handler = () =>
    new Response(new ReadableStream({ start: (its) => its.error(new TypeError('cut')) }));
  const server = fakeServer(cut, answer(200, '{"id":1}'));
  const steady = createSteadfetch({ fetch: server.fetch });
  const result = observe(retry(steady, ({ signal }) => steady.json(url, { signal })));
  await vi.runAllTimersAsync();
  expect(result.value).toEqual({ id: 1 });
  expect(server.requests).toHaveLength(2);
});

test('a POST is not sent again when it may have been done', async () => {
  const server = fakeServer(refuse);
  const steady = createSteadfetch({ fetch: server.fetch });
  const result = observe(
    retry(steady, ({ signal }) => steady.fetch(url, { method: 'POST', signal })),
  );
  await vi.runAllTimersAsync();
  expect(result.error).toMatchObject({ decision: { kind: 'stop', reason: 'not-idempotent' } });
  expect(server.requests).toHaveLength(1);
});

test('what it ends in says of all attempts whether it was done: a refusal proves nothing of those before', async () => {
  const put = async (...handlers: readonly [Handler, ...Handler[]]) => {
    const steady = createSteadfetch({ fetch: fakeServer(...handlers).fetch, random: () => 0.5 });
    const result = observe(
      retry(steady, ({ signal }) => steady.fetch(url, { method: 'PUT', body: 'v2', signal })),
    );
    await vi.runAllTimersAsync();
    return result.error;
  };
  // It was done at once, so that `If-Match` refuses it the second time.
  const lost = await put(refuse, answer(412));
  expect(lost).toMatchObject({ status: 412, outcome: { processed: 'unknown' } });
  expect(outcomeOf(lost)).toMatchObject({ processed: 'unknown' });
  expect(await put(answer(429), answer(412))).toMatchObject({ outcome: { processed: 'no' } });
  expect(await put(answer(412))).toMatchObject({ outcome: { processed: 'no' } });
});

test('what it has done by a POST without a key is not done again because a later request fails', async () => {
  const server = fakeServer(answer(201), answer(503));
  const steady = createSteadfetch({ fetch: server.fetch, ...noOrigin });
  const result = observe(
    retry(steady, async ({ signal }) => {
      await steady.fetch(url, { method: 'POST', signal });
      return steady.fetch(url, { signal });
    }),
  );
  await vi.advanceTimersByTimeAsync(90_000);
  expect(server.timesMs).toEqual([0, 0]);
  expect(outcomeOf(result.error)).toMatchObject({ status: 503, processed: 'unknown' });
});

test.each([{ idempotent: true }, {}])(
  'it is where that may be repeated: %j',
  async (options: RetryOptions) => {
    const server = fakeServer(answer(201), answer(503), answer(200));
    const apis = options.idempotent ? [] : [{ match: origin, idempotent: true }];
    const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, apis, ...noOrigin });
    const result = observe(
      retry(
        steady,
        async ({ signal }) => {
          await steady.fetch(url, { method: 'POST', signal });
          return steady.fetch(url, { signal });
        },
        options,
      ),
    );
    await vi.advanceTimersByTimeAsync(90_000);
    expect(server.timesMs).toEqual([0, 0, 500, 500]);
    expect(result.error).toBeUndefined();
  },
);

test('dispose ends its wait, also while a request of the attempt that is over is paused', async () => {
  const server = fakeServer((request) =>
    request.url.endsWith('/limited')
      ? new Response(null, { status: 429, headers: { 'retry-after': '30' } })
      : new Response(null, { status: 503 }),
  );
  const signIn = async (): Promise<HeadersInit> => {
    await new Promise((done) => setTimeout(done, 60));
    return { authorization: 'Bearer 1' };
  };
  const limited = 'https://limited.test/limited';
  const auth = refreshOn401({ headers: signIn, refresh: () => {} });
  const apis = [{ match: 'https://limited.test', auth }];
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, apis, ...noOrigin });
  const first = observe(steady.fetch(limited));
  await vi.advanceTimersByTimeAsync(60);
  expect(first.state).toBe('rejected');
  const result = observe(
    retry(steady, () => Promise.all([steady.fetch(url), steady.fetch(limited)])),
  );
  await vi.advanceTimersByTimeAsync(100);
  expect([result.state, server.requests.length]).toEqual(['pending', 2]);
  steady.dispose();
  await settled();
  expect(outcomeOf(result.error)).toMatchObject({ status: 503 });
  await vi.advanceTimersByTimeAsync(90_000);
  expect(server.requests).toHaveLength(2);
});

test('what disposes while it is told of a failure ends it at once, without a wait', async () => {
  const server = fakeServer(answer(503));
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...noOrigin });
  const result = observe(
    retry(steady, ({ signal }) => {
      signal.addEventListener('abort', () => steady.dispose());
      return steady.fetch(url, { signal });
    }),
  );
  await settled();
  expect(outcomeOf(result.error)).toMatchObject({ status: 503 });
  await vi.advanceTimersByTimeAsync(90_000);
  expect(server.timesMs).toEqual([0]);
});
