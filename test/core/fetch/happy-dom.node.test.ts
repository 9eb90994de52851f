// @vitest-environment happy-dom
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import ky from 'ky';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { createSteadfetch, type HttpError, outcomeOf, retry } from 'steadfetch';
import { failTimes } from 'steadfetch/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rejectionOf } from './observe.ts';

// The test environment that docs/testing.md names, with handlers of MSW: neither its fetch nor its Response
// is that of the platform.

const origin = 'http://localhost:3000';
const refused = { status: 503 };

const server = setupServer(
  http.get(`${origin}/kite`, () => HttpResponse.json({ id: 1 })),
  http.get(`${origin}/down`, () => HttpResponse.json({ why: 'maintenance' }, refused)),
  http.get(`${origin}/later`, failTimes(2, 503)),
  http.get(`${origin}/later`, () => HttpResponse.json({ id: 2 })),
  http.get(`${origin}/accepted`, () => new HttpResponse(null, { status: 202 })),
);
beforeAll(() => server.listen({ onUnhandledFrame: 'bypass' }));
afterAll(() => server.close());

const steady = createSteadfetch({ health: false, policy: { baseMs: 1, capMs: 1 } });

test('an answer and its clone are both read', async () => {
  const answer = await steady.fetch(`${origin}/kite`);
  const copy = answer.clone();
  expect([await answer.json(), await copy.json()]).toEqual([{ id: 1 }, { id: 1 }]);
});

test('the body of an error is read', async () => {
  const { response } = (await rejectionOf(steady.json(`${origin}/down`))) as HttpError;
  expect(await response.json()).toEqual({ why: 'maintenance' });
});

test('a failure is retried, and an empty good answer is null', async () => {
  const asked = retry(steady, ({ signal }) => steady.json(`${origin}/later`, { signal }));
  expect(await asked).toEqual({ id: 2 });
  expect(await steady.json(`${origin}/accepted`)).toBeNull();
});

test('a hook of ky reads a clone before ky reads the answer', async () => {
  const seen: string[] = [];
  const api = ky.create({
    fetch: steady.rawFetch,
    retry: 0,
    hooks: {
      afterResponse: [
        async ({ response }) => {
          seen.push(await response.clone().text());
        },
      ],
    },
  });
  expect(await api.get(`${origin}/kite`).json()).toEqual({ id: 1 });
  expect(seen).toEqual(['{"id":1}']);
});

test('a refused connection is a failure of the network', async () => {
  const closing = createServer().listen(0);
  const { port } = closing.address() as AddressInfo;
  await new Promise((resolve) => void closing.close(resolve));
  const error = await rejectionOf(steady.json(`http://127.0.0.1:${port}/nothing`));
  expect(outcomeOf(error)).toEqual({ kind: 'network', processed: 'unknown' });
});
