import { http, HttpResponse } from 'msw';
import { failTimes, type Fault } from 'steadfetch/testing';
import { expect, test } from 'vitest';
import { startServer } from './start-server.ts';

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
