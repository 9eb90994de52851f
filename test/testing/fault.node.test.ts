import { http, HttpResponse } from 'msw';
import { failTimes, type Fault, virtualTime, type VirtualTime } from 'steadfetch/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startServer } from './start-server.ts';

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
  expect(await send('http://api.test/a?b=c', { headers: { 'Idempotency-Key': '"k1"' } })).toBe(503);
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
