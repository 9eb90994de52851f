import { createSteadfetch, NetworkError, type SteadyFetch } from 'steadfetch';
import { beforeEach, expect, test } from 'vitest';
import { fakeServer, type Handler, origin, streaming } from './fake-server.ts';
import { bodyReaderEntries, contentType } from './body-readers.ts';
import { fakeTime, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

const create = (handler: Handler): SteadyFetch =>
  createSteadfetch({ fetch: fakeServer(handler).fetch }).fetch;

/** What browsers and libraries reject with, and what tells nothing about who ended the request. */
const rejections: readonly (readonly [string, unknown])[] = [
  ["Chromium's TypeError", new TypeError('Failed to fetch')],
  ["Firefox's TypeError", new TypeError('NetworkError when attempting to fetch resource.')],
  ["WebKit's TypeError", new TypeError('Load failed')],
  ['an AbortError that nobody asked for', new DOMException('Fetch is aborted', 'AbortError')],
  ['a TimeoutError that is not ours', new DOMException('signal timed out', 'TimeoutError')],
  ['an Error that calls itself AbortError', Object.assign(new Error(), { name: 'AbortError' })],
  ['an error that says it was aborted', new Error('The user aborted a request.')],
  ['a string', 'aborted'],
  ['null', null],
  ['undefined', undefined],
  ['a frozen object', Object.freeze({ name: 'TimeoutError', code: 'timeout' })],
];

test.each(rejections)(
  'fetch rejects with %s, nobody aborted: it is a NetworkError',
  async (_, cause) => {
    const error = await rejectionOf(create(() => Promise.reject(cause))(url));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      name: 'NetworkError',
      code: 'network',
      outcome: { kind: 'network', processed: 'unknown' },
    });
    expect((error as NetworkError).cause).toBe(cause);
    expect((error as NetworkError).response).toBeUndefined();
  },
);

test('a transport that throws at once is no different', async () => {
  const cause = new Error('not connected');
  const { fetch } = createSteadfetch({
    fetch: () => {
      throw cause;
    },
  });
  expect(await rejectionOf(fetch(url))).toMatchObject({ code: 'network', cause });
});

test('its message is for a user, and the request is in its operation', async () => {
  const error = await rejectionOf(
    create(() => Promise.reject(new TypeError('Failed to fetch')))(`${url}?token=secret#part`, {
      method: 'PUT',
    }),
  );
  const { message } = error as NetworkError;
  expect(message).toBe('The server did not answer.');
  expect(error).toMatchObject({ operation: { method: 'PUT' } });
});

test('a POST may have been processed, and the error says so', async () => {
  const error = await rejectionOf(
    create(() => Promise.reject(new TypeError('Load failed')))(url, { method: 'POST', body: 'a' }),
  );
  expect(error).toMatchObject({
    operation: { method: 'POST', idempotent: false, keyed: false },
    outcome: { processed: 'unknown' },
  });
});

test.each(bodyReaderEntries)('a body that breaks off is a NetworkError of %s', async (_, read) => {
  const { handler, wire } = streaming({ status: 201, headers: { 'content-type': contentType } });
  const response = await create(handler)(url);
  const promise = rejectionOf(read(response));
  wire.push('{"id"');
  const cause = new TypeError('network error');
  wire.cut(cause);
  const error = await promise;
  expect(error).toBeInstanceOf(NetworkError);
  expect(error).toMatchObject({
    code: 'network',
    outcome: { kind: 'body', status: 201, processed: 'yes' },
    cause,
  });
  expect((error as NetworkError).response).toBe(response);
});

test.each(rejections)(
  'the body breaks with %s, nobody aborted: it is a NetworkError',
  async (_, cause) => {
    const { handler, wire } = streaming();
    const response = await create(handler)(url);
    wire.cut(cause);
    for (const read of [() => response.clone().text(), () => response.text()]) {
      const error = await rejectionOf(read());
      expect(error).toMatchObject({ code: 'network', outcome: { kind: 'body', status: 200 } });
      expect((error as NetworkError).cause).toBe(cause);
    }
  },
);

test('the body of an HttpError breaks off: the failure remains what the status says', async () => {
  const { handler, wire } = streaming({ status: 503, headers: { 'retry-after': '9' } });
  const httpError = await rejectionOf(create(handler)(url));
  wire.cut();
  const error = await rejectionOf((httpError as { response: Response }).response.text());
  expect(error).toMatchObject({
    code: 'network',
    outcome: { kind: 'http', status: 503, retryAfterMs: 9000, processed: 'unknown' },
  });
});

test('the message of a broken body is for a user', async () => {
  const { handler, wire } = streaming();
  const response = await create(handler)(`${url}?token=secret`);
  wire.cut();
  const { message } = (await rejectionOf(response.text())) as NetworkError;
  expect(message).toBe('The answer broke off.');
});

test.each<[string, Error | undefined, string]>([
  ['Failed to fetch', undefined, ''],
  ['Load failed', undefined, ''],
  ['Network request failed', undefined, ''],
  ['NetworkError when attempting to fetch resource.', undefined, ''],
  ['fetch failed', new Error('connect ECONNREFUSED ::1:80'), ': connect ECONNREFUSED ::1:80'],
  [
    'The Internet connection appears to be offline.',
    undefined,
    ': The Internet connection appears to be offline',
  ],
])('a message of "%s" with the cause %s adds "%s" to ours', async (text, root, added) => {
  const cause = new TypeError(text, { cause: root });
  const { fetch } = createSteadfetch({ fetch: () => Promise.reject(cause) });
  expect(await rejectionOf(fetch(url))).toMatchObject({
    message: `The server did not answer${added}.`,
    cause,
  });
});
