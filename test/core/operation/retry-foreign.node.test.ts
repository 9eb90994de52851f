import {
  createSteadfetch,
  isSteadfetchError,
  outcomeOf,
  type RetryOptions,
  retry,
  type SteadyInit,
} from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeTime, observe, rejectionOf } from '../fetch/observe.ts';

beforeEach(fakeTime);

/** How often a function that always throws this is run, and how long it takes until it ends. */
async function attemptsAt(thrown: unknown, options?: RetryOptions) {
  const steady = createSteadfetch({ random: () => 0.5 });
  const fn = vi.fn<() => Promise<never>>(() => Promise.reject(thrown));
  const startedAt = Date.now();
  const result = observe(retry(steady, fn, options));
  await vi.runAllTimersAsync();
  expect(result.state).toBe('rejected');
  expect(result.error).toBe(thrown);
  return { attempts: fn.mock.calls.length, tookMs: Date.now() - startedAt };
}

const unknown: readonly (readonly [string, unknown])[] = [
  ['an Error', new Error('it did not work')],
  ['a TypeError', new TypeError('x is not a function')],
  ['a string', 'no'],
  ['undefined', undefined],
  ['null', null],
  ['a frozen object', Object.freeze({})],
  ['an AbortError that nobody asked for', new DOMException('aborted', 'AbortError')],
];

test.each(unknown)('%s might have been a POST: it is not retried', async (_, thrown) => {
  expect((await attemptsAt(thrown)).attempts).toBe(1);
});

test.each(unknown)('%s is retried by the policy when all is idempotent', async (_, thrown) => {
  expect(await attemptsAt(thrown, { idempotent: true })).toEqual({ attempts: 4, tookMs: 3500 });
});

test('the same Error object, thrown each time, ends after maxRetries', async () => {
  const shared = new Error('made once');
  expect((await attemptsAt(shared, { idempotent: true, maxRetries: 2 })).attempts).toBe(3);
});

test('an error of ours of an operation before is decided on anew', async () => {
  const steady = createSteadfetch({ fetch: () => Promise.reject(new TypeError('refused')) });
  const old = observe(steady.fetch('http://localhost:3000/'));
  await vi.runAllTimersAsync();
  expect(isSteadfetchError(old.error)).toBe(true);
  const fn = vi.fn<() => Promise<never>>(() => Promise.reject(old.error));
  const result = observe(retry(steady, fn));
  await vi.runAllTimersAsync();
  expect(result.error).toBe(old.error);
  expect(fn).toHaveBeenCalledTimes(4);
});

const headers = new Headers({ 'retry-after': '20' });

test.each<[string, unknown]>([
  ['a thrown Response', new Response(null, { status: 503, headers })],
  [
    'an error with a Response (ky, ofetch)',
    { response: new Response(null, { status: 503, headers }) },
  ],
  [
    'an error with plain headers (axios)',
    {
      response: { status: 503, headers: { 'retry-after': '20' } },
      config: { method: 'post' },
    },
  ],
  [
    'an error with plain headers as the server wrote them (Capacitor)',
    {
      status: 503,
      headers: { 'Retry-After': '20' },
    },
  ],
])('%s says its status and its Retry-After', async (_, thrown) => {
  const options = { idempotent: true, maxRetries: 1 };
  expect(await attemptsAt(thrown, options)).toEqual({ attempts: 2, tookMs: 21_000 });
});

class ApiError extends Error {}

/** What interceptors and house styles make of an answer. */
const rewritten: readonly (readonly [string, (status: number, of: Headers) => unknown])[] = [
  ['{ status, message }', (status) => ({ status, message: 'no' })],
  ['{ statusCode }', (statusCode) => ({ statusCode })],
  ['{ status, headers }', (status, of) => ({ status, headers: of })],
  ['a cause', (status) => new Error('no', { cause: { response: { status, headers: {} } } })],
  ['an error of a house with a cause', (status) => new ApiError('no', { cause: { status } })],
  [
    'causes within causes',
    (status, of) => {
      const response = new Response(null, { status, headers: of });
      return new ApiError('no', { cause: new Error('in between', { cause: response }) });
    },
  ],
  ['networkError', (statusCode) => ({ networkError: { statusCode } })],
  ['meta.response', (status) => ({ meta: { response: new Response(null, { status }) } })],
  [
    'context (a function of supabase-js)',
    (status) => ({ context: new Response(null, { status }) }),
  ],
  [
    'data.httpStatus beside a 207 (a batch of tRPC)',
    (httpStatus) => ({
      data: { httpStatus },
      meta: { response: new Response(null, { status: 207 }) },
    }),
  ],
  ['{ status: "error", statusCode } (JSend)', (statusCode) => ({ status: 'error', statusCode })],
  ['{ status: false, statusCode }', (statusCode) => ({ status: false, statusCode })],
  ['a status beside the code of a time-out', (status) => ({ status, code: 'ETIMEDOUT' })],
  ['{ status: "404" } (JSON:API)', (status) => ({ status: `${status}` })],
];

