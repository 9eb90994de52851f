import { createSteadfetch, isHttpError, outcomeOf, retry, type SteadyInit } from 'steadfetch';
import { grpcOutcomes, type GrpcOptions, policyFromServiceConfig } from 'steadfetch/grpc';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  answer,
  fakeServer,
  type Handler,
  origin,
  refuse,
  streaming,
} from '../core/fetch/fake-server.ts';
import { fakeTime, observe, rejectionOf } from '../core/fetch/observe.ts';
import { frame, join, message, trailers } from './frames.ts';

beforeEach(fakeTime);

const url = `${origin}/shop.v1.Products/List`;
const grpcWeb = { 'content-type': 'application/grpc-web+proto' };
const post: SteadyInit = { method: 'POST', body: 'x' };

const good: Handler = () =>
  new Response(join(message(), trailers({ 'grpc-status': 0 })), { headers: grpcWeb });
/** An answer that has no message. */
const fails = (code: number, more = {}): Handler =>
  answer(200, trailers({ 'grpc-status': code, ...more }), grpcWeb);
/** The same, in the headers. */
const refuses = (code: number, more = {}): Handler =>
  answer(200, null, { ...grpcWeb, 'grpc-status': `${code}`, ...more });
const connectFails = (status: number, code: string, headers = {}): Handler =>
  answer(status, JSON.stringify({ code, message: 'no' }), {
    'content-type': 'application/json',
    ...headers,
  });

function rig(handlers: readonly [Handler, ...Handler[]], own = {}, options?: GrpcOptions) {
  const server = fakeServer(...handlers);
  const apis = [{ match: origin, outcomes: grpcOutcomes(options), ...own }];
  const steady = createSteadfetch({ fetch: server.fetch, apis, random: () => 0.5 });
  return { server, steady };
}

/** What one call shows. */
async function ask(handler: Handler, own = {}) {
  const result = observe(rig([handler], own).steady.fetch(url, post));
  await vi.advanceTimersByTimeAsync(0);
  return result;
}

/** When the requests of a call go out, in milliseconds; the API is declared idempotent. */
async function timesOf(
  handlers: readonly [Handler, ...Handler[]],
  own = {},
  options?: GrpcOptions,
) {
  const { steady, server } = rig(handlers, { idempotent: true, ...own }, options);
  const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { ...post, signal })));
  await vi.runAllTimersAsync();
  return { timesMs: server.timesMs, ...result };
}

const all = [
  [1, 'CANCELLED', 499, 'unknown'],
  [2, 'UNKNOWN', 500, 'unknown'],
  [3, 'INVALID_ARGUMENT', 400, 'no'],
  [4, 'DEADLINE_EXCEEDED', 504, 'unknown'],
  [5, 'NOT_FOUND', 404, 'no'],
  [6, 'ALREADY_EXISTS', 409, 'no'],
  [7, 'PERMISSION_DENIED', 403, 'no'],
  [8, 'RESOURCE_EXHAUSTED', 429, 'no'],
  [9, 'FAILED_PRECONDITION', 400, 'no'],
  [10, 'ABORTED', 409, 'no'],
  [11, 'OUT_OF_RANGE', 400, 'no'],
  [12, 'UNIMPLEMENTED', 501, 'no'],
  [13, 'INTERNAL', 500, 'unknown'],
  [14, 'UNAVAILABLE', 503, 'unknown'],
  [15, 'DATA_LOSS', 500, 'unknown'],
  [16, 'UNAUTHENTICATED', 401, 'no'],
] as const;

describe.each(all)('status %i', (number, code, status, processed) => {
  const outcome = { kind: 'http', code, status, processed };

  test('of gRPC-web, in trailers', async () => {
    const { error } = await ask(fails(number));
    expect(isHttpError(error)).toBe(true);
    expect(outcomeOf(error)).toMatchObject(outcome);
  });

  test('of gRPC-web, in headers', async () => {
    expect(outcomeOf((await ask(refuses(number))).error)).toMatchObject(outcome);
  });

  test('of Connect, by its name, whatever the status of HTTP', async () => {
    const name = code.toLowerCase().replace('cancelled', 'canceled');
    expect(outcomeOf((await ask(connectFails(418, name))).error)).toMatchObject(outcome);
    const end = answer(200, frame(2, JSON.stringify({ error: { code: name } })), {
      'content-type': 'application/connect+proto',
    });
    expect(outcomeOf((await ask(end)).error)).toMatchObject(outcome);
  });

  test('of an error of a client that brings its own transport', async () => {
    const { steady } = rig([good]);
    const metadata = new Headers();
    for (const [name, given] of [
      ['ConnectError', number],
      ['RpcError', number],
      ['RpcError', code],
      ['ClientError', number],
    ]) {
      const thrown = Object.assign(new Error('no'), { name, code: given, metadata });
      const error = await rejectionOf(
        retry(steady, () => Promise.reject(thrown), {
          maxRetries: 0,
        }),
      );
      expect(outcomeOf(error)).toMatchObject({ kind: 'http', code, status });
    }
  });
});

