import { createServer } from 'node:http';
import { createSteadfetch, isUnexpectedContentError, type SteadyInit } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { listen } from './loopback.ts';
import { rejectionOf } from './observe.ts';

const types = [
  'text/html',
  'text/html; charset=utf-8',
  'application/xhtml+xml',
  'application/json',
  '',
];

/** A server that redirects to a page of this type, on its own origin or on another. */
async function redirecting(status: number, type: string, isCross: boolean): Promise<string> {
  const page = createServer((request, response) => {
    request.resume();
    response.writeHead(200, type ? { 'content-type': type } : {}).end('{}');
  });
  const login = isCross ? `${await listen(page)}/login` : '/login';
  return listen(
    createServer((request, response) => {
      if (request.url === '/login') page.emit('request', request, response);
      else request.resume().on('end', () => response.writeHead(status, { location: login }).end());
    }),
  );
}

const methods = ['POST', 'PUT', 'PATCH', 'DELETE'];
const body = (method: string): SteadyInit => (method === 'DELETE' ? {} : { body: 'x' });

describe.each([301, 302, 303, 307, 308])('a write that was answered %i', (status) => {
  describe.each(['the same origin', 'another origin'])('to %s', (where) => {
    test.each(types)(
      'and then 200 with type "%s" is done only if that is no page',
      async (type) => {
        const url = await redirecting(status, type, where === 'another origin');
        const steady = createSteadfetch();
        const isPage = type.includes('html');
        for (const method of methods) {
          for (const send of [steady.fetch, steady.rawFetch]) {
            const init = { method, ...body(method) };
            const sent = send(url, init);
            if (isPage) {
              const error = await rejectionOf(sent);
              expect(isUnexpectedContentError(error)).toBe(true);
              expect(error).toMatchObject({
                outcome: { kind: 'body', status: 200, processed: 'unknown' },
                response: { redirected: true },
              });
              expect((error as Error).message).toContain('after a redirect');
            } else expect((await sent).status).toBe(200);
            expect((await send(url, { ...init, expect: 'any' })).status).toBe(200);
            const asJson = send(url, { ...init, expect: 'json' });
            if (isPage) expect(isUnexpectedContentError(await rejectionOf(asJson))).toBe(true);
            else expect((await asJson).status).toBe(200);
          }
        }
      },
    );
  });

  test('is not meant by a GET, which may be redirected to a page', async () => {
    const url = await redirecting(status, 'text/html', false);
    expect(await (await createSteadfetch().fetch(url)).text()).toBe('{}');
  });
});

test('a write that is answered with a page, and was not redirected, is done', async () => {
  const url = await listen(
    createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    }),
  );
  expect((await createSteadfetch().fetch(url, { method: 'POST', body: 'x' })).status).toBe(200);
});

test('an API that expects anything takes a page for an answer', async () => {
  const url = await redirecting(302, 'text/html', false);
  const steady = createSteadfetch({ apis: [{ match: url, expect: 'any' }] });
  expect((await steady.fetch(url, { method: 'POST', body: 'x' })).status).toBe(200);
});
