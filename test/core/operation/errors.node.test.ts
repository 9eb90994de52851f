import * as steadfetch from 'steadfetch';
import {
  createSteadfetch,
  HttpError,
  isHttpError,
  isNetworkError,
  isSteadfetchError,
  isTimeoutError,
  NetworkError,
  SteadfetchError,
  TimeoutError,
  retry,
} from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { answer, fakeServer, hang, type Handler, origin, refuse } from '../fetch/fake-server.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { fakeTime, observe } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;
const guards = { isHttpError, isNetworkError, isTimeoutError };

/** The error of one attempt, made by this copy of the package or by another. */
async function errorOf(handler: Handler, copy = steadfetch): Promise<unknown> {
  const result = observe(copy.createSteadfetch({ fetch: fakeServer(handler).fetch }).fetch(url));
  await vi.runAllTimersAsync();
  return result.error;
}

const kinds = [
  ['HttpError', answer(503), HttpError, isHttpError],
  ['NetworkError', refuse, NetworkError, isNetworkError],
  ['TimeoutError', hang, TimeoutError, isTimeoutError],
] as const;

test.each(kinds)(
  '%s is a SteadfetchError and an Error, and its guard is the only one that knows it',
  async (name, handler, Type, guard) => {
    const error = await errorOf(handler);
    expect(error).toBeInstanceOf(Type);
    expect(error).toBeInstanceOf(SteadfetchError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name });
    expect(String(error)).toMatch(new RegExp(`^${name}: The server .*\\.$`));
    expect(isSteadfetchError(error)).toBe(true);
    const known = Object.values(guards).filter((its) => its(error));
    expect(known).toEqual([guard]);
  },
);

test.each(kinds)(
  'the guards know the %s of a second copy of the package',
  async (_, handler, Type, guard) => {
    vi.resetModules();
    const copy = await import('steadfetch');
    const error = await errorOf(handler, copy);
    expect(error).not.toBeInstanceOf(Type);
    expect(isSteadfetchError(error)).toBe(true);
    expect(Object.values(guards).filter((its) => its(error))).toEqual([guard]);
  },
);

test.each([
  [undefined],
  [null],
  ['HttpError'],
  [503],
  [new Error('HttpError')],
  [Object.assign(new Error(), { name: 'HttpError', code: 'http', outcome: { kind: 'http' } })],
  [new DOMException('signal timed out', 'TimeoutError')],
  [new Response(null, { status: 503 })],
  [{ code: 'network' }],
  [() => {}],
])('the guards say no to %o', (value: unknown) => {
  expect(isSteadfetchError(value)).toBe(false);
  expect(Object.values(guards).filter((its) => its(value))).toEqual([]);
});

test('a granted retry is on the error: the decision, and when the next attempt starts', async () => {
  const server = fakeServer(answer(503, null, { 'retry-after': '7' }), answer());
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
  const errors: unknown[] = [];
  const before: unknown[] = [];
  const result = observe(
    retry(steady, ({ signal }) =>
      steady.fetch(url, { signal }).catch((error: unknown) => {
        errors.push(error);
        before.push((error as HttpError).decision, (error as HttpError).retryAt);
        throw error;
      }),
    ),
  );
  await vi.advanceTimersByTimeAsync(1);
  expect(before).toEqual([undefined, undefined]);
  // 7 s, and half of the tenth over which the origin spreads what it has told to wait.
  const retryAt = 1_800_000_000_000 + 7350;
  expect(errors).toMatchObject([
    {
      decision: { kind: 'retry', reason: 'unavailable', delayMs: 7350, backoffMs: 500, retryAt },
      retryAt,
    },
  ]);
  await vi.runAllTimersAsync();
  expect(result.state).toBe('resolved');
  expect(server.timesMs).toEqual([0, 7350]);
});

test('a stop is on the error, with the time at which the server would have us back', async () => {
  const server = fakeServer(answer(503, null, { 'retry-after': '61' }));
  const steady = createSteadfetch({ fetch: server.fetch });
  const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { signal })));
  await vi.advanceTimersByTimeAsync(0);
  const retryAt = 1_800_000_000_000 + 61_000;
  expect(result.error).toMatchObject({
    status: 503,
    decision: { kind: 'stop', reason: 'retry-after', retryAt },
    retryAt,
  });
});

test('a stop without a Retry-After has no time to show', async () => {
  const steady = createSteadfetch({ fetch: fakeServer(answer(404)).fetch });
  const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { signal })));
  await vi.advanceTimersByTimeAsync(0);
  expect(result.error).toMatchObject({ decision: { kind: 'stop', reason: 'not-retryable' } });
  expect((result.error as HttpError).retryAt).toBeUndefined();
});

test('the operation on an error does not change with the attempts after it', async () => {
  const server = fakeServer(refuse);
  const steady = createSteadfetch({
    fetch: server.fetch,
    policy: { maxRetries: 2, baseMs: 0 },
    ...noOrigin,
  });
  const errors: unknown[] = [];
  const result = observe(
    retry(steady, ({ signal }) =>
      steady.fetch(url, { signal }).catch((error: unknown) => {
        errors.push(error);
        throw error;
      }),
    ),
  );
  await vi.runAllTimersAsync();
  expect(errors).toMatchObject([
    { operation: { attempt: 1, retriedFor: [] } },
    { operation: { attempt: 2, retriedFor: ['network'] } },
    { operation: { attempt: 3, retriedFor: ['network', 'network'] } },
  ]);
  expect(result.error).toBe(errors[2]);
});

test("fetch's own error is the cause of a NetworkError, for code that looks for it", async () => {
  // As docs/retry/errors.md has it.
  const hasNoAnswer = (error: unknown): boolean =>
    isNetworkError(error) ||
    (error instanceof TypeError && /fetch|Load failed/.test(error.message));
  const error = await errorOf(refuse);
  expect(error).toMatchObject({ cause: new TypeError('Failed to fetch') });
  const errors = [error, new TypeError('Failed to fetch'), await errorOf(answer(503))];
  expect(errors.map(hasNoAnswer)).toEqual([true, true, false]);
});
