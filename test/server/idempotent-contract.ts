import { expect, test } from 'vitest';
import { createLatch, createShop, type NamedStore, post, problemOf, told, url } from './rig.ts';

const key = '"8e03978e"';

/** What `idempotent` does with every store that is to be had. */
export function testIdempotent(createStore: NamedStore[1]): void {
  test('a second request with the key gets the answer of the first, and nothing is done again', async () => {
    const rig = await createStore();
    const shop = createShop(rig);
    expect(await told(shop.send(post({ key })))).toBe('201 a lamp: order 1');
    const again = await shop.send(post({ key }));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await told(again)).toBe('201 a lamp: order 1');
    expect(shop.runs).toBe(1);
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  test('the first answer does not say that it is replayed', async () => {
    const { headers } = await createShop(await createStore()).send(post({ key }));
    expect(headers.has('idempotent-replayed')).toBe(false);
  });

  test('two keys are two orders of the same', async () => {
    const rig = await createStore();
    const shop = createShop(rig);
    expect(await told(shop.send(post({ key: '"a"' })))).toBe('201 a lamp: order 1');
    expect(await told(shop.send(post({ key: '"b"' })))).toBe('201 a lamp: order 2');
    expect(await rig.ledger.orders()).toEqual(['a lamp', 'a lamp']);
  });

  test('while the first request runs, others with its key are told to wait', async () => {
    const rig = await createStore();
    const { open, opened } = createLatch();
    const started = createLatch();
    const shop = createShop(rig, { retryAfterSeconds: 3 }, async () => {
      started.open();
      await opened;
      return new Response('done');
    });
    const first = shop.send(post({ key }));
    await started.opened;
    const second = await shop.send(post({ key }));
    expect(second.headers.get('retry-after')).toBe('3');
    expect(await problemOf(second)).toBe('409 in-progress');
    expect(await problemOf(shop.send(post({ key, body: 'a chair' })))).toBe('422 payload-mismatch');
    open();
    expect(await told(first)).toBe('200 done');
    expect(await told(shop.send(post({ key })))).toBe('200 done');
    expect(shop.runs).toBe(1);
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  test('requests that arrive at once are one order', async () => {
    const rig = await createStore();
    const shop = createShop(rig);
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.send(post({ key }))));
    const isFirst = ({ status, headers }: Response) =>
      status === 201 && !headers.has('idempotent-replayed');
    expect(answers.filter(isFirst)).toHaveLength(1);
    expect(shop.runs).toBe(1);
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  test.each([
    ['another body', { body: 'a chair' }],
    ['another path', { url: 'http://shop.example/carts?via=web' }],
    ['another query', { url: 'http://shop.example/orders?via=app' }],
    ['another method', { method: 'PATCH' }],
  ])('the key with %s is refused, and nothing is done', async (_what, other) => {
    const rig = await createStore();
    const shop = createShop(rig);
    await shop.send(post({ key }));
    expect(await problemOf(shop.send(post({ key, ...other })))).toBe('422 payload-mismatch');
    expect(shop.runs).toBe(1);
    expect(await told(shop.send(post({ key })))).toBe('201 a lamp: order 1');
  });

  test('the same request by another host name is the same', async () => {
    const shop = createShop(await createStore());
    await shop.send(post({ key }));
    const other = post({ key, url: url.replace('shop.example', '10.0.0.7:8080') });
    expect(await told(shop.send(other))).toBe('201 a lamp: order 1');
  });

  test('a handler that throws has done nothing, and the next attempt runs', async () => {
    const rig = await createStore();
    const shop = createShop(rig, {}, (order, run) => {
      if (run === 1) throw new Error('The database is gone.');
      return new Response(order);
    });
    await expect(shop.send(post({ key }))).rejects.toThrow('The database is gone.');
    expect(await rig.ledger.orders()).toEqual([]);
    expect(await told(shop.send(post({ key })))).toBe('200 a lamp');
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  test.each([500, 503, 401, 408, 425, 429])(
    'an answer of %d is none: what was written is undone, and the next attempt runs',
    async (status) => {
      const rig = await createStore();
      const answer = (order: string, run: number) =>
        run === 1 ? new Response('not now', { status }) : new Response(order);
      const shop = createShop(rig, {}, answer);
      expect(await told(shop.send(post({ key })))).toBe(`${status} not now`);
      expect(await rig.ledger.orders()).toEqual([]);
      expect(await told(shop.send(post({ key })))).toBe('200 a lamp');
      expect(await rig.ledger.orders()).toEqual(['a lamp']);
    },
  );

  test.each([200, 201, 303, 400, 402, 404, 409, 422])('an answer of %d is kept', async (status) => {
    const rig = await createStore();
    const shop = createShop(rig, {}, (_order, run) => new Response(`run ${run}`, { status }));
    await shop.send(post({ key }));
    expect(await told(shop.send(post({ key })))).toBe(`${status} run 1`);
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  test('isFinal says what else is kept, and what is not', async () => {
    const rig = await createStore();
    const isFinal = ({ status }: Response) => status === 500;
    const status = (run: number) => (run === 1 ? 201 : 500);
    const shop = createShop(
      rig,
      { isFinal },
      (_order, run) => new Response(`run ${run}`, { status: status(run) }),
    );
    expect(await told(shop.send(post({ key })))).toBe('201 run 1');
    expect(await told(shop.send(post({ key })))).toBe('500 run 2');
    expect(await told(shop.send(post({ key })))).toBe('500 run 2');
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  test('isFinal may read the answer, and take its time: what is not final runs again', async () => {
    const rig = await createStore();
    const isFinal = async (answer: Response) => !(await answer.text()).includes('try again');
    const shop = createShop(
      rig,
      { isFinal },
      (_order, run) => new Response(run === 1 ? 'try again' : `run ${run}`),
    );
    expect(await told(shop.send(post({ key })))).toBe('200 try again');
    expect(await told(shop.send(post({ key })))).toBe('200 run 2');
    expect(await told(shop.send(post({ key })))).toBe('200 run 2');
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  test('the same key of two users is two orders, and neither reads the answer of the other', async () => {
    const rig = await createStore();
    const scope = ({ headers }: Request) => headers.get('user') ?? '';
    const shop = createShop(rig, { scope });
    const of = (user: string) => shop.send(post({ key, headers: { user } }));
    expect(await told(of('Ann'))).toBe('201 a lamp: order 1');
    expect(await told(of('Ben'))).toBe('201 a lamp: order 2');
    expect(await told(of('Ann'))).toBe('201 a lamp: order 1');
  });

  test('no scope and key make the id of another pair', async () => {
    const shop = createShop(await createStore(), {
      scope: (request) => request.headers.get('of') ?? '',
    });
    const pairs = [
      ['a', '"b,c"'],
      ['a,b', '"c"'],
      ['a"', '"b"'],
      ['a', '"\\"b"'],
    ] as const;
    for (const [of, pair] of pairs) await shop.send(post({ key: pair, headers: { of } }));
    expect(shop.runs).toBe(4);
  });

  test('the fingerprint is what two requests must have in common', async () => {
    const fingerprint = async (request: Request) => (await request.text()).toLowerCase();
    const shop = createShop(await createStore(), { fingerprint });
    await shop.send(post({ key }));
    expect(await told(shop.send(post({ key, body: 'A LAMP' })))).toBe('201 a lamp: order 1');
    expect(await problemOf(shop.send(post({ key, body: 'a chair' })))).toBe('422 payload-mismatch');
  });

  test('bytes come back as they were, whatever they are', async () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_byte, index) => (index * 7) % 256);
    const shop = createShop(await createStore(), {}, () => new Response(bytes));
    const read = async () => new Uint8Array(await (await shop.send(post({ key }))).arrayBuffer());
    expect(await read()).toEqual(bytes);
    expect(await read()).toEqual(bytes);
  });

  test('an answer without a body is replayed without one', async () => {
    const shop = createShop(await createStore(), {}, () => new Response(null, { status: 204 }));
    await shop.send(post({ key }));
    const again = await shop.send(post({ key }));
    expect(again.status).toBe(204);
    expect(again.body).toBe(null);
  });

  test('an answer that streams is kept whole', async () => {
    const stream = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (const part of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(part));
          controller.close();
        },
      });
    const shop = createShop(await createStore(), {}, () => new Response(stream()));
    expect(await told(shop.send(post({ key })))).toBe('200 one two');
    expect(await told(shop.send(post({ key })))).toBe('200 one two');
  });

  test('a replay has the headers of the answer, but no cookies, and nothing of the connection', async () => {
    const shop = createShop(await createStore(), {}, () => {
      const response = new Response('{}', {
        headers: {
          'content-type': 'application/json',
          'access-control-allow-origin': 'https://shop.example',
          connection: 'close',
          'content-length': '2',
          date: 'Sun, 06 Nov 1994 08:49:37 GMT',
          'keep-alive': 'timeout=5',
          'proxy-authenticate': 'Basic',
          'proxy-authentication-info': 'a=1',
          'proxy-connection': 'close',
          te: 'trailers',
          trailer: 'etag',
          'transfer-encoding': 'chunked',
          upgrade: 'h2c',
        },
      });
      response.headers.append('set-cookie', 'session=secret');
      response.headers.append('set-cookie', 'theme=dark');
      return response;
    });
    const first = await shop.send(post({ key }));
    expect(first.headers.getSetCookie()).toEqual(['session=secret', 'theme=dark']);
    const again = await shop.send(post({ key }));
    expect([...again.headers]).toEqual([
      ['access-control-allow-origin', 'https://shop.example'],
      ['content-type', 'application/json'],
      ['idempotent-replayed', 'true'],
    ]);
  });

  test('a network error of the handler is passed on, and nothing is kept', async () => {
    const rig = await createStore();
    const shop = createShop(rig, {}, (order, run) =>
      run === 1 ? Response.error() : new Response(order),
    );
    expect((await shop.send(post({ key }))).type).toBe('error');
    expect(await told(shop.send(post({ key })))).toBe('200 a lamp');
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });
}
