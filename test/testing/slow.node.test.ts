import { http, HttpResponse } from 'msw';
import { slow, virtualTime, type VirtualTime } from 'steadfetch/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startServer } from './start-server.ts';

const server = startServer();
const url = 'http://api.test/products';
const healthy = vi.fn<() => Response>(() => HttpResponse.text('fine'));
let time: VirtualTime;
beforeEach(() => {
  time = virtualTime(vi);
  healthy.mockClear();
});
afterEach(() => time.restore());

test('the next handler answers, exactly that much later', async () => {
  server.use(http.get(url, slow({ delayMs: 300 })), http.get(url, healthy));
  const start = time.now();
  const answered = fetch(url).then(async (response) => [time.now() - start, await response.text()]);
  await time.advance(299);
  expect(healthy).not.toHaveBeenCalled();
  await time.advance(1);
  expect(await answered).toEqual([300, 'fine']);
});

test('a request that is aborted meanwhile goes no further', async () => {
  server.use(http.get(url, slow({ delayMs: 300 })), http.get(url, healthy));
  const controller = new AbortController();
  const answer = fetch(url, { signal: controller.signal });
  await time.settle();
  controller.abort('enough');
  await expect(answer).rejects.toBe('enough');
  await time.advance(1000);
  expect(healthy).not.toHaveBeenCalled();
});

test('a reset ends the requests that still wait with a network error', async () => {
  const fault = slow({ delayMs: 300 });
  server.use(http.get(url, fault), http.get(url, healthy));
  const answer = fetch(url);
  await time.settle();
  fault.reset();
  await expect(answer).rejects.toBeInstanceOf(TypeError);
  await time.advance(1000);
  expect(healthy).not.toHaveBeenCalled();
});

test('its description names the delay', () => {
  expect(slow({ delayMs: 300 }).description).toBe(
    'delays every request by 300 ms, then lets it through',
  );
});
