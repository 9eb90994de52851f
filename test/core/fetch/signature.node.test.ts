import { createSteadfetch, type SteadyFetch } from 'steadfetch';
import { beforeEach, expect, expectTypeOf, test, vi } from 'vitest';
import { answer, type FakeServer, fakeServer, hang, origin, refuse } from './fake-server.ts';
import { fakeTime, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

function create(server: FakeServer): SteadyFetch {
  return createSteadfetch({ fetch: server.fetch }).fetch;
}

test('its type can stand wherever fetch stands', () => {
  expectTypeOf<SteadyFetch>().toExtend<typeof fetch>();
});

test.each([
  ['a string', url],
  ['a URL', new URL(url)],
  ['a Request', new Request(url)],
])('it takes %s, and sends a GET there', async (_, input) => {
  const server = fakeServer(answer());
  await create(server)(input);
  expect(server.requests).toMatchObject([{ method: 'GET', url }]);
});

test('it passes init on: method, headers, body and the rest', async () => {
  const server = fakeServer(answer());
  await create(server)(url, {
    method: 'PUT',
    headers: { 'x-own': 'yes' },
    body: 'content',
    credentials: 'include',
    cache: 'no-store',
    redirect: 'manual',
    mode: 'cors',
    referrerPolicy: 'no-referrer',
    integrity: 'sha256-abc',
    keepalive: true,
  });
  const [request] = server.requests;
  expect(request).toMatchObject({
    method: 'PUT',
    credentials: 'include',
    cache: 'no-store',
    redirect: 'manual',
    mode: 'cors',
    referrerPolicy: 'no-referrer',
    integrity: 'sha256-abc',
    keepalive: true,
  });
  expect(request?.headers.get('x-own')).toBe('yes');
  expect(await request?.text()).toBe('content');
});

test('what a Request says is sent, and init overrides it', async () => {
  const server = fakeServer(answer());
  const request = new Request(url, {
    method: 'POST',
    headers: { 'x-own': 'request' },
    body: 'content',
  });
  await create(server)(request, { method: 'PATCH', headers: { 'x-own': 'init' } });
  const [sent] = server.requests;
  expect(sent?.method).toBe('PATCH');
  expect(sent?.headers.get('x-own')).toBe('init');
  expect(await sent?.text()).toBe('content');
});

test('an init that does not list its members, as a proxy, is read by their names', async () => {
  const server = fakeServer(answer());
  const members: Record<PropertyKey, unknown> = { method: 'PUT', body: 'order' };
  const init = new Proxy({}, { get: (_, name) => members[name] });
  await createSteadfetch({ fetch: server.fetch }).fetch(`${origin}/orders`, init);
  const [request] = server.requests;
  expect([request?.method, await request?.text()]).toEqual(['PUT', 'order']);
});

test('it does not change the init that it is given', async () => {
  const init = Object.freeze({ method: 'POST', timeout: 500, idempotent: true });
  await create(fakeServer(answer()))(url, init);
  expect(init).toEqual({ method: 'POST', timeout: 500, idempotent: true });
});

test('the Response is the very object that fetch resolved with, and a Response', async () => {
  const response = new Response('content', { status: 201, headers: { 'x-own': 'yes' } });
  const got = await create(fakeServer(() => response))(url);
  expect(got).toBe(response);
  expect(got).toBeInstanceOf(Response);
  expect(Object.prototype.toString.call(got)).toBe('[object Response]');
  expect(got).toMatchObject({ ok: true, status: 201, bodyUsed: false });
  expect(got.headers.get('x-own')).toBe('yes');
});

test('a clone, too, is a Response', async () => {
  const got = await create(fakeServer(answer(200, 'content')))(url);
  expect(got.clone()).toBeInstanceOf(Response);
});

test('it works detached from its instance, and with a foreign this', async () => {
  const server = fakeServer(answer());
  const detached = create(server);
  await detached(url);
  await detached.call({}, url);
  expect(server.requests).toHaveLength(2);
});

test.each([
  ['an answer', answer(200)],
  ['a 503 with Retry-After', answer(503, null, { 'retry-after': '1' })],
  ['a 500', answer(500)],
  ['a network failure', refuse],
  ['a time-out', hang],
])('%s is exactly one attempt, however long one waits', async (_, handler) => {
  const server = fakeServer(handler);
  const promise = create(server)(url).catch(() => {});
  await vi.advanceTimersByTimeAsync(3_600_000);
  await promise;
  expect(server.requests).toHaveLength(1);
});

test('without a fetch of its own it calls the global one, looked up at each call', async () => {
  const { fetch } = createSteadfetch();
  const server = fakeServer(answer(204));
  vi.stubGlobal('fetch', server.fetch);
  expect((await fetch(url)).status).toBe(204);
  vi.unstubAllGlobals();
  expect(server.requests).toHaveLength(1);
});

test.each(['opaque', 'opaqueredirect', 'error'] as const)(
  'a response of type %s passes through: it says nothing about success',
  async (type) => {
    const response = Response.error();
    Object.defineProperty(response, 'type', { value: type });
    const server = fakeServer(() => response);
    expect(await create(server)(url, { mode: 'no-cors' })).toBe(response);
    expect(response).toMatchObject({ status: 0, ok: false });
    expect(vi.getTimerCount()).toBe(0);
  },
);

test.each([
  [0, 'timeout is 0'],
  [-1, 'timeout is -1'],
  [Number.NaN, 'timeout is NaN'],
  [{ headersMs: 1000, bodyIdleMs: 0 }, 'timeout is {"headersMs":1000,"bodyIdleMs":0}'],
])('a timeout of %o is refused before anything is sent', async (timeout, message) => {
  const server = fakeServer(answer());
  const error = await rejectionOf(create(server)(url, { timeout }));
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toHaveProperty('message', expect.stringContaining(`steady.fetch: ${message}`));
  expect(server.requests).toHaveLength(0);
});
