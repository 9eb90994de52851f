import { idempotent, memoryStore } from 'steadfetch/server';
import { describe, expect, test } from 'vitest';
import { createMemoryRig, createShop, post, problemOf, told } from './rig.ts';

describe('the key', () => {
  const ask = (field: string | undefined, options = {}) => {
    const shop = createShop(createMemoryRig(), options);
    return { shop, answer: shop.send(post(field === undefined ? {} : { key: field })) };
  };

  test('that is missing is a 400', async () => {
    const { shop, answer } = ask(undefined);
    expect(await problemOf(answer)).toBe('400 key-missing');
    expect(shop.runs).toBe(0);
  });

  test.each([
    'abc',
    '""',
    '"abc',
    'abc"',
    '"a"b"',
    '"a\\b"',
    '"a", "b"',
    '"a", ("b")',
    '("a")',
    ':YWJj:',
    '12',
    '?1',
    '"é"',
    '"a\tb"',
    '"a";',
    '"a"; b=',
    `"${'x'.repeat(256)}"`,
    `"${'\\"'.repeat(9000)}"`,
  ])('that is malformed is a 400: %s', async (field) => {
    const { shop, answer } = ask(field);
    expect(await problemOf(answer)).toBe('400 key-malformed');
    expect(shop.runs).toBe(0);
  });

  test.each(['"abc"', '  "abc" ', '"a b"', '"a";v=1', '"a"; v="x;y"; w', `"${'x'.repeat(255)}"`])(
    'may be any String, with parameters: %s',
    async (field) => {
      expect((await ask(field).answer).status).toBe(201);
    },
  );

  test('may come without quotes where that is accepted, and is the same key with them', async () => {
    const shop = createShop(createMemoryRig(), { acceptRaw: true });
    expect(await told(shop.send(post({ key: '8e03978e-1' })))).toBe('201 a lamp: order 1');
    expect(await told(shop.send(post({ key: '"8e03978e-1"' })))).toBe('201 a lamp: order 1');
  });

  test.each(['"abc', 'a b', 'a, b', 'é', 'x'.repeat(256)])(
    'is malformed there, too, as %s',
    async (field) => {
      const { answer } = ask(field, { acceptRaw: true });
      expect(await problemOf(answer)).toBe('400 key-malformed');
    },
  );

  test('may be in a header of another name', async () => {
    const shop = createShop(createMemoryRig(), { header: 'PayPal-Request-Id', acceptRaw: true });
    expect((await shop.send(post({ headers: { 'paypal-request-id': 'abc' } }))).status).toBe(201);
    const answer = await shop.send(post({ key: '"abc"' }));
    expect(await answer.json()).toMatchObject({
      detail: 'PayPal-Request-Id: This request needs an idempotency key.',
    });
  });

  test('may be as long as maxKeyLength, after its quotes are taken away', async () => {
    expect((await ask('"\\"bcd"', { maxKeyLength: 4 }).answer).status).toBe(201);
    expect((await ask('"abcde"', { maxKeyLength: 4 }).answer).status).toBe(400);
  });
});

describe('the body', () => {
  const shopOf4Bytes = () => createShop(createMemoryRig(), { maxBodyBytes: 4 });

  test('may be as long as maxBodyBytes', async () => {
    expect((await shopOf4Bytes().send(post({ key: '"a"', body: 'four' }))).status).toBe(201);
    const headers = { 'content-length': '4' };
    const told4 = post({ key: '"a"', body: 'four', headers });
    expect((await shopOf4Bytes().send(told4)).status).toBe(201);
  });

  test('that is longer is a 413, and its key is free', async () => {
    const shop = shopOf4Bytes();
    expect(await problemOf(shop.send(post({ key: '"a"', body: 'fives' })))).toBe(
      '413 body-too-large',
    );
    expect((await shop.send(post({ key: '"a"', body: 'four' }))).status).toBe(201);
    expect(shop.runs).toBe(1);
  });

  test('is not read to its end when it has none', async () => {
    let pulls = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls += 1;
          controller.enqueue(new Uint8Array(3));
        },
        cancel: () => void (isCancelled = true),
      },
      { highWaterMark: 0 },
    );
    const init = { method: 'POST', headers: { 'idempotency-key': '"a"' }, duplex: 'half' } as const;
    const request = new Request('http://shop.example/', { ...init, body: endless });
    expect(await problemOf(shopOf4Bytes().send(request))).toBe('413 body-too-large');
    expect(pulls).toBe(2);
    expect(isCancelled).toBe(true);
  });

  test('is not read at all when its length is told, and too long', async () => {
    const headers = { 'content-length': '5' };
    const request = post({ key: '"a"', body: 'fives', headers });
    expect(await problemOf(shopOf4Bytes().send(request))).toBe('413 body-too-large');
    expect(request.bodyUsed).toBe(false);
  });

  test('that breaks off is no order, and its key is free', async () => {
    const shop = createShop(createMemoryRig());
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new TypeError('terminated')),
    });
    const headers = { 'idempotency-key': '"a"' };
    const init = { method: 'POST', headers, body: broken, duplex: 'half' } as const;
    await expect(shop.send(new Request('http://shop.example/', init))).rejects.toThrow(
      'terminated',
    );
    expect((await shop.send(post({ key: '"a"' }))).status).toBe(201);
  });

  test('that somebody has read before is a mistake that is named', async () => {
    const request = post({ key: '"a"' });
    await request.text();
    await expect(createShop(createMemoryRig()).send(request)).rejects.toThrow(
      'idempotent: the body of the request has been read already.',
    );
  });

  test('is still read where a Request has no body of its own, as in Firefox', async () => {
    const inFirefox = (request: Request) => Object.defineProperty(request, 'body', {});
    const shop = shopOf4Bytes();
    const send = (body: string) => shop.send(inFirefox(post({ key: '"a"', body })));
    expect(await problemOf(send('fives'))).toBe('413 body-too-large');
    expect(await told(send('four'))).toBe('201 four: order 1');
    expect(await problemOf(send('five'))).toBe('422 payload-mismatch');
  });

  test('may be empty, and a GET may have none', async () => {
    const shop = createShop(createMemoryRig());
    expect(await told(shop.send(post({ key: '"a"', body: '' })))).toBe('201 : order 1');
    const get = () =>
      new Request('http://shop.example/', { headers: { 'idempotency-key': '"b"' } });
    expect(await told(shop.send(get()))).toBe('201 : order 2');
    expect(await told(shop.send(get()))).toBe('201 : order 2');
  });
});

