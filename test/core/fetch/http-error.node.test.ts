import { createSteadfetch, HttpError, isHttpError, type SteadyFetch, retry } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { bodyReaderEntries, contentType, readableByAll } from './body-readers.ts';
import { answer, fakeServer, type Handler, origin, refuse, streaming } from './fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

const create = (handler: Handler): SteadyFetch =>
  createSteadfetch({ fetch: fakeServer(handler).fetch }).fetch;

test('every status from 200 to 299 resolves', async () => {
  for (let status = 200; status < 300; status += 1) {
    const response = await create(answer(status))(url);
    expect(response.status).toBe(status);
  }
});

test('every status from 300 to 599 throws an HttpError that carries it', async () => {
  for (let status = 300; status < 600; status += 1) {
    const error = await rejectionOf(create(answer(status))(url));
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({
      name: 'HttpError',
      code: 'http',
      status,
      outcome: { kind: 'http', status, retryAfterMs: undefined, inProgress: false },
    });
  }
});

test('its response is the real one, and its body can be read', async () => {
  const response = Response.json({ problem: 'sold out' }, { status: 409 });
  const error = await rejectionOf(create(() => response)(url));
  expect(isHttpError(error) && error.response).toBe(response);
  expect(await response.clone().text()).toBe('{"problem":"sold out"}');
  expect(await response.json()).toEqual({ problem: 'sold out' });
});

test('it says what was being done', async () => {
  const error = await rejectionOf(
    create(answer(404))(`${url}?page=2`, { method: 'delete', headers: { 'x-own': 'yes' } }),
  );
  expect(error).toMatchObject({
    operation: {
      kind: 'call',
      method: 'DELETE',
      url: `${url}?page=2`,
      attempt: 1,
      startedAt: 1_800_000_000_000,
      keyed: false,
      idempotent: true,
      retriedFor: [],
      previousBackoffMs: undefined,
    },
    outcome: { kind: 'http', status: 404, processed: 'no' },
  });
});

test.each(['', '?token=secret', '#token=secret', '?token=secret#part', '#part?token=secret'])(
  'its message is for a user, without the URL and its "%s"',
  async (rest) => {
    const handler: Handler = () => new Response(null, { status: 503, statusText: 'Overloaded' });
    const error = await rejectionOf(create(handler)(`${url}${rest}`));
    expect(error).toHaveProperty('message', 'The server answered 503 Overloaded.');
  },
);

test('Retry-After in seconds is in its outcome, in milliseconds', async () => {
  const error = await rejectionOf(create(answer(503, null, { 'retry-after': '7' }))(url));
  expect(error).toMatchObject({ outcome: { retryAfterMs: 7000 } });
});

test('Retry-After as a date counts from the Date header of the same answer', async () => {
  const headers = {
    date: 'Sun, 06 Nov 1994 08:49:07 GMT',
    'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT',
  };
  const error = await rejectionOf(create(answer(503, null, headers))(url));
  expect(error).toMatchObject({ outcome: { retryAfterMs: 30_000 } });
});

test.each(['-1', '1.5', '120, 60', 'soon', ''])(
  'a Retry-After of "%s" is ignored',
  async (value) => {
    const error = await rejectionOf(create(answer(503, null, { 'retry-after': value }))(url));
    expect(error).toMatchObject({ outcome: { retryAfterMs: undefined } });
  },
);

test.each([404, 410])('a first DELETE answered %i is an HttpError', async (status) => {
  const error = await rejectionOf(create(answer(status))(url, { method: 'DELETE' }));
  expect(error).toMatchObject({ status });
});

/** The outcome of a request that retry sends twice. */
async function sendTwice(
  first: Handler,
  second: Handler,
  secondUrl = url,
  method = 'DELETE',
): Promise<unknown> {
  const server = fakeServer(first, second);
  const steady = createSteadfetch({ fetch: server.fetch, policy: { baseMs: 0, maxRetries: 1 } });
  const result = observe(
    retry(steady, ({ attempt, signal }) =>
      steady.fetch(attempt === 1 ? url : secondUrl, { method, signal }),
    ),
  );
  await vi.runAllTimersAsync();
  return result.value ?? result.error;
}

