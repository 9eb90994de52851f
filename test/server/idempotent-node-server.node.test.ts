import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DatabaseSync } from 'node:sqlite';
import { idempotent, sqliteStore } from 'steadfetch/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { toListener } from './node-adapter.ts';
import { openOrders, ordersIn, problemOf, told } from './rig.ts';

let server: Server;
let db: DatabaseSync;
let url: string;

beforeEach(async () => {
  db = openOrders();
  const placeOrder = idempotent(
    async (request, { tx }) => {
      const article = await request.text();
      tx.prepare('INSERT INTO orders (article) VALUES (?)').run(article);
      const response = Response.json({ article }, { status: 201 });
      response.headers.append('set-cookie', 'a=1');
      response.headers.append('set-cookie', 'b=2');
      return response;
    },
    { store: sqliteStore(db), maxBodyBytes: 100_000 },
  );
  server = createServer(toListener(placeOrder));
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => void server.close(closed));
});

const send = (key: string, body: BodyInit = 'a lamp') =>
  fetch(url, { method: 'POST', headers: { 'idempotency-key': key }, body });

test("on Node's server, an order is taken once, and the answer given again", async () => {
  const first = await send('"a"');
  expect(first.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await told(first)).toBe('201 {"article":"a lamp"}');
  const again = await send('"a"');
  expect(again.headers.getSetCookie()).toEqual([]);
  expect(again.headers.get('content-type')).toBe('application/json');
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await told(again)).toBe('201 {"article":"a lamp"}');
  expect(await problemOf(send('"a"', 'a chair'))).toBe('422 payload-mismatch');
  expect(await problemOf(send('a'))).toBe('400 key-malformed');
  expect(ordersIn(db)).toEqual(['a lamp']);
});

test('fifty at once over as many connections are one order', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => send('"a"')));
  expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThanOrEqual(1);
  expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
  expect(ordersIn(db)).toEqual(['a lamp']);
});

test('a body that is too long is refused, told or not', async () => {
  const long = 'x'.repeat(100_001);
  expect(await problemOf(send('"a"', long))).toBe('413 body-too-large');
  const stream = new Blob([long]).stream();
  const init = { method: 'POST', headers: { 'idempotency-key': '"a"' }, duplex: 'half' } as const;
  expect(await problemOf(fetch(url, { ...init, body: stream }))).toBe('413 body-too-large');
  expect(ordersIn(db)).toEqual([]);
});

test('a client that leaves in the middle of its body has ordered nothing, and may come back', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  const head = ['POST /orders HTTP/1.1', 'Host: a', 'Idempotency-Key: "a"', 'Content-Length: 6'];
  socket.write(`${head.join('\r\n')}\r\n\r\na l`);
  await new Promise<void>((resolve) => server.once('request', () => resolve()));
  socket.destroy();
  await expect.poll(() => logged.mock.calls.length).toBe(1);
  expect(await told(send('"a"'))).toBe('201 {"article":"a lamp"}');
  expect(ordersIn(db)).toEqual(['a lamp']);
});

test('two headers with a key are none', async () => {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  const head = ['POST /orders HTTP/1.1', 'Host: a', 'Connection: close', 'Content-Length: 0'];
  const keys = ['Idempotency-Key: "a"', 'Idempotency-Key: "b"'];
  socket.end(`${[...head, ...keys].join('\r\n')}\r\n\r\n`);
  expect(await text(socket)).toContain('HTTP/1.1 400');
});

test('a request that has no URL, or whose method the web has not, is a 500, and the server goes on', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const { port } = new URL(url);
  const answers: string[] = [];
  for (const line of ['POST //', 'POST http://x:99999/', 'POST http://a@b/', 'TRACE /orders']) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(`${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    answers.push((await text(socket)).slice(0, 12));
  }
  expect(answers).toEqual(Array.from({ length: 4 }, () => 'HTTP/1.1 500'));
  expect(await told(send('"a"'))).toBe('201 {"article":"a lamp"}');
});

test('an answer whose body breaks off is a 500 without its headers, and the server goes on', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  const broken = new Error('broken off');
  const stream = new ReadableStream({ pull: (controller) => controller.error(broken) });
  const headers = { 'content-length': '9', etag: '"1"' };
  server.removeAllListeners('request');
  server.on(
    'request',
    toListener(async () => new Response(stream, { headers })),
  );
  const response = await send('"a"');
  expect([response.status, response.headers.get('etag')]).toEqual([500, null]);
  expect(logged.mock.calls).toEqual([[broken]]);
});