describe('a store that is full', () => {
  test('refuses new keys until old ones expire, and still knows those it has', async () => {
    let nowMs = 0;
    const send = idempotent(() => new Response('done'), {
      store: memoryStore({ maxKeys: 2 }),
      lifetimeMs: 60_000,
      now: () => nowMs,
    });
    for (const key of ['"a"', '"b"']) await send(post({ key }));
    const refused = await send(post({ key: '"c"' }));
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await problemOf(refused)).toBe('503 store-full');
    expect(await told(send(post({ key: '"a"' })))).toBe('200 done');
    nowMs = 60_000;
    expect(await told(send(post({ key: '"c"' })))).toBe('200 done');
  });
});

describe('the scope', () => {
  const key = '"8e03978e"';
  const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.c2ln';

  describe('a scope that is a credential is an error at the request, and nothing is done', () => {
    test.each([
      ['the Authorization header', { authorization: 'Custom 77' }, 'Custom 77'],
      ['the token in it', { authorization: 'Bearer 8f3a' }, '8f3a'],
      ['the token in it, after two blanks', { authorization: 'Own  8f3a' }, '8f3a'],
      ['the Cookie header', { cookie: 'session=8f3a' }, 'session=8f3a'],
      ['a bearer token from elsewhere', {}, 'bearer 8f3a'],
      ['a JSON Web Token from elsewhere', {}, jwt],
    ])('%s', async (_, headers, owner) => {
      const shop = createShop(createMemoryRig(), { scope: () => owner });
      await expect(shop.send(post({ key, headers }))).rejects.toThrow(
        new TypeError(
          'idempotent: scope is a credential (a token, or the Authorization or Cookie header), and must be ' +
            'the id of the user. A token that is renewed between two attempts makes two orders of one.',
        ),
      );
      expect(shop.runs).toBe(0);
    });
  });

  test.each([[''], [undefined], [null], [17]])('a scope of %j is an error, too', async (owner) => {
    const shop = createShop(createMemoryRig(), { scope: () => owner as string });
    await expect(shop.send(post({ key }))).rejects.toThrow(
      'idempotent: scope is not a string, or empty',
    );
    expect(shop.runs).toBe(0);
  });

  test.each([
    'ann',
    'ann@shop.example',
    '8e03978e-40d5-43dd-bc93-6894a57f9324',
    'a.b.c',
    'user 17',
    'the token 17',
    'heyJude.john.doe',
    'eyJude.john.doe@shop.example',
  ])('the id of a user is none: %s', async (owner) => {
    const shop = createShop(createMemoryRig(), { scope: async () => owner });
    const headers = { authorization: `Bearer ${jwt}`, cookie: 'theme=dark' };
    expect(await told(shop.send(post({ key, headers })))).toBe('201 a lamp: order 1');
  });

  test('a token that is renewed between two attempts makes no second order', async () => {
    const userOf = new Map([
      ['Bearer 1', 'ann'],
      ['Bearer 2', 'ann'],
    ]);
    const scope = ({ headers }: Request) => userOf.get(headers.get('authorization') ?? '') ?? '';
    const shop = createShop(createMemoryRig(), { scope });
    const send = (authorization: string) => shop.send(post({ key, headers: { authorization } }));
    expect(await told(send('Bearer 1'))).toBe('201 a lamp: order 1');
    expect(await told(send('Bearer 2'))).toBe('201 a lamp: order 1');
  });
});

test.each(['POST', 'GET', 'HEAD'])(
  'a %s Request that a framework stands in front of is handed on as it is, as that of Next.js',
  async (method) => {
    const handler = idempotent(
      async (request) => {
        const { url, headers } = request;
        return new Response(
          [request.method, url, headers.get('x-own'), await request.text()].join(),
        );
      },
      { store: memoryStore() },
    );
    const sent = method === 'POST' ? { body: 'lamp' } : {};
    const headers = { 'idempotency-key': '"k1"', 'x-own': 'mine' };
    const own = new Request('http://shop.example/orders', { method, headers, ...sent });
    // What has private fields finds them in itself alone.
    const request = new Proxy(own, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const response = await handler(request);
    expect(await response.text()).toBe(
      `${method},http://shop.example/orders,mine,${sent.body ?? ''}`,
    );
  },
);
