import {
  createSteadfetch,
  profiles,
  isUnexpectedContentError,
  outcomeOf,
  type Steadfetch,
  type SteadfetchConfig,
  UnexpectedContentError,
  retry,
} from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { answer, type FakeServer, fakeServer, type Handler, origin } from './fake-server.ts';
import { fakeTime, observe, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items/1`;
const page = answer(200, '<!doctype html><title>Log in</title>', { 'content-type': 'text/html' });
const good = answer(200, '{"id":1}', { 'content-type': 'application/json' });
const typed = (type: string, body = '{"id":1}'): Handler =>
  answer(200, body, { 'content-type': type });

const create = (server: FakeServer, config: SteadfetchConfig = {}): Steadfetch =>
  createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...config });

describe('steady.json', () => {
  test.each([
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/problem+json',
    'application/vnd.api+json;version=1',
    'text/json',
    'text/plain;charset=UTF-8',
    'application/octet-stream',
    'binary/octet-stream',
    // Sent twice, as by a proxy beside its server.
    'application/json, application/json',
    'text/html, application/json; charset=utf-8',
    'application/json; profile="a,b; c"; q=1',
    '',
  ])('takes an answer of type "%s"', async (type) => {
    const { json } = create(fakeServer(typed(type)));
    expect(await json(url)).toEqual({ id: 1 });
  });

  test('makes no stream of a good answer, as asking for its body would', async () => {
    const body = vi.fn<() => null>(() => null);
    const response = new Response('{"id":1}', { headers: { 'content-type': 'application/json' } });
    const { json } = createSteadfetch({
      fetch: async () => Object.defineProperty(response, 'body', { get: body }),
    });
    expect(await json(url)).toEqual({ id: 1 });
    expect(body).not.toHaveBeenCalled();
  });

  const wrongTypes = [
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'application/xhtml+xml',
    'text/xml',
    'application/xml',
    'application/jsonp',
    'application/json-seq',
    'application/json+protobuf',
    'text/x-json',
    'text/javascript',
    'json',
    'application/json, text/html',
  ];

  test.each(wrongTypes)('takes JSON of type "%s", and an empty body as null', async (type) => {
    const values: [body: string, value: unknown][] = [
      ['{"id":1}', { id: 1 }],
      ['[1]', [1]],
      ['"text"', 'text'],
      ['-1', -1],
      ['0', 0],
      ['true', true],
      ['false', false],
      ['null', null],
      ['\uFEFF \n{"id":1}', { id: 1 }],
      ['', null],
      [' \r\n\t', null],
    ];
    for (const [body, value] of values) {
      const server = fakeServer(typed(type, body));
      const { json, fetch } = create(server, {
        apis: [{ match: origin, idempotency: profiles.draft }],
      });
      const init = { method: 'POST', idempotencyKey: 'k-1' };
      expect(await json(url, init)).toEqual(value);
      const response = await fetch(url, { expect: 'json' });
      expect(await response.text()).toBe(body.replace('\uFEFF', ''));
      expect(server.requests).toHaveLength(2);
    }
  });

  test('which is large, and comes in parts, is not parsed before it is read', async () => {
    const large = JSON.stringify({ id: 'x'.repeat(200_000) });
    const { json } = create(fakeServer(typed('text/html', large)));
    expect(JSON.stringify(await json(url))).toBe(large);
    const parts = [' ', '\n', '{"i', 'd":1', '}'];
    const parting = createSteadfetch({
      fetch: async () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              const part = parts.shift();
              if (part === undefined) controller.close();
              else controller.enqueue(new TextEncoder().encode(part));
            },
          }),
          { headers: { 'content-type': 'text/html' } },
        ),
    });
    expect(await parting.json(url)).toEqual({ id: 1 });
  });

  test.each(
    [...wrongTypes, 'image/png', 'text/event-stream'].flatMap((type) =>
      ['<!doctype html>', ' \n <p>', 'OK', 'true story', '{"id":', 'data: 1', ")]}'{}"].map(
        (body) => [type, body] as const,
      ),
    ),
  )('refuses what is no JSON of type "%s", and leaves it to be read: %s', async (type, body) => {
    const { json } = create(fakeServer(typed(type, body)));
    const error = await rejectionOf(json(url, { method: 'PUT' }));
    expect(error).toBeInstanceOf(UnexpectedContentError);
    expect(isUnexpectedContentError(error)).toBe(true);
    expect(error).toMatchObject({
      code: 'unexpected-content',
      message: `The server answered 200, with content type ${type.toLowerCase().replace(/;.*/, '')} where JSON was expected.`,
      outcome: { kind: 'body', status: 200, processed: 'unknown' },
    });
    expect(await (error as UnexpectedContentError).response.text()).toBe(body);
  });

  test('refuses a page that never ends by its first byte', async () => {
    let pulls = 0;
    const { json } = createSteadfetch({
      fetch: async () =>
        new Response(
          new ReadableStream(
            {
              pull(controller) {
                if (pulls++ === 0) controller.enqueue(new TextEncoder().encode('<'));
                return pulls === 1 ? undefined : new Promise(() => {});
              },
            },
            { highWaterMark: 0 },
          ),
          { headers: { 'content-type': 'text/html' } },
        ),
    });
    expect(await rejectionOf(json(url, { policy: { maxRetries: 0 } }))).toMatchObject({
      code: 'unexpected-content',
    });
  });

  test('JSON of another type whose body breaks off is a broken body', async () => {
    const { json } = createSteadfetch({
      fetch: async () =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode('{"id'));
            },
            pull: (controller) => controller.error(new TypeError('reset')),
          }),
          { headers: { 'content-type': 'text/html' } },
        ),
    });
    expect(await rejectionOf(json(url))).toMatchObject({
      code: 'network',
      outcome: { kind: 'body', status: 200 },
    });
  });

  test('a write that was redirected to a page without content is not done', async () => {
    const { json } = createSteadfetch({
      fetch: async () =>
        Object.defineProperty(
          new Response('', { headers: { 'content-type': 'text/html' } }),
          'redirected',
          { value: true },
        ),
    });
    expect(await rejectionOf(json(url, { method: 'PUT' }))).toMatchObject({
      code: 'unexpected-content',
    });
    expect(await json(url)).toBeNull();
  });

  test('an answer that cannot have a body has no type', async () => {
    const { json } = create(fakeServer(answer(204, null, { 'content-type': 'text/html' })));
    expect(await json(url)).toBeNull();
  });

  test('an HTML answer outside 2xx stays an HttpError', async () => {
    const { json } = create(fakeServer(answer(502, '<html>', { 'content-type': 'text/html' })));
    expect(await rejectionOf(json(url))).toMatchObject({ code: 'http', status: 502 });
  });

  test.each<[string, SteadfetchConfig, { expect?: 'any' }]>([
    ['of the call', {}, { expect: 'any' }],
    ['of its API', { apis: [{ match: origin, expect: 'any' }] }, {}],
  ])('`expect: any` %s takes a wrong type', async (_, config, init) => {
    const { json } = create(fakeServer(typed('text/html')), config);
    expect(await json(url, init)).toEqual({ id: 1 });
  });

  test('what is no JSON after all is a SyntaxError, of which nothing is known', async () => {
    for (const type of ['text/plain', 'text/html', '']) {
      const { json } = create(fakeServer(typed(type, '<html>')));
      const error = await rejectionOf(json(url, { method: 'PUT', expect: 'any' }));
      expect(error).toBeInstanceOf(SyntaxError);
      expect(outcomeOf(error)).toEqual({ kind: 'body', status: 200, processed: 'unknown' });
    }
  });

  test('JSON that is broken came from its server, which has done it', async () => {
    const { json } = create(fakeServer(typed('application/json', '{"id":')));
    const error = await rejectionOf(json(url, { method: 'PUT' }));
    expect(outcomeOf(error)).toMatchObject({ kind: 'body', processed: 'yes' });
  });
});

describe('steady.fetch', () => {
  test('takes every type, and refuses what is no JSON where that is expected', async () => {
    const { fetch } = create(fakeServer(page));
    expect((await fetch(url)).status).toBe(200);
    expect(await rejectionOf(fetch(url, { expect: 'json' }))).toMatchObject({
      code: 'unexpected-content',
    });
  });

  test('an API may expect JSON of all its answers, and a call may not', async () => {
    const { fetch } = create(fakeServer(page), { apis: [{ match: origin, expect: 'json' }] });
    expect(await rejectionOf(fetch(url))).toMatchObject({ code: 'unexpected-content' });
    expect((await fetch(url, { expect: 'any' })).status).toBe(200);
  });

  test('the page that json() cannot parse says nothing of what was done', async () => {
    const response = await create(fakeServer(page)).fetch(url, { method: 'PUT' });
    const error = await rejectionOf(response.json());
    expect(error).toBeInstanceOf(SyntaxError);
    expect(outcomeOf(error)).toMatchObject({ kind: 'body', processed: 'unknown' });
  });

  test.each(['html', '', null])(
    '`expect` of %j is refused before anything is sent',
    async (wrong) => {
      const server = fakeServer(good);
      const error = await rejectionOf(create(server).fetch(url, { expect: wrong as never }));
      expect(error).toMatchObject({
        name: 'TypeError',
        message: expect.stringContaining('expect is'),
      });
      expect(server.requests).toHaveLength(0);
      expect(() => create(server, { apis: [{ match: origin, expect: wrong as never }] })).toThrow(
        'expect is',
      );
    },
  );
});

describe('an answer that somebody else has given', () => {
  test.each(['GET', 'PUT', 'DELETE'])('a %s is sent again, and done', async (method) => {
    const server = fakeServer(page, page, good);
    const steady = create(server);
    const result = observe(retry(steady, ({ signal }) => steady.json(url, { method, signal })));
    await vi.advanceTimersByTimeAsync(500 + 1000);
    expect(result.value).toEqual({ id: 1 });
    expect(server.requests).toHaveLength(3);
  });

  test('a POST without a key is not sent again, and nobody knows what was done', async () => {
    const server = fakeServer(page, good);
    const steady = create(server);
    const result = observe(retry(steady, () => steady.json(url, { json: {} })));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(result.error).toMatchObject({
      outcome: { processed: 'unknown' },
      decision: { kind: 'stop', reason: 'not-idempotent' },
    });
    expect(server.requests).toHaveLength(1);
  });

  test('a POST with a key is sent again, with that key', async () => {
    const server = fakeServer(page, good);
    const steady = create(server, {
      apis: [{ match: origin, idempotency: profiles.draft }],
    });
    const result = observe(
      retry(steady, ({ signal }) => steady.json(url, { json: {}, idempotencyKey: 'one', signal })),
    );
    await vi.advanceTimersByTimeAsync(500);
    expect(result.value).toEqual({ id: 1 });
    expect(server.requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual([
      '"one"',
      '"one"',
    ]);
  });
});