describe('an answer', () => {
  test('that is good resolves, with all of its body', async () => {
    const { value } = await ask(good);
    const body = new Uint8Array(await (value as Response).arrayBuffer());
    expect(Buffer.from(body)).toEqual(join(message(), trailers({ 'grpc-status': 0 })));
  });

  test('of Connect that is good is not awaited', async () => {
    const { handler, wire } = streaming({ headers: { 'content-type': 'application/json' } });
    const { state, value } = await ask(handler);
    expect(state).toBe('resolved');
    wire.push('{"name":"kite"}');
    wire.end();
    expect(await (value as Response).json()).toEqual({ name: 'kite' });
  });

  test('is awaited up to its first message, and not to the end of its stream', async () => {
    const { handler, wire } = streaming({ headers: grpcWeb });
    const { steady } = rig([handler]);
    const result = observe(steady.fetch(url, post));
    await vi.advanceTimersByTimeAsync(100);
    expect(result.state).toBe('pending');
    wire.push('\0');
    await vi.advanceTimersByTimeAsync(0);
    expect(result.state).toBe('resolved');
  });

  test('whose trailers come in pieces is read', async () => {
    const bytes = [...trailers({ 'grpc-status': 14 })];
    const stream = new ReadableStream({
      pull(controller) {
        const byte = bytes.shift();
        if (byte === undefined) controller.close();
        else controller.enqueue(Uint8Array.of(byte));
      },
    });
    const { error } = await ask(() => new Response(stream, { headers: grpcWeb }));
    expect(outcomeOf(error)).toMatchObject({ code: 'UNAVAILABLE' });
  });

  test.each([
    ['is empty', answer(200, null, grpcWeb)],
    ['is compressed', answer(200, frame(0x81, 'xyz'), grpcWeb)],
    ['has trailers of 4 GB', answer(200, Uint8Array.of(0x80, 255, 255, 255, 255, 0), grpcWeb)],
    ['is of another kind', answer(200, 'grpc-status: 14', { 'content-type': 'text/plain' })],
    [
      'is Connect, and ends without an error',
      answer(200, frame(2, '{}'), { 'content-type': 'application/connect+json' }),
    ],
    [
      'is Connect, and ends in no JSON',
      answer(200, frame(2, '{'), { 'content-type': 'application/connect+json' }),
    ],
  ])('that %s is left to the client', async (_, handler) => {
    expect((await ask(handler)).state).toBe('resolved');
  });

  test('of a gateway that is no gRPC counts by its status', async () => {
    const { error } = await ask(answer(502, 'Bad Gateway', { 'content-type': 'text/html' }));
    expect(outcomeOf(error)).toEqual({
      kind: 'http',
      status: 502,
      retryAfterMs: undefined,
      inProgress: false,
      processed: 'unknown',
    });
  });

  test('that breaks off before its first message is a failed body', async () => {
    const { handler, wire } = streaming({ headers: grpcWeb });
    const { steady } = rig([handler]);
    const result = observe(steady.fetch(url, post));
    await vi.advanceTimersByTimeAsync(0);
    wire.cut(new TypeError('network error'));
    await vi.advanceTimersByTimeAsync(0);
    expect(outcomeOf(result.error)).toMatchObject({ kind: 'body' });
  });

  test('is handed on as it is by rawFetch, and its failure is known', async () => {
    const { steady, server } = rig([fails(14), good], { idempotent: true });
    const result = observe(
      retry(steady, async ({ signal }) => {
        const response = await steady.rawFetch(url, { ...post, signal });
        const [flag] = new Uint8Array(await response.arrayBuffer());
        if (flag === 0x80) throw Object.assign(new Error('no'), { name: 'ConnectError', code: 14 });
        return response.status;
      }),
    );
    await vi.runAllTimersAsync();
    expect(result.value).toBe(200);
    expect(server.timesMs).toEqual([0, 500]);
  });
});

