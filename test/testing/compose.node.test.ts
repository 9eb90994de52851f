import { http, HttpResponse } from 'msw';
import {
  compose,
  failTimes,
  hang,
  networkError,
  slow,
  virtualTime,
  type VirtualTime,
} from 'steadfetch/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startServer } from './start-server.ts';

const server = startServer();
const url = 'http://api.test/products';
let time: VirtualTime;
beforeEach(() => {
  time = virtualTime(vi);
});
afterEach(() => time.restore());

test('the first fault that answers wins, and the next is asked only if it does not', async () => {
  const first = failTimes(1, 503);
  const second = networkError({ times: 1 });
  const both = compose(first, second);
  server.use(
    http.get(url, both),
    http.get(url, () => HttpResponse.text('fine')),
  );

  expect((await fetch(url)).status).toBe(503);
  await expect(fetch(url)).rejects.toBeInstanceOf(TypeError);
  expect(await (await fetch(url)).text()).toBe('fine');
  expect([both, first, second].map(({ requestCount }) => requestCount)).toEqual([3, 3, 2]);

  both.reset();
  expect([both, first, second].map(({ requestCount }) => requestCount)).toEqual([0, 0, 0]);
  expect((await fetch(url)).status).toBe(503);
});

test('a slow fault delays the answer of the next', async () => {
  server.use(http.get(url, compose(slow({ delayMs: 300 }), failTimes(1, 503))));
  const start = time.now();
  const answered = fetch(url).then(({ status }) => [time.now() - start, status]);
  await time.advance(1000);
  expect(await answered).toEqual([300, 503]);
});

test('an abort that ends one fault ends them all', async () => {
  const behind = failTimes(1, 503);
  server.use(http.get(url, compose(hang(), behind)));
  const controller = new AbortController();
  const answer = fetch(url, { signal: controller.signal });
  await time.settle();
  controller.abort('enough');
  await expect(answer).rejects.toBe('enough');
  await time.settle();
  expect(behind.requestCount).toBe(0);
});

test('its description is those of its faults, in order', () => {
  expect(compose(slow({ delayMs: 300 }), failTimes(Infinity, 500)).description).toBe(
    'delays every request by 300 ms, then lets it through; then answers 500 to every request',
  );
});
