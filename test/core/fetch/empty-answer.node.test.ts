import { createServer, type ServerResponse } from 'node:http';
import {
  type ApiProfile,
  conditionalWrites,
  createSteadfetch,
  defineIdempotency,
  isNetworkError,
  outcomeOf,
  retry,
} from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { listen } from './loopback.ts';
import { rejectionOf } from './observe.ts';

type Answer = (response: ServerResponse) => void;

const json = { 'content-type': 'application/json' };

/** Every way to say nothing. */
const empties: readonly (readonly [string, Answer])[] = [
  [
    'a length of 0',
    (response) => response.writeHead(response.statusCode, { 'content-length': 0 }).end(),
  ],
  [
    'a length of 0 and the type of JSON',
    (response) => response.writeHead(response.statusCode, { ...json, 'content-length': 0 }).end(),
  ],
  [
    'no length and no chunk',
    (response) =>
      response.writeHead(response.statusCode, { ...json, 'transfer-encoding': 'chunked' }).end(),
  ],
  [
    'a closed connection',
    (response) => response.writeHead(response.statusCode, { connection: 'close' }).end(),
  ],
  ['a single space', (response) => response.writeHead(response.statusCode, json).end(' ')],
  [
    'white space in two parts',
    (response) => {
      response.writeHead(response.statusCode, json).write('\r\n');
      response.end('\t');
    },
  ],
];

describe.each(empties)('json of an answer with %s', (_, answer) => {
  test.each([200, 201, 202, 203, 206, 207])('and status %i is null', async (status) => {
    const url = await listen(
      createServer((request, response) => {
        request.resume();
        response.statusCode = status;
        answer(response);
      }),
    );
    const steady = createSteadfetch();
    expect(await steady.json(url)).toBe(null);
    expect(await steady.json(url, { json: {} })).toBe(null);
  });
});

describe.each(empties)('the json() of a Response with %s', (_, answer) => {
  test('of fetch is null, also that of a clone', async () => {
    const url = await listen(createServer((_request, response) => answer(response)));
    const { fetch } = createSteadfetch();
    expect(await (await fetch(url)).json()).toBe(null);
    expect(await (await fetch(url)).clone().json()).toBe(null);
  });

  test('of rawFetch says that a PUT was done', async () => {
    let requests = 0;
    const url = await listen(
      createServer((request, response) => {
        requests++;
        request.resume().on('end', () => answer(response));
      }),
    );
    const steady = createSteadfetch({ policy: { baseMs: 1, fastRetryMs: 1 } });
    const error = await rejectionOf(
      retry(steady, async ({ signal }) =>
        (await steady.rawFetch(url, { method: 'PUT', body: 'a', signal })).json(),
      ),
    );
    expect(error).toBeInstanceOf(SyntaxError);
    expect(outcomeOf(error)).toEqual({ kind: 'body', status: 200, processed: 'yes' });
    expect(requests).toBe(1);
  });
});

test('an empty 202 to a POST with a key is one request', async () => {
  let requests = 0;
  const url = await listen(
    createServer((request, response) => {
      requests++;
      request.resume().on('end', () => response.writeHead(202).end());
    }),
  );
  const apis = [{ match: url, idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }];
  const steady = createSteadfetch({ apis });
  const made = retry(steady, ({ signal }) =>
    steady.json(url, { json: {}, signal, idempotencyKey: 'key-1' }),
  );
  expect(await made).toBe(null);
  expect(requests).toBe(1);
});

/** An answer without content in the place of a refusal, which says that an earlier attempt has done it. */
const inPlace: Record<string, ApiProfile> = {
  'true of wasOurs': { match: '/', conditional: conditionalWrites({ wasOurs: () => true }) },
  'a 204 of wasOurs': {
    match: '/',
    conditional: conditionalWrites({ wasOurs: () => new Response(null, { status: 204 }) }),
  },
  'an empty 200 of wasOurs': {
    match: '/',
    conditional: conditionalWrites({ wasOurs: () => new Response('') }),
  },
};

test.each(Object.entries(inPlace))('json of %s is null', async (_, api) => {
  const url = await listen(
    createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(412).end());
    }),
  );
  const steady = createSteadfetch({ apis: [{ ...api, match: url }] });
  const init = { json: {}, method: 'PATCH', headers: { 'if-match': '"1"' } };
  expect(await steady.json(url, init)).toBe(null);
});

/** Engines differ: in some a body that was cut off resolves. So does this stub. */
const stub = (body: BodyInit | null, headers: Record<string, string>, type?: ResponseType) =>
  createSteadfetch({
    fetch: async () => {
      const response = new Response(body, { headers });
      const stream = new ReadableStream({
        start(controller) {
          if (body) controller.enqueue(new TextEncoder().encode(body as string));
          controller.close();
        },
      });
      const made = new Response(stream, { headers: response.headers });
      return type ? Object.defineProperty(made, 'type', { value: type }) : made;
    },
  });

describe('a body that is shorter than its Content-Length', () => {
  const url = 'http://localhost:3000/items';
  const readers: Record<string, (response: Response) => Promise<unknown>> = {
    text: (response) => response.text(),
    json: (response) => response.json(),
    arrayBuffer: (response) => response.arrayBuffer(),
    clone: (response) => response.clone().blob(),
    async body({ body }) {
      for await (const _ of body ?? []);
    },
  };

  test.each(Object.entries(readers))('is a broken body for %s', async (_, read) => {
    for (const body of ['', '[1,2]']) {
      const response = await stub(body, { 'content-length': '6' }).fetch(url);
      const error = await rejectionOf(read(response));
      expect(isNetworkError(error)).toBe(true);
      expect(outcomeOf(error)).toEqual({ kind: 'body', status: 200, processed: 'yes' });
    }
  });

  test('is one for steady.json, and no empty answer', async () => {
    const error = await rejectionOf(stub('', { 'content-length': '6' }).json(url));
    expect(isNetworkError(error)).toBe(true);
  });

  test.each<[string, Record<string, string>, ResponseType?]>([
    ['it was compressed', { 'content-length': '26', 'content-encoding': 'gzip' }],
    ['another origin may hide that it was', { 'content-length': '26' }, 'cors'],
    ['the length is none', { 'content-length': '26, 26' }],
    ['it came in chunks', { 'content-length': '26', 'transfer-encoding': 'chunked' }],
    ['it is longer', { 'content-length': '2' }],
  ])('is whole where %s', async (_, headers, type) => {
    expect(await stub('[1,2]', headers, type).json(url)).toEqual([1, 2]);
  });

  test('is a broken one of another origin, too, where no compression explains it', async () => {
    const error = await rejectionOf(stub('[1,2]', { 'content-length': '70' }, 'cors').json(url));
    expect(isNetworkError(error)).toBe(true);
  });
});
