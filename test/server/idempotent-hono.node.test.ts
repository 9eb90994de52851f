import { Hono } from 'hono';
import { createSteadfetch, profiles, retry } from 'steadfetch';
import { idempotent, memoryStore } from 'steadfetch/server';
import { expect, test } from 'vitest';
import { problemOf } from './rig.ts';

const url = 'http://api.test/orders';

/** An API of Hono that takes orders, and those that it has taken. */
function openApi() {
  const orders: unknown[] = [];
  const placeOrder = idempotent(
    async (request, { tx }) => {
      const order: unknown = await request.json();
      tx.onCommit(() => orders.push(order));
      return Response.json({ id: orders.length + 1 }, { status: 201 });
    },
    { store: memoryStore() },
  );
  const api = new Hono();
  api.post('/orders', ({ req }) => placeOrder(req.raw));
  return { api, orders };
}

test('it is a route of Hono as it is', async () => {
  const { api, orders } = openApi();
  const send = async (headers: HeadersInit, article = 'a lamp'): Promise<Response> =>
    api.request(url, { method: 'POST', headers, body: JSON.stringify({ article }) });
  const keyed = { 'idempotency-key': '"a"' };

  for (const replayed of [null, 'true']) {
    const response = await send(keyed);
    expect(response.status).toBe(201);
    expect(response.headers.get('idempotent-replayed')).toBe(replayed);
    expect(await response.json()).toEqual({ id: 1 });
  }
  expect(await problemOf(send(keyed, 'a chair'))).toBe('422 payload-mismatch');
  expect(await problemOf(send({}))).toBe('400 key-missing');
  expect(orders).toEqual([{ article: 'a lamp' }]);
});

test('an order whose answer is lost on the way from Hono is sent again, and taken once', async () => {
  const { api, orders } = openApi();
  let sent = 0;
  const steady = createSteadfetch({
    random: () => 0,
    apis: [{ match: url, idempotency: profiles.draft }],
    fetch: async (input, init) => {
      sent += 1;
      const response = await api.request(new Request(input, init));
      if (sent === 1) throw new TypeError('The connection was reset.');
      return response;
    },
  });
  const order = { method: 'POST', json: { article: 'a lamp' } };
  const key = { headers: { 'Idempotency-Key': '"b"' } };
  const { id } = await retry(steady, ({ signal }) =>
    steady.json<{ id: number }>(url, { ...order, ...key, signal }),
  );
  expect([id, sent, orders]).toEqual([1, 2, [{ article: 'a lamp' }]]);
});
