import { http, HttpResponse } from 'msw';
import { networkError } from 'steadfetch/testing';
import { expect, test } from 'vitest';
import { startServer } from './start-server.ts';

const server = startServer();
const url = 'http://api.test/products';

test('fetch rejects with a TypeError, for the first requests or for all', async () => {
  const once = networkError({ times: 1 });
  server.use(
    http.get(url, once),
    http.get(url, () => HttpResponse.text('fine')),
  );
  await expect(fetch(url)).rejects.toBeInstanceOf(TypeError);
  expect(await (await fetch(url)).text()).toBe('fine');
  // One rejection is one request: nothing below it sends it again.
  expect(once.requestCount).toBe(2);

  server.use(http.get(url, networkError()));
  await expect(fetch(url)).rejects.toBeInstanceOf(TypeError);
  await expect(fetch(url)).rejects.toBeInstanceOf(TypeError);
});

test('its description says whose connection breaks', () => {
  expect(networkError().description).toBe('breaks the connection of every request');
  expect(networkError({ times: 2 }).description).toBe(
    'breaks the connection of the first 2 requests, then lets them through',
  );
});
