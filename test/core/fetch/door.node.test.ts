import { createServer } from 'node:http';
import { Window } from 'happy-dom';
import nodeFetch3 from 'node-fetch';
import {
  createSteadfetch,
  type HttpError,
  isHttpError,
  isNetworkError,
  isTimeoutError,
  type Transport,
} from 'steadfetch';
import * as undici from 'undici';
import { describe, expect, test } from 'vitest';
import { listen } from './loopback.ts';
import { rejectionOf } from './observe.ts';
import { createFetchMock, expoResponse, nodeFetch2, polyfill } from './foreign.ts';

/** What the server does with a path. */
async function serve(): Promise<string> {
  return listen(
    createServer((request, response) => {
      request.resume();
      const [, path = ''] = /^\/(\w*)/.exec(request.url ?? '') ?? [];
      if (path === 'hang') return;
      if (path === 'nothing') return void response.writeHead(204).end();
      response.writeHead(path === 'refused' ? 409 : 200, { 'content-type': 'application/json' });
      if (path === 'late' || path === 'broken') response.flushHeaders();
      if (path === 'large') return void response.end(JSON.stringify('x'.repeat(200_000)));
      if (path === 'broken') {
        response.write('{"id"');
        return void setTimeout(() => response.destroy(), 5);
      }
      if (path === 'late') return void response.write('{"id"');
      response.end('{"id":1}');
    }),
  );
}

const window = new Window({ url: 'http://127.0.0.1/' });
const { Response: HappyResponse } = window;

/** Answers of a class that no network brings: made here. */
const made =
  (make: (text: string, init: ResponseInit) => unknown): Transport =>
  async (input) => {
    const isRefused = (input as string).endsWith('/refused');
    const headers = { 'content-type': 'application/json' };
    return make('{"id":1}', { status: isRefused ? 409 : 200, headers }) as Response;
  };

const plain = (text: string, { status = 200 }: ResponseInit) => ({
  ok: status < 300,
  status,
  json: async () => JSON.parse(text) as unknown,
});

