import 'fake-indexeddb/auto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { environmentManager, QueryClient } from '@tanstack/react-query';
import axiosNewest, { type AxiosStatic } from 'axios';
import axiosPrevious from 'axios-0';
import ky from 'ky';
import { createSteadfetch, profiles, refreshOn401, retry } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { createOutbox } from 'steadfetch/outbox';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';

/** What reached the server: method, path, credentials, key and body. */
interface Arrival {
  readonly line: string;
  readonly key: string | undefined;
  readonly body: string;
}

const shop = { valid: 'new', arrivals: [] as Arrival[], refreshes: 0, origin: '' };
const http = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => void (body += part.toString()));
  request.on('end', () => {
    const { method, url, headers } = request;
    if (url === '/login') {
      shop.refreshes++;
      // Later than the 401 of all that is under way.
      setTimeout(() => response.end(`{"token":"${shop.valid}"}`), 50);
      return;
    }
    const { authorization = 'none', 'idempotency-key': key } = headers;
    shop.arrivals.push({ line: `${method} ${url} ${authorization}`, key: key?.toString(), body });
    response
      .writeHead(authorization === `Bearer ${shop.valid}` ? 200 : 401, {
        'content-type': 'application/json',
      })
      .end('{"id":1}');
  });
});

beforeAll(async () => {
  environmentManager.setIsServer(() => false);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  shop.origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterAll(() => {
  http.closeAllConnections();
  http.close();
});
beforeEach(() => void Object.assign(shop, { arrivals: [], refreshes: 0 }));

/** An app whose token the server no longer takes. */
function openApp() {
  let token = 'old';
  const steady = createSteadfetch({
    apis: [
      {
        match: `${shop.origin}/api`,
        idempotency: profiles.draft,
        auth: refreshOn401({
          headers: () => ({ authorization: `Bearer ${token}` }),
          async refresh({ signal }) {
            const response = await fetch(`${shop.origin}/login`, { signal });
            token = ((await response.json()) as { token: string }).token;
          },
        }),
      },
    ],
  });
  onTestFinished(() => steady.dispose());
  return steady;
}

const lines = (): string[] => shop.arrivals.map(({ line }) => line).toSorted();
const old = (request: string): string => `${request} Bearer old`;
const fresh = (request: string): string => `${request} Bearer new`;

test('twenty queries whose token has expired: one refresh, and each is answered', async () => {
  const steady = openApp();
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const all = Array.from({ length: 20 }, (_, id) =>
    client.fetchQuery({
      queryKey: [id],
      queryFn: ({ signal }) => steady.json(`${shop.origin}/api/${id}`, { signal }),
    }),
  );
  expect(await Promise.all(all)).toEqual(Array.from({ length: 20 }, () => ({ id: 1 })));
  expect(shop.refreshes).toBe(1);
  expect(shop.arrivals).toHaveLength(40);
});

test('through ky, with steady.rawFetch', async () => {
  const steady = openApp();
  const api = ky.create({ fetch: steady.rawFetch, retry: 0, timeout: false });
  const answer = api.post(`${shop.origin}/api/orders`, { json: { sku: 7 } });
  expect(await answer.json()).toEqual({ id: 1 });
  expect(lines()).toEqual([fresh('POST /api/orders'), old('POST /api/orders')]);
  expect(shop.arrivals.map(({ body }) => body)).toEqual(['{"sku":7}', '{"sku":7}']);
});

test.each<[string, AxiosStatic]>([
  ['axios, newest', axiosNewest],
  ['axios 0.x', axiosPrevious as unknown as AxiosStatic],
])('through %s, with steadyAdapter', async (_, axios) => {
  const steady = openApp();
  const api = axios.create({ adapter: steadyAdapter(steady, axios) });
  const { data } = await retry(steady, ({ signal }) =>
    api.post<unknown>(`${shop.origin}/api/orders`, { sku: 7 }, { signal }),
  );
  expect(data).toEqual({ id: 1 });
  expect(lines()).toEqual([fresh('POST /api/orders'), old('POST /api/orders')]);
  expect(shop.arrivals.map(({ body }) => body)).toEqual(['{"sku":7}', '{"sku":7}']);
});

test('an entry of the outbox is delivered with the same key and the same bytes', async () => {
  const steady = openApp();
  const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
  const outbox = createOutbox({
    steady,
    queryClient,
    handlers: {
      order: {
        mutationFn: (sku: number, { json }) =>
          json<{ id: number }>(`${shop.origin}/api/orders`, { json: { sku } }),
      },
    },
  });
  onTestFinished(() => outbox.dispose());
  expect(await outbox.submit('order', 7).delivered).toEqual({ id: 1 });
  expect(lines()).toEqual([fresh('POST /api/orders'), old('POST /api/orders')]);
  const [first, second] = shop.arrivals;
  expect(first?.key).toMatch(/^".{20,}"$/);
  expect(second).toMatchObject({ key: first?.key, body: '{"sku":7}' });
  expect(first?.body).toBe('{"sku":7}');
});