test.each(rewritten)('%s: a 404 is not retried, and a 503 is', async (_, make) => {
  const options = { idempotent: true, maxRetries: 1 };
  expect((await attemptsAt(make(404, headers), options)).attempts).toBe(1);
  expect((await attemptsAt(make(503, headers), options)).attempts).toBe(2);
});

test.each<[string, SteadyInit, number]>([
  ['a GET', {}, 4],
  ['a POST, which may have been done', { method: 'POST' }, 1],
])(
  'an error with one of ours as its cause says all that ours says: %s',
  async (_, init, attempts) => {
    const transport = vi.fn<() => Promise<Response>>(
      async () => new Response(null, { status: 503 }),
    );
    const steady = createSteadfetch({ fetch: transport, health: false, random: () => 0.5 });
    let thrown: unknown;
    const result = observe(
      retry(steady, async ({ signal }) => {
        try {
          await steady.fetch('http://localhost:3000/', { ...init, signal });
        } catch (cause) {
          throw (thrown = new ApiError('It did not work.', { cause }));
        }
      }),
    );
    await vi.runAllTimersAsync();
    expect(result.error).toBe(thrown);
    expect(transport).toHaveBeenCalledTimes(attempts);
    expect(outcomeOf(thrown)).toMatchObject({ kind: 'http', status: 503, processed: 'unknown' });
  },
);

test.each([
  ['ERR_NETWORK', 4],
  ['ECONNABORTED', 4],
  ['ETIMEDOUT', 4],
  // Not by the signal of the loop, which ends it without a question.
  ['ERR_CANCELED', 4],
])('axios without an answer, %s: %i attempts', async (code, attempts) => {
  expect((await attemptsAt({ code }, { idempotent: true })).attempts).toBe(attempts);
});

test('a ring of causes is read to no end', async () => {
  const ring: { cause?: unknown } = {};
  ring.cause = { cause: ring };
  expect((await attemptsAt(ring, { idempotent: true, maxRetries: 1 })).attempts).toBe(2);
});

test.each([200, 99, 600, 1_000, Number.NaN, '503'])(
  'a status of %j is none: nothing is known',
  async (status) => expect((await attemptsAt({ status })).attempts).toBe(1),
);

test('a status that would be the same again is not retried', async () => {
  for (const status of [400, 401, 404, 422, 501]) {
    const thrown = new Response(null, { status });
    expect((await attemptsAt(thrown, { idempotent: true })).attempts).toBe(1);
  }
});

test('an error with a good answer says nothing about what failed: the policy for the unknown', async () => {
  const thrown = { response: new Response('<html>', { status: 200 }) };
  expect((await attemptsAt(thrown)).attempts).toBe(1);
  expect((await attemptsAt(thrown, { idempotent: true })).attempts).toBe(4);
});

test.each<[string, unknown, number]>([
  ['axios, GET', { response: undefined, config: { method: 'get' } }, 4],
  ['axios, POST', { response: undefined, config: { method: 'post' } }, 1],
  ['ky, GET', { request: new Request('http://localhost:3000/') }, 4],
  ['ky, POST', { request: new Request('http://localhost:3000/', { method: 'POST' }) }, 1],
])('the method that an error says counts: %s', async (_, thrown, attempts) => {
  expect((await attemptsAt(thrown)).attempts).toBe(attempts);
});

test('an error that throws when it is looked at is one that says nothing', async () => {
  const hostile = new Proxy(new Error('hostile'), {
    get: () => {
      throw new Error('do not look');
    },
    has: () => {
      throw new Error('do not look');
    },
  });
  expect((await attemptsAt(hostile)).attempts).toBe(1);
  expect((await attemptsAt(hostile, { idempotent: true })).attempts).toBe(4);
});

test('a failure of something else is waited for by backoff, also where what was tried first is down', async () => {
  const steady = createSteadfetch({
    fetch: () => Promise.resolve(new Response(null, { status: 503 })),
    random: () => 0.5,
  });
  const url = 'http://localhost:3000/';
  for (let failures = 0; failures < 2; failures++) await rejectionOf(steady.fetch(url));
  const startedAt = Date.now();
  const times: number[] = [];
  const firstThenOther = async ({
    signal,
  }: {
    readonly signal: AbortSignal;
  }): Promise<Response> => {
    try {
      return await steady.fetch(url, { signal, policy: { whenDown: 'fail' } });
    } catch {
      times.push(Date.now() - startedAt);
      throw new Error('no answer of the mirror');
    }
  };
  observe(retry(steady, firstThenOther, { idempotent: true }));
  await vi.runAllTimersAsync();
  // Two of them have tried as the probe what is down: that uses up no retry.
  expect(times).toEqual([0, 500, 1500, 2500, 4500, 6500]);
});

test.each([NaN, 0, -1, 200, 299, 600, Infinity, 'error', '', true, null, {}, [], Symbol('404')])(
  'an error with the status %s is one of which nothing is known',
  (status) => {
    expect(outcomeOf(Object.assign(new Error('x'), { status })).kind).toBe('error');
  },
);
