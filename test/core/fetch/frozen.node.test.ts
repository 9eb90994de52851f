import { createSteadfetch, isHttpError, isTimeoutError } from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeServer, origin, streaming } from './fake-server.ts';
import { fakeTime, observe, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

describe.each<[string, (response: Response) => Response]>([
  ['frozen', (response) => Object.freeze(response)],
  ['sealed', (response) => Object.seal(response)],
  ['not extensible', (response) => Object.preventExtensions(response)],
])('an answer that its transport has made %s', (_, close) => {
  const create = (make: () => Response) =>
    createSteadfetch({ fetch: fakeServer(() => close(make())).fetch });

  test('is read like any other', async () => {
    const { fetch, json } = create(() => new Response('{"id":1}', { headers: { 'x-own': 'yes' } }));
    const response = await fetch(url);
    expect(response).toBeInstanceOf(Response);
    expect(response.headers.get('x-own')).toBe('yes');
    expect(await response.text()).toBe('{"id":1}');
    expect(await json(url)).toEqual({ id: 1 });
  });

  test('is read as a failure, too', async () => {
    const { fetch, rawFetch } = create(() => new Response('sold out', { status: 409 }));
    const error = await rejectionOf(fetch(url));
    expect(isHttpError(error) && (await error.response.text())).toBe('sold out');
    const response = await rawFetch(url);
    expect([response.status, await response.text()]).toEqual([409, 'sold out']);
  });

  test('has a time limit for its body', async () => {
    const { handler } = streaming();
    const server = fakeServer(async (request) => close(await handler(request)));
    const { fetch } = createSteadfetch({ fetch: server.fetch });
    const response = await fetch(url, { timeout: 500 });
    const read = observe(response.text());
    await vi.advanceTimersByTimeAsync(500);
    expect(isTimeoutError(read.error)).toBe(true);
  });

  test('and was read already: it comes as it is', async () => {
    const used = new Response('once');
    await used.text();
    const response = await create(() => used).fetch(url);
    expect(response.status).toBe(200);
    expect(response.bodyUsed).toBe(true);
  });
});
