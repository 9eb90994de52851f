import { http, HttpResponse } from 'msw';
import { idempotent, memoryStore } from 'steadfetch/server';
import { expect, test } from 'vitest';
import { startServer } from '../testing/start-server.ts';
import { problemOf } from './rig.ts';

const server = startServer();
const url = 'http://api.test/orders';

test('it is a resolver of MSW as it is', async () => {
  const orders: unknown[] = [];
  const placeOrder = idempotent(
    async (request, { tx }) => {
      const order: unknown = await request.json();
      tx.onCommit(() => orders.push(order));
      return HttpResponse.json({ id: orders.length + 1 }, { status: 201 });
    },
    { store: memoryStore() },
  );
  server.use(http.post(url, ({ request }) => placeOrder(request)));
  const send = (headers: HeadersInit, article = 'a lamp') =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ article }) });
  const keyed = { 'idempotency-key': '"a"', 'content-type': 'application/json' };

  for (const replayed of [null, 'true']) {
    const response = await send(keyed);
    expect(response.status).toBe(201);
    expect(response.headers.get('idempotent-replayed')).toBe(replayed);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ id: 1 });
  }
  expect(await problemOf(send(keyed, 'a chair'))).toBe('422 payload-mismatch');
  expect(await problemOf(send({}))).toBe('400 key-missing');
  expect(orders).toEqual([{ article: 'a lamp' }]);
});

test('a form with a file is the same order twice, when its bytes are the same', async () => {
  const names: unknown[] = [];
  const upload = idempotent(
    async (request, { tx }) => {
      const file = (await request.formData()).get('file');
      tx.onCommit(() => names.push(file instanceof File && `${file.name}: ${file.size}`));
      return new Response('stored');
    },
    { store: memoryStore() },
  );
  server.use(http.post(url, ({ request }) => upload(request)));
  const form = new FormData();
  form.set('file', new File([new Uint8Array(70_000)], 'photo.png'));
  const fixed = new Response(form);
  const type = { 'content-type': fixed.headers.get('content-type') ?? '' };
  const body = await fixed.arrayBuffer();
  const send = (bytes: BodyInit, headers = {}) =>
    fetch(url, {
      method: 'POST',
      body: bytes,
      headers: { ...headers, 'idempotency-key': '"a"' },
    });
  expect(await (await send(body, type)).text()).toBe('stored');
  expect(await (await send(body, type)).text()).toBe('stored');
  // Made again, a form has another boundary: other bytes.
  expect(await problemOf(send(form))).toBe('422 payload-mismatch');
  expect(names).toEqual(['photo.png: 70000']);
});
