import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import fastify from 'fastify';
import { idempotent, memoryStore } from 'steadfetch/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toListener } from './node-adapter.ts';
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
  return { orders, listener: toListener(placeOrder) };
}

type Listener = ReturnType<typeof openShop>['listener'];

async function listen(server: Server): Promise<string> {
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((ready) => void server.listen(0, '127.0.0.1', ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A route after the parser of all others: mounted before it, the handler gets the bytes as they came. */
async function openExpress(listener: Listener): Promise<string> {
  const app = express();
  app.post('/api/orders', listener);
  app.use(express.json());
  app.post('/api/echo', ({ body }, response) => void response.json(body));
  return listen(createServer(app));
}

/** Fastify reads a body before its route unless a parser of the plugin leaves it alone. */
async function openFastify(listener: Listener): Promise<string> {
  const app = fastify({ forceCloseConnections: true });
  await app.register(async (orders) => {
    orders.removeAllContentTypeParsers();
    orders.addContentTypeParser('*', (_request, _body, done) => done(null));
    orders.post('/api/orders', (request, reply) => {
      reply.hijack();
      listener(request.raw, reply.raw);
    });
  });
  app.post('/api/echo', async ({ body }) => body);
  onTestFinished(() => app.close());
  return app.listen({ port: 0, host: '127.0.0.1' });
}

/** Nest, on Express. Its body parser is off, and on again for the routes that want it. */
async function openNest(listener: Listener): Promise<string> {
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
    const { orders, listener } = openShop();
    const origin = await open(listener);
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