/** As interceptors make it. */
const proxyOf = (response: Response): Response =>
  new Proxy(response, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

/** Those that ask a server. */
const asking: Record<string, Transport> = {
  native: (input, init) => fetch(input, init),
  undici: undici.fetch as unknown as Transport,
  'node-fetch 2': nodeFetch2,
  'node-fetch 3': nodeFetch3 as unknown as Transport,
};

/** Those that tests make. */
const constructed: Record<string, Transport> = {
  'whatwg-fetch, React Native': made((text, init) => new polyfill.Response(text, init)),
  'jest-fetch-mock 3': createFetchMock(3),
  'jest-fetch-mock 4': createFetchMock(4),
  'happy-dom': made((text, init) => new HappyResponse(text, init as never)),
  Expo: made((text, init) => expoResponse(text, init)),
  'a plain object with json': made(plain),
  'a frozen plain object': made((text, init) => Object.freeze(plain(text, init))),
  'a plain object with text': made((text, { status }) => ({ status, text: async () => text })),
  'a plain object with a stream': made((text, { status }) => ({
    status,
    body: new Response(text).body,
  })),
  'a plain object with headers as an object': made((text, init) => ({
    ...plain(text, init),
    headers: { 'content-type': 'application/json' },
  })),
  'a subclass of Response': made(
    (text, init) =>
      new (class extends Response {
        extra = 1;
      })(text, init),
  ),
  'a frozen Response': made((text, init) => Object.freeze(new Response(text, init))),
  'a proxy of a Response': made((text, init) => proxyOf(new Response(text, init))),
  'a Response with a member of its own': made((text, init) =>
    Object.defineProperty(new Response(text, init), 'url', { value: 'http://mirror.test/' }),
  ),
};

const all = Object.entries({ ...asking, ...constructed });

describe.each(all)('an answer of %s', (name, transport) => {
  const steady = createSteadfetch({ fetch: transport });

  test('is read as JSON and as text', async () => {
    const url = await serve();
    expect(await steady.json(url)).toEqual({ id: 1 });
    expect(await (await steady.fetch(url)).json()).toEqual({ id: 1 });
    expect(await (await steady.rawFetch(url)).text()).toBe('{"id":1}');
  });

  test('has a clone, and both are read', async () => {
    const url = await serve();
    const response = await steady.fetch(url);
    const copy = response.clone();
    expect(await Promise.all([response.json(), copy.json()])).toEqual([{ id: 1 }, { id: 1 }]);
    const next = await steady.fetch(url);
    // As a hook of ky does: the clone first, and all of it.
    expect(await next.clone().text()).toBe('{"id":1}');
    expect(await next.text()).toBe('{"id":1}');
  });

  test('that is an error keeps its body', async () => {
    const url = `${await serve()}/refused`;
    const error = await rejectionOf(steady.fetch(url));
    expect(isHttpError(error) && error.status).toBe(409);
    const { response: refusal } = error as HttpError;
    expect(await refusal.clone().json()).toEqual({ id: 1 });
    expect(await refusal.json()).toEqual({ id: 1 });
    const response = await steady.rawFetch(url);
    expect([response.status, await response.text()]).toEqual([409, '{"id":1}']);
  });

  test('that another client reads keeps all that it has', async () => {
    const response = await steady.fetch(await serve());
    expect([response.ok, response.status, typeof response.headers.get]).toEqual([
      true,
      200,
      'function',
    ]);
    const hasType = /json$|text$|stream$|frozen plain/.test(name) ? 'none' : 'application/json';
    expect(response.headers.get('content-type') ?? 'none').toBe(hasType);
    expect('status' in response).toBe(true);
  });

  test('is abandoned by an abort before its headers', async () => {
    const controller = new AbortController();
    const sent = steady.fetch(`${await serve()}/hang`, { signal: controller.signal });
    controller.abort('unmounted');
    expect(await rejectionOf(sent)).toBe('unmounted');
  });
});

describe.each(Object.entries(asking))('a body of %s', (name, transport) => {
  const steady = createSteadfetch({ fetch: transport });

  test('that is late is a time-out, also of a clone', async () => {
    const url = `${await serve()}/late`;
    const policy = { timeout: { headersMs: 5000, bodyIdleMs: 40 } };
    for (const read of [
      (response: Response) => response.text(),
      (response: Response) => response.clone().json(),
    ]) {
      const response = await steady.fetch(url, { policy });
      expect(isTimeoutError(await rejectionOf(read(response)))).toBe(true);
    }
  });

  test('that is aborted ends at once, with the reason of the caller', async () => {
    const controller = new AbortController();
    const response = await steady.fetch(`${await serve()}/late`, { signal: controller.signal });
    const copy = response.clone();
    const reads = [response.text(), copy.text()].map(rejectionOf);
    controller.abort('unmounted');
    expect(await Promise.all(reads)).toEqual(['unmounted', 'unmounted']);
  });

  test('that breaks off is a NetworkError', async () => {
    const response = await steady.fetch(`${await serve()}/broken`);
    expect(isNetworkError(await rejectionOf(response.json()))).toBe(true);
  });

  test('that is large comes whole', async () => {
    expect(await steady.json(`${await serve()}/large`)).toHaveLength(200_000);
  });

  test('is the stream that it is', async () => {
    const response = await steady.fetch(await serve());
    const decoder = new TextDecoder();
    let text = '';
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
    expect(text).toBe('{"id":1}');
    const body = response.body as unknown as { readonly pipe?: unknown };
    expect(typeof body.pipe).toBe(name.startsWith('node-fetch') ? 'function' : 'undefined');
  });

  test('is used once', async () => {
    const response = await steady.fetch(await serve());
    expect(response.bodyUsed).toBe(false);
    await response.text();
    expect(response.bodyUsed).toBe(true);
    expect(await rejectionOf(response.text())).toBeInstanceOf(TypeError);
  });
});

test.each<[string, Record<string, unknown>]>([
  ['only json', { json: async () => ({ id: 1 }) }],
  ['ok and json', { ok: true, json: async () => ({ id: 1 }) }],
])('an answer that a test makes of %s is a good one', async (_, mock) => {
  const steady = createSteadfetch({ fetch: async () => mock as unknown as Response });
  expect(await steady.json('http://localhost/items')).toEqual({ id: 1 });
  const response = await steady.fetch('http://localhost/items');
  expect([response.ok, response.status, await response.json()]).toEqual([true, 200, { id: 1 }]);
});

test.each<[string, Record<string, unknown>]>([
  ['headers that are null', { headers: null }],
  ['headers that are none', { headers: 'text/html' }],
  ['headers with get alone', { headers: { get: () => null } }],
  ['a clone that returns nothing', { clone: () => undefined }],
  [
    'a clone that returns itself',
    {
      clone() {
        return this;
      },
    },
  ],
  ['a body that is a text', { body: '{"id":1}' }],
])('an answer that a test makes with %s is read, and is an error', async (_, more) => {
  const transport = (status: number) => async () =>
    ({ status, json: async () => ({ id: 1 }), ...more }) as unknown as Response;
  const response = await createSteadfetch({ fetch: transport(200) }).fetch(
    'http://localhost/items',
  );
  expect(await Promise.all([response.clone().json(), response.json()])).toEqual([
    { id: 1 },
    { id: 1 },
  ]);
  for (const status of [403, 429, 503]) {
    const sent = createSteadfetch({ fetch: transport(status) }).fetch('http://localhost/items');
    const error = (await rejectionOf(sent)) as HttpError;
    expect([error.status, await error.response.json()]).toEqual([status, { id: 1 }]);
  }
});

test('an answer that a test makes of ok: false is an HttpError with status 500', async () => {
  const mock = { ok: false, json: async () => ({ id: 1 }) };
  const steady = createSteadfetch({ fetch: async () => mock as unknown as Response });
  const error = await rejectionOf(steady.fetch('http://localhost/items'));
  expect(isHttpError(error) && error.status).toBe(500);
});

test('a reader of a mock that never settles is a time-out', async () => {
  const mock = { ok: true, status: 200, json: () => new Promise(() => {}) };
  const steady = createSteadfetch({
    fetch: async () => mock as unknown as Response,
    policy: { timeout: 20 },
  });
  expect(isTimeoutError(await rejectionOf(steady.json('http://localhost/items')))).toBe(true);
});

/** Interceptors in the place of fetch, which put a reader of their own over that of the answer, as blogs show it. */
const interceptors: Record<string, (response: Response) => Response | Promise<Response>> = {
  'that reads a clone': (response) =>
    Object.assign(response, {
      json: async () => ({ ...((await response.clone().json()) as object), more: true }),
    }),
  'that has read the body': async (response) => {
    const content = (await response.json()) as object;
    return Object.assign(response, { json: async () => ({ ...content, more: true }) });
  },
  'as a hidden member': (response) =>
    Object.defineProperty(response, 'json', { value: async () => ({ id: 1, more: true }) }),
  'of a subclass': (response) =>
    new (class extends Response {
      override async json(): Promise<unknown> {
        return { ...((await super.json()) as object), more: true };
      }
    })(response.body, response),
  'of a proxy': (response) =>
    new Proxy(response, {
      get(target, name) {
        if (name === 'json')
          return async () => ({ ...((await target.json()) as object), more: true });
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    }),
};

describe.each(Object.entries(interceptors))('a json of its own %s', (_, intercept) => {
  const transport: Transport = async (input, init) => intercept(await fetch(input, init));
  const steady = createSteadfetch({ fetch: transport });
  const whole = { id: 1, more: true };

  test('is what reads the answer', async () => {
    const url = await serve();
    const response = await steady.rawFetch(url);
    expect([response.ok, response.status]).toEqual([true, 200]);
    expect(await response.json()).toEqual(whole);
    expect(await (await steady.fetch(url)).json()).toEqual(whole);
    expect(await steady.json(url)).toEqual(whole);
  });

  test('is what reads a refusal that another client sees', async () => {
    const response = await steady.rawFetch(`${await serve()}/refused`);
    expect([response.status, await response.json()]).toEqual([409, whole]);
  });
});

test.each(['that reads a clone', 'of a subclass', 'of a proxy'])(
  'nothing is null for steady.json, also for a json of its own %s',
  async (name) => {
    const intercept = interceptors[name] as (response: Response) => Response;
    const transport: Transport = async (input, init) => intercept(await fetch(input, init));
    expect(await createSteadfetch({ fetch: transport }).json(`${await serve()}/nothing`)).toBe(
      null,
    );
  },
);

test('a reader of its own that throws ends in its own error, and one that is too late in ours', async () => {
  const broken = new Error('not decrypted');
  const readers = [() => Promise.reject(broken), () => new Promise(() => {})];
  const transport: Transport = async () =>
    Object.assign(new Response('{}'), { json: readers.shift() });
  const steady = createSteadfetch({ fetch: transport });
  const timeout = { headersMs: 1000, bodyIdleMs: 20 };
  expect(await rejectionOf(steady.json('http://localhost/items'))).toBe(broken);
  const late = await rejectionOf(steady.json('http://localhost/items', { timeout }));
  expect(isTimeoutError(late)).toBe(true);
});
