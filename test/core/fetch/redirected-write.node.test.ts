import { createServer } from 'node:http';
import { createSteadfetch, isUnexpectedContentError, type SteadyInit } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { listen } from './loopback.ts';
import { rejectionOf } from './observe.ts';

/** A server that redirects to a page of this type, on its own origin or on another. */
async function redirecting(
  status: number,
  type: string,
  isCross: boolean,
  body = '{}',
): Promise<string> {
  const page = createServer((request, response) => {
    request.resume();
    response.writeHead(200, type ? { 'content-type': type } : {}).end(body);
  });
  const login = isCross ? `${await listen(page)}/login` : '/login';
  return listen(
    createServer((request, response) => {
      if (request.url === '/login') page.emit('request', request, response);
      else request.resume().on('end', () => response.writeHead(status, { location: login }).end());
    }),
  );
}

const { fetch, rawFetch } = createSteadfetch();
const senders = [fetch, rawFetch];
const writes: readonly SteadyInit[] = [
  { method: 'POST', body: 'x' },
  { method: 'PUT', body: 'x' },
  { method: 'PATCH', body: 'x' },
  { method: 'DELETE' },
];

describe.each([301, 302, 303, 307, 308])('a write that was answered %i', (status) => {
  describe.each(['the same origin', 'another origin'])('to %s', (where) => {
    const url = (type: string) => redirecting(status, type, where === 'another origin');

    test.each(['text/html', 'text/html; charset=utf-8', 'application/xhtml+xml'])(
      'and then 200 with a page, %s, is not known to be done',
      async (type) => {
        const to = await url(type);
        for (const init of writes) {
          for (const send of senders) {
            const error = await rejectionOf(send(to, init));
            expect(isUnexpectedContentError(error)).toBe(true);
            expect(error).toMatchObject({
              outcome: { kind: 'body', status: 200, processed: 'unknown' },
              response: { redirected: true },
            });
            expect((error as Error).message).toContain('after a redirect');
            expect((await send(to, { ...init, expect: 'any' })).status).toBe(200);
            const asJson = await rejectionOf(send(to, { ...init, expect: 'json' }));
            expect(isUnexpectedContentError(asJson)).toBe(true);
          }
        }
      },
    );

    test.each(['application/json', ''])('and then 200 with type "%s" is done', async (type) => {
      const to = await url(type);
      for (const init of writes)
        for (const expected of [undefined, 'json', 'any'] as const)
          for (const send of senders)
            expect((await send(to, { ...init, expect: expected })).status).toBe(200);
    });
  });

  test('is not meant by a GET, which may be redirected to a page', async () => {
    const url = await redirecting(status, 'text/html', false);
    expect(await (await fetch(url)).text()).toBe('{}');
  });
});

test.each([
  ['<!doctype html><title>Log in</title>', 'UnexpectedContentError'],
  ['\r\n <html>', 'UnexpectedContentError'],
  ['\uFEFF<?xml version="1.0"?><html>', 'UnexpectedContentError'],
  ['{"id":1}', '{"id":1}'],
  ['Done', 'Done'],
  ['', ''],
  ['  ', '  '],
])(
  'a write that was redirected, and answered without a content type with %j, ends with %j',
  async (body, end) => {
    for (const send of senders)
      for (const init of writes) {
        const to = await redirecting(302, '', false, body);
        const read = send(to, init).then((response) => response.text());
        expect(await read.catch((error: unknown) => (error as Error).name)).toBe(end);
        expect((await send(to, { ...init, expect: 'any' })).status).toBe(200);
      }
  },
);

test('a write that is answered with a page, and was not redirected, is done', async () => {
  const url = await listen(
    createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    }),
  );
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(200);
});

test('an API that expects anything takes a page for an answer', async () => {
  const url = await redirecting(302, 'text/html', false);
  const steady = createSteadfetch({ apis: [{ match: url, expect: 'any' }] });
  expect((await steady.fetch(url, { method: 'POST', body: 'x' })).status).toBe(200);
});
