import ky from 'ky';
import { ofetch } from 'ofetch';
import { createSteadfetch, type HttpError, isHttpError, problemOf } from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openServer, versions } from '../../axios/loopback.ts';
import { answer, fakeServer, type Handler, origin, streaming } from '../fetch/fake-server.ts';
import { fakeTime, observe, rejectionOf } from '../fetch/observe.ts';
import { noOrigin } from '../../setup/no-origin.ts';

const type = 'https://shop.example/problems/sold-out';
const text = JSON.stringify({
  type,
  title: 'Sold out',
  status: 409,
  detail: 'The last kite was sold.',
  instance: '/orders/7',
  left: 0,
});
const problem = {
  type,
  title: 'Sold out',
  status: 409,
  detail: 'The last kite was sold.',
  instance: '/orders/7',
  extensions: { left: 0 },
};
const headers = { 'content-type': 'application/problem+json' };

async function errorOf(handler: Handler): Promise<HttpError> {
  const steady = createSteadfetch({ ...noOrigin, fetch: fakeServer(handler).fetch });
  return (await rejectionOf(steady.fetch(origin))) as HttpError;
}

describe('a failure with Problem Details', () => {
  beforeEach(fakeTime);
  afterEach(() => void vi.useRealTimers());

  test.each(['application/problem+json', 'Application/Problem+JSON; charset=utf-8'])(
    'of type %s has them on its error, and its body is still there to be read',
    async (contentType) => {
      const error = await errorOf(answer(409, text, { 'content-type': contentType }));
      expect(error.problem).toEqual(problem);
      expect(problemOf(error)).toBe(error.problem);
      expect(problemOf(new Error('outer', { cause: error }))).toBe(error.problem);
      expect(await error.response.text()).toBe(text);
    },
  );

  test.each<[string, string, unknown]>([
    ['nothing but a title', '{"title":"No"}', { type: 'about:blank', title: 'No', extensions: {} }],
    [
      'members of other types than their own',
      '{"type":1,"title":[],"status":"409","detail":{},"instance":null}',
      { type: 'about:blank', extensions: {} },
    ],
    ['the name of a prototype', '{"__proto__":{"title":"x"}}', { type: 'about:blank' }],
    ['a list', '[]', undefined],
    ['a text', '"sold out"', undefined],
    ['no JSON', '<p>', undefined],
    ['an empty body', '', undefined],
    ['more than 64 KiB', JSON.stringify({ title: 'a'.repeat(70_000) }), undefined],
  ])('with %s', async (_, body, expected) => {
    const error = await errorOf(answer(409, body, headers));
    expect(isHttpError(error)).toBe(true);
    expect({ problem: error.problem }).toMatchObject({ problem: expected });
  });

  test('of another content type has none', async () => {
    for (const other of ['application/json', 'application/problem+xml', 'text/html'])
      expect((await errorOf(answer(409, text, { 'content-type': other }))).problem).toBeUndefined();
  });

  test('whose body does not come is told of after half a second, without them', async () => {
    const { handler, wire } = streaming({ status: 503, headers });
    const { fetch } = createSteadfetch({ ...noOrigin, fetch: fakeServer(handler).fetch });
    const seen = observe(fetch(origin));
    wire.push('{"title":');
    await vi.advanceTimersByTimeAsync(499);
    expect(seen.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(seen.error).toMatchObject({ status: 503, problem: undefined });
  });

  test('an error that throws when it is read has none', () => {
    const hostile = Object.defineProperty({}, 'response', {
      get() {
        throw new Error('no');
      },
    });
    for (const value of [hostile, undefined, null, 1, 'text', {}])
      expect(problemOf(value)).toBeUndefined();
    const ring: { cause?: unknown } = {};
    ring.cause = ring;
    expect(problemOf(ring)).toBeUndefined();
  });
});

test.each<[string, (url: string) => Promise<unknown>]>([
  ...versions.map(
    ([name, axios]) =>
      [name, (url: string) => axios.get(url)] as [string, (url: string) => Promise<unknown>],
  ),
  ['ky', (url) => ky(url, { retry: 0 }).json()],
  ['ofetch', (url) => ofetch(url, { retry: 0 })],
])('%s: the error that it has thrown has the same', async (_, get) => {
  const server = await openServer((response) => void response.writeHead(409, headers).end(text));
  const error = await rejectionOf(get(server.origin));
  expect(problemOf(error)).toEqual(problem);
});