describe('retries', () => {
  test.each(['UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED', 'ABORTED'])(
    'follow %s where the profile says idempotent',
    async (code) => {
      const number = all.find(([, name]) => name === code)?.[0] ?? 0;
      expect((await timesOf([fails(number), good])).timesMs).toEqual([0, 500]);
    },
  );

  test.each(['CANCELLED', 'INVALID_ARGUMENT', 'NOT_FOUND', 'UNIMPLEMENTED', 'DATA_LOSS'])(
    'do not follow %s',
    async (code) => {
      const number = all.find(([, name]) => name === code)?.[0] ?? 0;
      expect((await timesOf([fails(number)])).timesMs).toEqual([0]);
    },
  );

  test.each([
    ['UNAVAILABLE', 14, 1],
    ['ABORTED', 10, 1],
    ['RESOURCE_EXHAUSTED', 8, 2],
  ])('of a call that is not idempotent after %s: only what was not done', async (_, code, sent) => {
    const { timesMs } = await timesOf([fails(code), good], { idempotent: false });
    expect(timesMs).toHaveLength(sent);
  });

  test('of an error of a client do not take what is known of its request from it', async () => {
    const { steady, server } = rig([refuse, good], { idempotent: true });
    const load = async (signal: AbortSignal): Promise<number> => {
      const sent = steady.rawFetch(url, { ...post, signal });
      const response = await sent.catch((cause: unknown) => {
        throw Object.assign(new Error('no', { cause }), { name: 'ConnectError', code: 3 });
      });
      return response.status;
    };
    const result = observe(retry(steady, ({ signal }) => load(signal)));
    await vi.runAllTimersAsync();
    expect(result.value).toBe(200);
    expect(server.requests).toHaveLength(2);
  });

  test('a DOMException is no error of gRPC, though it has a number', async () => {
    const { steady } = rig([good]);
    const given = new DOMException('no', 'NotFoundError');
    const error = await rejectionOf(retry(steady, () => Promise.reject(given), { maxRetries: 0 }));
    expect(outcomeOf(error)).toMatchObject({ kind: 'error' });
  });
});

describe('grpc-retry-pushback-ms', () => {
  const pushes = (value: string | number) => ({ 'grpc-retry-pushback-ms': `${value}` });

  test.each([
    ['in trailers', fails(14, pushes(4000))],
    ['in headers', refuses(14, pushes(4000))],
    ['of Connect', connectFails(503, 'unavailable', { 'trailer-grpc-retry-pushback-ms': '4000' })],
    [
      'at the end of a stream of Connect',
      answer(
        200,
        frame(
          2,
          JSON.stringify({
            error: { code: 'unavailable' },
            metadata: { 'grpc-retry-pushback-ms': ['4000'] },
          }),
        ),
        { 'content-type': 'application/connect+json' },
      ),
    ],
  ])('%s is waited for, as Retry-After is', async (_, handler) => {
    expect((await timesOf([handler, good])).timesMs).toEqual([0, 4200]);
  });

  test.each([-1, 'soon', '', '0100', '1.5', '3000000000'])(
    'of %j asks for no retry',
    async (ms) => {
      const { timesMs, error } = await timesOf([fails(14, pushes(ms)), good]);
      expect(timesMs).toEqual([0]);
      expect(outcomeOf(error)).toMatchObject({ code: 'UNAVAILABLE', shouldRetry: false });
    },
  );

  test('does not make a failure retryable that is none', async () => {
    expect((await timesOf([fails(3, pushes(0)), good])).timesMs).toEqual([0]);
  });

  test('of an error of a client counts, too', async () => {
    const { steady } = rig([good]);
    const run = async (metadata: unknown) => {
      const startedAt = Date.now();
      let error: unknown = Object.assign(new Error('no'), { name: 'RpcError', code: 14, metadata });
      const result = observe(
        retry(
          steady,
          () => {
            const thrown = error;
            error = undefined;
            if (thrown) throw thrown as Error;
            return Date.now() - startedAt;
          },
          { idempotent: true },
        ),
      );
      await vi.runAllTimersAsync();
      return result.value;
    };
    expect(await run(pushes(4000))).toBe(4200);
    expect(await run(new Headers(pushes(4000)))).toBe(4200);
    expect(await run(pushes(-1))).toBeUndefined();
  });

  test('that says no is not overruled by a service config', async () => {
    const retryPolicy = {
      maxAttempts: 5,
      initialBackoff: '1s',
      maxBackoff: '1s',
      backoffMultiplier: 1,
      retryableStatusCodes: ['UNAVAILABLE'],
    };
    const policy = policyFromServiceConfig({ methodConfig: [{ name: [{}], retryPolicy }] });
    expect((await timesOf([fails(14, pushes(-1)), good], { policy })).timesMs).toEqual([0]);
    expect((await timesOf([fails(14), good], { policy })).timesMs).toEqual([0, 1000]);
  });
});

