import { http, HttpResponse } from 'msw';
import {
  failTimes,
  type Fault,
  flaky,
  rateLimited,
  virtualTime,
  type VirtualTime,
} from 'steadfetch/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startServer } from './start-server.ts';

describe('failTimes', () => {
  const server = startServer();
  const url = 'http://api.test/products';

  async function statuses(fault: Fault, count: number): Promise<number[]> {
    server.use(
      http.get(url, fault),
      http.get(url, () => HttpResponse.text('fine')),
    );
    const seen: number[] = [];
    for (let i = 0; i < count; i += 1) seen.push((await fetch(url)).status);
    return seen;
  }

  test('it fails the first requests and lets the later ones through', async () => {
    expect(await statuses(failTimes(2, 503), 4)).toEqual([503, 503, 200, 200]);
  });

  test('it fails every request when times is Infinity, and none when it is 0', async () => {
    expect(await statuses(failTimes(Infinity, 500), 4)).toEqual([500, 500, 500, 500]);
    expect(await statuses(failTimes(0, 500), 2)).toEqual([200, 200]);
  });

  test('it sends the headers and the body that it is given, each time', async () => {
    const headers = { 'Retry-After': '5', 'Content-Type': 'application/problem+json' };
    server.use(http.get(url, failTimes(2, 429, { headers, body: '{"title":"Slow down"}' })));
    headers['Retry-After'] = 'changed afterwards';
    for (let i = 0; i < 2; i += 1) {
      const response = await fetch(url);
      expect(response.status).toBe(429);
      expect(response.statusText).toBe('Too Many Requests');
      expect(response.headers.get('Retry-After')).toBe('5');
      expect(response.headers.get('Content-Type')).toBe('application/problem+json');
      expect(await response.json()).toEqual({ title: 'Slow down' });
    }
  });

  test('it has an empty body unless it is given one', async () => {
    server.use(http.get(url, failTimes(1, 503)));
    expect(await (await fetch(url)).text()).toBe('');
  });

  test('its description says how many requests fail, and how', () => {
    expect(failTimes(2, 503).description).toBe(
      'answers 503 to the first 2 requests, then lets them through',
    );
    expect(failTimes(1, 404).description).toBe(
      'answers 404 to the first request, then lets them through',
    );
    expect(failTimes(Infinity, 500).description).toBe('answers 500 to every request');
  });
});

describe('rateLimited', () => {
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
});

describe('flaky', () => {
  const server = startServer();
  const url = 'http://api.test/products';

  /** 'x' for each request that failed, '.' for each that was let through. */
  async function pattern(fault: Fault, count: number): Promise<string> {
    server.use(
      http.get(url, fault),
      http.get(url, () => HttpResponse.text('fine')),
    );
    let seen = '';
    for (let i = 0; i < count; i += 1) seen += (await fetch(url)).ok ? '.' : 'x';
    return seen;
  }

  test('which requests fail is decided by the seed', async () => {
    // From the generator's reference implementation in C: which of its first numbers are below 0.3.
    expect(await pattern(flaky({ ratio: 0.3, seed: 7 }), 12)).toBe('xx.....x..xx');
    expect(await pattern(flaky({ ratio: 0.3, seed: 8 }), 12)).not.toBe('xx.....x..xx');
  });

  test('it begins again at the same place when it is reset', async () => {
    const fault = flaky({ ratio: 0.3, seed: 7 });
    expect(await pattern(fault, 5)).toBe('xx...');
    fault.reset();
    expect(await pattern(fault, 12)).toBe('xx.....x..xx');
  });

  test('a ratio of 0 fails none, and a ratio of 1 fails all', async () => {
    expect(await pattern(flaky({ ratio: 0, seed: 1 }), 20)).toBe('.'.repeat(20));
    expect(await pattern(flaky({ ratio: 1, seed: 1 }), 20)).toBe('x'.repeat(20));
  });

  test('it answers with the status that it is given, or 503', async () => {
    server.use(http.get(url, flaky({ ratio: 1, seed: 1, status: 502 })));
    expect((await fetch(url)).status).toBe(502);
    server.use(http.get(url, flaky({ ratio: 1, seed: 1 })));
    expect((await fetch(url)).status).toBe(503);
  });

  test('its description names the share and the seed', () => {
    expect(flaky({ ratio: 0.3, seed: 7 }).description).toBe(
      'answers 503 to a share of 0.3 of the requests, chosen by seed 7',
    );
  });
});