test.each([404, 410])(
  'a DELETE that may have been done, and is answered %i when it is sent again, has succeeded',
  async (status) => {
    for (const first of [refuse, answer(502), answer(500), answer(503)]) {
      const response = await sendTwice(first, answer(status));
      expect(response).toBeInstanceOf(Response);
      expect(response).toMatchObject({ status });
    }
  },
);

test('a DELETE that was surely not done, and is then answered 404, has failed', async () => {
  expect(await sendTwice(answer(429), answer(404))).toMatchObject({ code: 'http', status: 404 });
});

test('a 404 for another URL is not the success of the DELETE before it', async () => {
  expect(await sendTwice(refuse, answer(404), `${url}/2`)).toMatchObject({ status: 404 });
});

test('a 404 to a GET or PUT that is sent again is an HttpError', async () => {
  for (const method of ['GET', 'PUT']) {
    expect(await sendTwice(refuse, answer(404), url, method)).toMatchObject({ status: 404 });
  }
});

test('a 405 is no success of a DELETE that may have been done', async () => {
  expect(await sendTwice(refuse, answer(405))).toMatchObject({ code: 'http', status: 405 });
});

test.each(bodyReaderEntries)(
  'a small body that was in can be read after the time limit: %s',
  async (_, read) => {
    for (const timeout of [1000, { headersMs: 1000, bodyIdleMs: 1000 }]) {
      const { handler, wire } = streaming({
        status: 422,
        headers: { 'content-type': contentType },
      });
      const { fetch } = createSteadfetch({ fetch: fakeServer(handler).fetch });
      const error = (await rejectionOf(fetch(url, { timeout }))) as HttpError;
      wire.push(readableByAll);
      wire.end();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await read(error.response)).toContain('{"id":1}');
      expect(vi.getTimerCount()).toBe(0);
    }
  },
);

test('the body of an error has as many readers as there are clones, each from its beginning', async () => {
  const { handler, wire } = streaming({ status: 422 });
  const { fetch } = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const { response } = (await rejectionOf(fetch(url))) as HttpError;
  const [first, second] = [response.clone(), response.clone()];
  wire.push('sold ');
  const reader = first.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('sold ');
  await reader?.cancel();
  expect(wire.isCancelled()).toBe(false);
  const read = Promise.all([second.text(), response.text()]);
  wire.push('out');
  wire.end();
  expect(await read).toEqual(['sold out', 'sold out']);
  expect([second.status, second.url, second instanceof Response]).toEqual([
    422,
    response.url,
    true,
  ]);
  expect([first.bodyUsed, second.bodyUsed, response.bodyUsed]).toEqual([false, true, true]);
});

// A stream has one reader, as ever.
test.each(bodyReaderEntries.filter(([name]) => !name.includes('body')))(
  'the body of an error can be read again, also at once and after that: %s',
  async (_, read) => {
    const { handler, wire } = streaming({ status: 422, headers: { 'content-type': contentType } });
    const { fetch } = createSteadfetch({ fetch: fakeServer(handler).fetch });
    const { response } = (await rejectionOf(fetch(url))) as HttpError;
    const both = Promise.all([read(response), read(response)]);
    wire.push(readableByAll);
    wire.end();
    const [first, second] = await both;
    expect(first).toContain('{"id":1}');
    expect([second, await read(response), await read(response.clone())]).toEqual([
      first,
      first,
      first,
    ]);
  },
);

test("and after the caller's abort", async () => {
  const { handler, wire } = streaming({ status: 422 });
  const { fetch } = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const caller = new AbortController();
  const error = (await rejectionOf(fetch(url, { signal: caller.signal }))) as HttpError;
  wire.push('sold out');
  wire.end();
  await settled();
  caller.abort('unmounted');
  expect(await error.response.text()).toBe('sold out');
});

test('a body of an error that is too large to keep breaks off at the time limit', async () => {
  const { handler, wire } = streaming({ status: 500 });
  const { fetch } = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const error = (await rejectionOf(fetch(url))) as HttpError;
  wire.push('x'.repeat(65_537));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await rejectionOf(error.response.text())).toMatchObject({ code: 'timeout' });
});
