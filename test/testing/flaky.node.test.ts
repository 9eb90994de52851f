import { http, HttpResponse } from 'msw';
import { flaky, type Fault } from 'steadfetch/testing';
import { expect, test } from 'vitest';
import { startServer } from './start-server.ts';

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
