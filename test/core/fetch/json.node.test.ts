import { createSteadfetch, type JsonInit, outcomeOf, type SteadyJson, retry } from 'steadfetch';
import { beforeEach, expect, expectTypeOf, test, vi } from 'vitest';
import { answer, type FakeServer, fakeServer, origin, streaming } from './fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

const create = (server: FakeServer): SteadyJson => createSteadfetch({ fetch: server.fetch }).json;

test('it reads and parses, and its type argument types the result', async () => {
  const json = create(fakeServer(answer(200, '{"id":1}')));
  const item = await json<{ id: number }>(url);
  expectTypeOf(item).toEqualTypeOf<{ id: number }>();
  expectTypeOf(await json(url)).toBeUnknown();
  expect(item).toEqual({ id: 1 });
});

test('without json it sends a GET without a body and without a content type', async () => {
  const server = fakeServer(answer(200, '{}'));
  await create(server)(url);
  const [request] = server.requests;
  expect(request).toMatchObject({ method: 'GET', body: null });
  expect(request?.headers.has('content-type')).toBe(false);
});

test('json is sent as a POST with its content type', async () => {
  const server = fakeServer(answer(200, '{}'));
  await create(server)(url, { json: { name: 'Ærø', tags: [] } });
  const [request] = server.requests;
  expect(request?.method).toBe('POST');
  expect(request?.headers.get('content-type')).toBe('application/json');
  expect(await request?.json()).toEqual({ name: 'Ærø', tags: [] });
});

test.each([[null], [false], [0], [''], [[]]])('json of %j is a body, too', async (value) => {
  const server = fakeServer(answer(200, '{}'));
  await create(server)(url, { json: value });
  expect(await server.requests[0]?.json()).toEqual(value);
});

test('method and headers of init count, also a content type of its own', async () => {
  const server = fakeServer(answer(200, '{}'));
  const headers = { 'content-type': 'application/merge-patch+json', 'x-own': 'yes' };
  await create(server)(url, { method: 'PATCH', headers, json: {} });
  const [request] = server.requests;
  expect(request?.method).toBe('PATCH');
  expect(request?.headers.get('content-type')).toBe('application/merge-patch+json');
  expect(request?.headers.get('x-own')).toBe('yes');
});

test('the headers of a Request are kept when json is given', async () => {
  const server = fakeServer(answer(200, '{}'));
  const request = new Request(url, { method: 'PUT', headers: { 'x-own': 'yes' } });
  await create(server)(request, { json: { id: 1 } });
  const [sent] = server.requests;
  expect(sent?.method).toBe('PUT');
  expect(sent?.headers.get('x-own')).toBe('yes');
  expect(await sent?.json()).toEqual({ id: 1 });
});

test.each([204, 205])('an answer of %i has no content: it is null', async (status) => {
  expect(await create(fakeServer(answer(status)))(url)).toBeNull();
});

test.each(['HEAD', 'head'])('an answer to %s has no content: it is null', async (method) => {
  const server = fakeServer(answer(200, null, { 'content-type': 'application/json' }));
  expect(await create(server)(url, { method })).toBeNull();
  expect(await create(server)(new Request(url, { method }))).toBeNull();
});

test('a body that is not JSON stays the SyntaxError', async () => {
  const error = await rejectionOf(create(fakeServer(answer(200, '<html>')))(url));
  expect(error).toBeInstanceOf(SyntaxError);
});

test('an answer outside 2xx is an HttpError, whatever its body', async () => {
  const error = await rejectionOf(create(fakeServer(answer(422, '<html>')))(url));
  expect(error).toMatchObject({ code: 'http', status: 422 });
});

test.each<[string, JsonInit, string]>([
  ['json of undefined', { json: undefined }, 'json is undefined'],
  ['json of undefined beside a method', { method: 'POST', json: undefined }, 'json is undefined'],
  ['json beside an empty body', { json: {}, body: '' }, 'json'],
  ['json beside body', { json: {}, body: 'a' }, 'json'],
  ['a function as json', { json: () => {} }, 'function'],
  ['a symbol as json', { json: Symbol('a') }, 'symbol'],
  ['a BigInt within json', { json: { a: 1n } }, 'BigInt'],
  ['a header that is none', { json: 1, headers: { 'a b': 'c' } }, 'header'],
])(
  '%s is a TypeError that says that nothing was done, and nothing is sent',
  async (_, init, message) => {
    const server = fakeServer(answer());
    const error = await rejectionOf(create(server)(url, init));
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toHaveProperty('message', expect.stringContaining(message));
    expect(outcomeOf(error)).toEqual({ kind: 'invalid', processed: 'no' });
    expect(server.requests).toHaveLength(0);
  },
);

test('everything of steady.fetch is there: timeout, signal, policy', async () => {
  const json = create(fakeServer(streaming().handler, streaming().handler));
  const controller = new AbortController();
  const late = observe(json(url, { timeout: 100 }));
  await vi.advanceTimersByTimeAsync(100);
  expect(late.error).toMatchObject({ code: 'timeout' });
  const aborted = observe(json(url, { signal: controller.signal }));
  controller.abort('unmounted');
  await settled();
  expect(aborted.error).toBe('unmounted');
});

test('it works detached', async () => {
  const json = create(fakeServer(answer(200, '1')));
  expect(await json.call(undefined, url)).toBe(1);
});

/** How often a call is made that always gets half of its JSON. */
async function attemptsAt(init: JsonInit): Promise<number> {
  const type = { 'content-type': 'application/json' };
  const server = fakeServer(answer(200, '{"id":', type));
  const steady = createSteadfetch({ fetch: server.fetch });
  const result = observe(retry(steady, ({ signal }) => steady.json(url, { ...init, signal })));
  await vi.runAllTimersAsync();
  expect(result.error).toBeInstanceOf(SyntaxError);
  return server.requests.length;
}

test('half of the JSON is a body that failed: a GET asks again', async () => {
  expect(await attemptsAt({})).toBe(4);
});

test('half of the JSON is a body that failed: a POST, PUT or DELETE has been done', async () => {
  expect(await attemptsAt({ json: {} })).toBe(1);
  expect(await attemptsAt({ json: {}, method: 'PUT' })).toBe(1);
  expect(await attemptsAt({ method: 'DELETE' })).toBe(1);
});