describe('retryThrottling', () => {
  const retryThrottling = { maxTokens: 4, tokenRatio: 0.5 };
  const quick = { policy: { baseMs: 0, capMs: 0, maxRetries: 9 } };

  /** How many requests each of some calls is, one after the other. */
  async function requestsOf(handlers: readonly [Handler, ...Handler[]], calls: number) {
    const own = { ...quick, idempotent: true };
    const { steady, server } = rig(handlers, own, { retryThrottling });
    const counts: number[] = [];
    for (let call = 0; call < calls; call++) {
      const before = server.requests.length;
      observe(retry(steady, ({ signal }) => steady.fetch(url, { ...post, signal })));
      await vi.runAllTimersAsync();
      counts.push(server.requests.length - before);
    }
    return counts;
  }

  test('ends retries when no more than half of the tokens are left', async () => {
    expect(await requestsOf([fails(8)], 3)).toEqual([2, 1, 1]);
  });

  test('successes give tokens back', async () => {
    const goods = [good, good, good, good] as const;
    const handlers = [fails(8), fails(8), good, fails(8), ...goods, fails(8)] as const;
    expect(await requestsOf(handlers, 8)).toEqual([2, 1, 1, 1, 1, 1, 1, 2]);
  });

  test('a call that was wrong takes none', async () => {
    expect(await requestsOf([fails(3), fails(5), fails(9), fails(8), good], 4)).toEqual([
      1, 1, 1, 2,
    ]);
  });

  test.each([
    [{ maxTokens: 0, tokenRatio: 1 }, 'maxTokens is 0'],
    [{ maxTokens: 1001, tokenRatio: 1 }, 'maxTokens is 1001'],
    [{ maxTokens: 10, tokenRatio: -1 }, 'tokenRatio is -1'],
    [{ maxTokens: 10 }, 'tokenRatio is undefined'],
  ])('refuses %j', (given, said) => {
    expect(() => grpcOutcomes({ retryThrottling: given as never })).toThrow(said);
  });
});

test.each<readonly [string, () => unknown]>([
  ['has no code', () => ({ name: 'ConnectError' })],
  ['has no code of gRPC', () => ({ name: 'RpcError', code: Symbol('no') })],
  ['has the code of a success', () => ({ name: 'RpcError', code: 0 })],
  [
    'throws when it is read',
    () =>
      Object.defineProperty(new Error('no'), 'name', {
        get: () => {
          throw new Error('no');
        },
      }),
  ],
  ['is null', () => null],
])('an error that %s says nothing', async (_, make) => {
  const { steady } = rig([good]);
  const thrown = make();
  const error = await rejectionOf(
    retry(steady, () => Promise.reject(thrown as Error), { maxRetries: 0 }),
  );
  expect(outcomeOf(error)).toMatchObject({ kind: 'error' });
});

test('metadata without a text is no pushback', async () => {
  const { steady } = rig([good]);
  const metadata = { 'grpc-retry-pushback-ms': null };
  const thrown = Object.assign(new Error('no'), { name: 'RpcError', code: 14, metadata });
  const error = await rejectionOf(retry(steady, () => Promise.reject(thrown), { maxRetries: 0 }));
  expect(outcomeOf(error)).toMatchObject({ code: 'UNAVAILABLE', retryAfterMs: undefined });
});

test('grpcOutcomes refuses an option that there is not', () => {
  expect(() => grpcOutcomes({ throttling: {} } as never)).toThrow('retryThrottling');
});
