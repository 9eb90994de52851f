import { http, HttpResponse } from 'msw';
import { type Fault, rateLimited, virtualTime, type VirtualTime } from 'steadfetch/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { startServer } from './start-server.ts';

const server = startServer();
const url = 'http://api.test/products';
let time: VirtualTime;
afterEach(() => time.restore());

function serve(fault: Fault, startAt: string): void {
  time = virtualTime(vi, { startAt: new Date(startAt) });
  server.use(
    http.get(url, fault),
    http.get(url, () => HttpResponse.text('fine')),
  );
}

async function ask(): Promise<[number, string | null, string | null]> {
  const { status, headers } = await fetch(url);
  return [status, headers.get('Retry-After'), headers.get('Date')];
}

test('the window opens with the first request, and Retry-After leads to its end', async () => {
  serve(rateLimited({ retryAfterSeconds: 5 }), '2026-11-21T05:00:00Z');
  await time.advance(7000);
  expect(await ask()).toEqual([429, '5', 'Sat, 21 Nov 2026 05:00:07 GMT']);
  await time.advance(2000);
  expect(await ask()).toEqual([429, '3', 'Sat, 21 Nov 2026 05:00:09 GMT']);
  await time.advance(2999);
  expect(await ask()).toEqual([429, '1', 'Sat, 21 Nov 2026 05:00:11 GMT']);
  await time.advance(1);
  expect(await ask()).toEqual([200, null, null]);
  await time.advance(60_000);
  expect(await ask()).toEqual([200, null, null]);
});

test('what is left of the window is rounded up to whole seconds', async () => {
  serve(rateLimited({ retryAfterSeconds: 5 }), '2026-11-21T05:00:00Z');
  await ask();
  await time.advance(1001);
  expect((await ask())[1]).toBe('4');
  await time.advance(999);
  expect((await ask())[1]).toBe('3');
});

test('a date in Retry-After is never before the end of the window', async () => {
  serve(rateLimited({ retryAfterSeconds: 5, as: 'date' }), '2026-11-21T05:00:00.250Z');
  const answer = [429, 'Sat, 21 Nov 2026 05:00:06 GMT', 'Sat, 21 Nov 2026 05:00:00 GMT'];
  expect(await ask()).toEqual(answer);
  await time.advance(4999);
  expect((await ask())[0]).toBe(429);
  await time.advance(1);
  expect((await ask())[0]).toBe(200);
});

test('a date in Retry-After is exact when the window ends on a whole second', async () => {
  serve(rateLimited({ retryAfterSeconds: 90, as: 'date' }), '2026-12-31T23:59:00Z');
  expect((await ask())[1]).toBe('Fri, 01 Jan 2027 00:00:30 GMT');
});

test('it opens a new window when it is reset, with the status that it is given', async () => {
  const fault = rateLimited({ retryAfterSeconds: 1, status: 503 });
  serve(fault, '2026-11-21T05:00:00Z');
  expect((await ask())[0]).toBe(503);
  await time.advance(1000);
  expect((await ask())[0]).toBe(200);
  fault.reset();
  expect((await ask()).slice(0, 2)).toEqual([503, '1']);
});

test('its description names the status, the form and the window', () => {
  time = virtualTime(vi);
  expect(rateLimited({ retryAfterSeconds: 30 }).description).toBe(
    'answers 429 with Retry-After (as seconds) for 30 s from the first request on, then lets them through',
  );
  expect(rateLimited({ retryAfterSeconds: 30, as: 'date', status: 503 }).description).toBe(
    'answers 503 with Retry-After (as a date) for 30 s from the first request on, then lets them through',
  );
});
