import { createServer, type IncomingMessage, type Server } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Controller, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import fastify from 'fastify';
import { idempotent, memoryStore } from 'steadfetch/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toListener, toRequest } from './node-adapter.ts';
import { problemOf, told } from './rig.ts';

/** A handler that takes orders, and those that it has taken. */
function openShop() {
  const orders: string[] = [];
  const placeOrder = idempotent(
    async (request, { tx }) => {
      const { article } = (await request.json()) as { article: string };
      tx.onCommit(() => orders.push(`${article} at ${new URL(request.url).pathname}`));
      return Response.json({ article }, { status: 201 });
    },
    { store: memoryStore() },
  );
  return { orders, placeOrder, listener: toListener(placeOrder) };
}

type Shop = ReturnType<typeof openShop>;
type Listener = Shop['listener'];

async function listen(server: Server): Promise<string> {
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((ready) => void server.listen(0, '127.0.0.1', ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A route after the parser of all others: mounted before it, the handler gets the bytes as they came. */
async function openExpress({ listener }: Shop): Promise<string> {
  const app = express();
  app.post('/api/orders', listener);
  app.use(express.json());
  app.post('/api/echo', ({ body }, response) => void response.json(body));
  return listen(createServer(app));
}

/** Its answers have what a hook has set, as `@fastify/cors` does. */
const allowed = 'https://shop.example';

async function createFastify({ placeOrder }: Shop) {
  const app = fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('access-control-allow-origin', allowed).header('vary', 'Origin');
  });
  // Fastify reads a body before its route unless a parser of the plugin leaves it alone.
  await app.register(async (orders) => {
    orders.removeAllContentTypeParsers();
    orders.addContentTypeParser('*', (_request, _body, done) => done(null));
    orders.post('/api/orders', async ({ raw }, reply) =>
      reply.send(await placeOrder(toRequest(raw))),
    );
  });
  app.post('/api/echo', async ({ body }) => body);
  onTestFinished(() => app.close());
  return app;
}

async function openFastify(shop: Shop): Promise<string> {
  return (await createFastify(shop)).listen({ port: 0, host: '127.0.0.1' });
}

/** Nest, on Express. Its body parser is off, and on again for the routes that want it. */
async function openNest({ listener }: Shop): Promise<string> {
  class Orders {
    place(request: IncomingMessage, response: Parameters<Listener>[1]): void {
      listener(request, response);
    }
    echo({ body }: { body: unknown }): unknown {
      return body;
    }
  }
  // What decorators do, for a runner that only strips types.
  const decorate = (name: 'place' | 'echo', path: string, ...places: ParameterDecorator[]) => {
    const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, name);
    if (descriptor) Post(path)(Orders.prototype, name, descriptor);
    for (const [index, place] of places.entries()) place(Orders.prototype, name, index);
  };
  decorate('place', 'orders', Req(), Res());
  decorate('echo', 'echo', Req());
  Controller('api')(Orders);
  const app = await NestFactory.create(
    { module: Orders, controllers: [Orders] },
    { bodyParser: false, logger: false },
  );
  app.use('/api/echo', express.json());
  onTestFinished(() => app.close());
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

describe.each([
  ['Express', openExpress],
  ['Fastify', openFastify],
  ['Nest', openNest],
])('mounted in %s', (_name, open) => {
  test('an order is taken once, with the bytes as they came, beside routes that parse their body', async () => {
    const shop = openShop();
    const { orders } = shop;
    const origin = await open(shop);
    const send = (path: string, key: string, article: string) =>
      fetch(`${origin}/api/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ article }),
      });
    expect(await told(send('orders', '"a"', 'a lamp'))).toBe('201 {"article":"a lamp"}');
    const again = await send('orders', '"a"', 'a lamp');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await told(again)).toBe('201 {"article":"a lamp"}');
    expect(await problemOf(send('orders', '"a"', 'a chair'))).toBe('422 payload-mismatch');
    expect(await problemOf(send('orders', 'a', 'a chair'))).toBe('400 key-malformed');
    expect(await (await send('echo', 'a', 'a chair')).json()).toEqual({ article: 'a chair' });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => send('orders', '"b"', 'a table')),
    );
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(orders).toEqual(['a lamp at /api/orders', 'a table at /api/orders']);
  });
});

test('an answer of Fastify has what its plugins have set', async () => {
  const origin = await openFastify(openShop());
  const init = {
    method: 'POST',
    headers: { 'idempotency-key': '"a"' },
    body: '{"article":"a lamp"}',
  };
  for (const isReplayed of [false, true]) {
    const { status, headers } = await fetch(`${origin}/api/orders`, init);
    expect([status, headers.has('idempotent-replayed')]).toEqual([201, isReplayed]);
    expect(headers.get('access-control-allow-origin')).toBe(allowed);
    expect(headers.get('vary')).toBe('Origin');
  }
});

test('a test that injects its requests into Fastify, without a connection, has their keys', async () => {
  const shop = openShop();
  const app = await createFastify(shop);
  const send = () =>
    app.inject({
      method: 'POST',
      url: '/api/orders',
      headers: { 'idempotency-key': '"a"' },
      payload: '{"article":"a lamp"}',
    });
  const [first, again] = [await send(), await send()];
  expect([first.statusCode, first.body]).toEqual([201, '{"article":"a lamp"}']);
  expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
  expect(shop.orders).toEqual(['a lamp at /api/orders']);
});

test('a server of HTTP/2 takes an order once', async () => {
  const { orders, listener } = openShop();
  const server = http2.createServer(
    listener as unknown as Parameters<typeof http2.createServer>[1],
  );
  await new Promise<void>((ready) => void server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const session = http2.connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => {
    session.close();
    server.close();
  });
  const send = () =>
    new Promise<string>((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/api/orders',
        'idempotency-key': '"a"',
      });
      let status = 0;
      let body = '';
      stream.on('response', (headers) => (status = headers[':status'] ?? 0));
      stream.on('data', (part: Buffer) => (body += part.toString()));
      stream.on('end', () => resolve(`${status} ${body}`));
      stream.on('error', reject);
      stream.end('{"article":"a lamp"}');
    });
  expect([await send(), await send()]).toEqual([
    '201 {"article":"a lamp"}',
    '201 {"article":"a lamp"}',
  ]);
  expect(orders).toEqual(['a lamp at /api/orders']);
});

test('a handler made for each request knows the parameters of its route', async () => {
  const store = memoryStore();
  const orders: string[] = [];
  const POST = async (request: Request, { params }: { params: Promise<{ shop: string }> }) => {
    const { shop } = await params;
    return idempotent(
      (_request, { tx, key }) => {
        tx.onCommit(() => void orders.push(`${key} in ${shop}`));
        return Response.json({ shop }, { status: 201 });
      },
      { store },
    )(request);
  };
  const send = (shop: string) =>
    POST(
      new Request(`http://shop.example/shops/${shop}/orders`, {
        method: 'POST',
        headers: { 'idempotency-key': '"a"' },
      }),
      { params: Promise.resolve({ shop }) },
    );
  expect(await told(send('7'))).toBe('201 {"shop":"7"}');
  expect(await told(send('7'))).toBe('201 {"shop":"7"}');
  expect(await problemOf(send('8'))).toBe('422 payload-mismatch');
  expect(orders).toEqual(['a in 7']);
});

test('it is a route handler of Next as it is, which gets a request of a class of its own', async () => {
  const orders: string[] = [];
  /** As `NextRequest` is: a Request with more, given together with the parameters of the route. */
  class RouteRequest extends Request {
    readonly nextUrl = new URL(this.url);
  }
  const POST: (
    request: RouteRequest,
    context: { params: Promise<{ shop: string }> },
  ) => Response | Promise<Response> = idempotent(
    async (request, { tx }) => {
      const { article } = (await request.json()) as { article: string };
      tx.onCommit(() => orders.push(`${article} at ${new URL(request.url).pathname}`));
      return Response.json({ article }, { status: 201 });
    },
    { store: memoryStore() },
  );
  const send = (article: string) => {
    const headers = { 'idempotency-key': '"a"' };
    const init = { method: 'POST', headers, body: JSON.stringify({ article }) };
    const request = new RouteRequest('http://shop.example/api/7/orders', init);
    return POST(request, { params: Promise.resolve({ shop: '7' }) });
  };
  expect(await told(send('a lamp'))).toBe('201 {"article":"a lamp"}');
  expect(await told(send('a lamp'))).toBe('201 {"article":"a lamp"}');
  expect(await problemOf(send('a chair'))).toBe('422 payload-mismatch');
  expect(orders).toEqual(['a lamp at /api/7/orders']);
});
