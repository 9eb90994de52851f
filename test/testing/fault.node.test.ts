import { http, HttpResponse } from 'msw';
import {
  compose,
  failTimes,
  type Fault,
  hang,
  networkError,
  slow,
  virtualTime,
  type VirtualTime,
} from 'steadfetch/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startServer } from './start-server.ts';

describe('a fault', () => {
  const server = startServer();
  const startAt = Date.UTC(2026, 10, 21);
  let time: VirtualTime;
  beforeEach(() => {
    time = virtualTime(vi, { startAt });
  });
  afterEach(() => time.restore());

  test('a fault counts the requests that it was asked about, and starts over when it is reset', async () => {
    const fault: Fault = failTimes(1, 503);
    server.use(
      http.all('http://api.test/*', fault),
      http.all('http://api.test/*', () => HttpResponse.text('fine')),
    );
    expect(fault.requests).toEqual([]);
    expect(fault.requestCount).toBe(0);

    const send = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;
    expect(await send('http://api.test/a?b=c', { headers: { 'Idempotency-Key': '"k1"' } })).toBe(
      503,
    );
    await time.advance(1500);
    expect(await send('http://api.test/d', { method: 'post', body: 'e' })).toBe(200);

    expect(fault.requestCount).toBe(2);
    expect(fault.requests.map(({ method, url, at }) => ({ method, url, at }))).toEqual([
      { method: 'GET', url: 'http://api.test/a?b=c', at: startAt },
      { method: 'POST', url: 'http://api.test/d', at: startAt + 1500 },
    ]);
    expect(fault.requests.map(({ headers }) => headers.get('Idempotency-Key'))).toEqual([
      '"k1"',
      null,
    ]);

    fault.reset();
    expect(fault.requests).toEqual([]);
    expect(fault.requestCount).toBe(0);
    expect(await send('http://api.test/a')).toBe(503);
  });
});

describe('compose', () => {
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
});
