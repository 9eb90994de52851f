import { http, HttpResponse } from 'msw';
import { hang, virtualTime, type VirtualTime } from 'steadfetch/testing';
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

test('no answer comes, however long one waits', async () => {
  const fault = hang();
  server.use(http.get(url, fault), http.get(url, healthy));
  const settled = vi.fn<() => void>();
  const controller = new AbortController();
  fetch(url, { signal: controller.signal }).then(settled, settled);
  // Not longer: after 300 s Node's own fetch gives up.
  await time.advance(299_000);
  expect(fault.requestCount).toBe(1);
  expect(settled).not.toHaveBeenCalled();
  controller.abort();
  await time.settle();
});

test('an abort ends the request with its own reason, and the next handler is not asked', async () => {
  const fault = hang();
  server.use(http.get(url, fault), http.get(url, healthy));
  const controller = new AbortController();
  const reason = new Error('The user went away.');
  const answer = fetch(url, { signal: controller.signal });
  await time.settle();
  controller.abort(reason);
  await expect(answer).rejects.toBe(reason);
  await time.settle();
  expect(fault.requestCount).toBe(1);
  expect(healthy).not.toHaveBeenCalled();
});

test('a reset ends the requests that hang with a network error', async () => {
  const fault = hang();
  server.use(http.get(url, fault), http.get(url, healthy));
  const answers = Promise.allSettled([fetch(url), fetch(url)]);
  await time.settle();
  fault.reset();
  expect(await answers).toEqual([
    { status: 'rejected', reason: expect.any(TypeError) },
    { status: 'rejected', reason: expect.any(TypeError) },
  ]);
  expect(healthy).not.toHaveBeenCalled();
});

test('it lets the requests after the first ones through', async () => {
  const fault = hang({ times: 1 });
  server.use(http.get(url, fault), http.get(url, healthy));
  const first = fetch(url);
  await time.settle();
  expect(await (await fetch(url)).text()).toBe('fine');
  fault.reset();
  await expect(first).rejects.toBeInstanceOf(TypeError);
});

test('its description says which requests get no answer', () => {
  expect(hang().description).toBe('leaves every request without an answer');
  expect(hang({ times: 1 }).description).toBe(
    'leaves the first request without an answer, then lets them through',
  );
});
