import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { openAsBlob } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSteadfetch, type Decision, type Failure, outcomeOf, retry } from 'steadfetch';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import * as undici from 'undici';
import { rejectionOf } from './observe.ts';

const invalid = { kind: 'invalid', processed: 'no' };
const stop = { kind: 'stop', reason: 'not-retryable', retryAt: undefined };

let server: Server;
let origin = '';
let arrived = 0;
let folder = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    arrived++;
    request.resume().on('end', () => response.end('ok'));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'own-side-'));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void (arrived = 0));
afterEach(() => void vi.unstubAllGlobals());

/** A file on the disk that has changed, or gone, since it was opened. */
async function opened(isGone: boolean): Promise<Blob> {
  const path = join(folder, 'report.txt');
  writeFileSync(path, 'a report');
  utimesSync(path, 1, 1);
  const blob = await openAsBlob(path);
  if (isGone) rmSync(path);
  else writeFileSync(path, 'a report that is longer by now');
  return blob;
}

async function attempt(url: string, init: RequestInit = {}) {
  const decisions: (readonly [Failure, Decision])[] = [];
  const steady = createSteadfetch({ policy: { baseMs: 0 } });
  steady.subscribe((event) => {
    if (event.type === 'decision') decisions.push([event.failure, event.decision]);
  });
  const run = retry(steady, ({ signal }) => steady.fetch(url, { ...init, signal }), {
    idempotent: true,
    maxRetries: 2,
  });
  const error = await rejectionOf(run);
  steady.dispose();
  return { error: error as Error, decisions };
}

/** As an interceptor of tests rejects in the place of fetch. */
class InternalError extends Error {
  override readonly name = 'InternalError';
}
const said = '[MSW] Cannot bypass a request when using the "error" strategy';
const noMatch = Object.assign(new Error('Nock: No match'), { code: 'ERR_NOCK_NO_MATCH' });

test.each<[string, () => Promise<RequestInit & { url?: string }>, string]>([
  [
    'a file that was changed',
    async () => ({ method: 'POST', body: await opened(false) }),
    'was changed, moved or removed. Select it again.',
  ],
  [
    'a file that was removed',
    async () => ({ method: 'POST', body: await opened(true) }),
    'was changed, moved or removed. Select it again.',
  ],
  [
    'a port that fetch blocks',
    async () => ({ url: 'http://127.0.0.1:6000/' }),
    'browsers block port 6000',
  ],
  ['a scheme that fetch does not know', async () => ({ url: 'ftp://host/' }), 'not support ftp:'],
  [
    'a header that Node does not send',
    async () => ({ headers: { expect: '100-continue' } }),
    'expect header not supported',
  ],
  [
    'what an interceptor refuses with an error of its own',
    async () => {
      vi.stubGlobal('fetch', () => Promise.reject(new InternalError(said)));
      return {};
    },
    said,
  ],
  [
    'what an interceptor refuses beneath fetch',
    async () => {
      const cause = new InternalError(said);
      vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed', { cause })));
      return {};
    },
    said,
  ],
  [
    'what an interceptor refuses with a code',
    async () => {
      vi.stubGlobal('fetch', () =>
        Promise.reject(new TypeError('fetch failed', { cause: noMatch })),
      );
      return {};
    },
    'Nock: No match',
  ],
  [
    'what a mock agent of undici does not know',
    async () => {
      const dispatcher = new undici.MockAgent();
      dispatcher.disableNetConnect();
      vi.stubGlobal('fetch', (input: string) => undici.fetch(input, { dispatcher }));
      return {};
    },
    'net.connect disabled',
  ],
  [
    'what nock does not allow',
    async () => {
      const text = 'Nock: Disallowed net connect for "localhost/"';
      const cause = Object.assign(new Error(text), {
        name: 'NetConnectNotAllowedError',
        code: 'ENETUNREACH',
      });
      vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed', { cause })));
      return {};
    },
    'Disallowed net connect',
  ],
])('%s is refused once, without a request', async (_, make, text) => {
  const { url = origin, ...init } = await make();
  const { error, decisions } = await attempt(url, init);
  expect(error.message).toContain(text);
  expect(outcomeOf(error)).toEqual(invalid);
  expect(decisions).toEqual([[invalid, stop]]);
  expect(arrived).toBe(0);
});

test.each([false, true])(
  'a file in a Request, gone: %s, is not sent, and not asked for again',
  async (isGone) => {
    const steady = createSteadfetch({ policy: { baseMs: 0 } });
    let runs = 0;
    const run = retry(
      steady,
      async ({ signal }) => {
        runs++;
        const request = new Request(origin, { method: 'PUT', body: await opened(isGone), signal });
        return steady.rawFetch(request);
      },
      { idempotent: true },
    );
    expect(outcomeOf(await rejectionOf(run))).toEqual(invalid);
    expect([runs, arrived]).toEqual([1, 0]);
  },
);

test.each([
  [
    'a network error of an interceptor',
    new TypeError('Failed to fetch', { cause: Response.error() }),
  ],
  ['an error of a mock', new Error('Network Error')],
  [
    'an error of the system',
    new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    }),
  ],
  [
    'a server that does not speak HTTP',
    new TypeError('fetch failed', {
      cause: Object.assign(new Error('?'), { name: 'HTTPParserError' }),
    }),
  ],
  ['an error without anything', undefined],
])('%s is no answer, and retried', async (_, cause) => {
  vi.stubGlobal('fetch', vi.fn<typeof fetch>().mockRejectedValue(cause));
  const { error, decisions } = await attempt(origin, { redirect: 'error' });
  expect(error).toMatchObject({ code: 'network' });
  expect(decisions).toHaveLength(3);
});

test('an error of a fetch that the app has passed is that of its network', async () => {
  const steady = createSteadfetch({ fetch: () => Promise.reject(new InternalError('closed')) });
  expect(await rejectionOf(steady.fetch(origin))).toMatchObject({ code: 'network' });
});

test("what MSW's strategy error refuses is refused once, with its message", async () => {
  const { setupServer } = await import('msw/node');
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const msw = setupServer();
  msw.listen({ onUnhandledFrame: 'error' });
  try {
    const { error: thrown, decisions } = await attempt(origin);
    expect(thrown.message).toContain('Cannot bypass a request when using the "error" strategy');
    expect(decisions).toEqual([[invalid, stop]]);
    expect(arrived).toBe(0);
  } finally {
    msw.close();
    error.mockRestore();
  }
});

/** How a request to a scheme fails, if its fetch only says that it did. */
async function failureOf(scheme: string): Promise<readonly [unknown, string]> {
  const fetch = (): Promise<never> => Promise.reject(new TypeError('Failed to fetch'));
  const steady = createSteadfetch({ fetch });
  onTestFinished(() => steady.dispose());
  const error = await rejectionOf(steady.fetch(`${scheme}://bundle/orders`));
  return [outcomeOf(error)?.kind, String(error)];
}

test.each(['app', 'capacitor', 'chrome-extension', 'ionic', 'moz-extension', 'tauri'])(
  'a request to %s:, which the shell of an app answers, fails as any other, and may be sent again',
  async (scheme) => {
    expect(await failureOf(scheme)).toEqual([
      'network',
      'NetworkError: The server did not answer.',
    ]);
  },
);

test.each(['file', 'ftp', 'mailto', 'wss'])('a request to %s: is a mistake', async (scheme) => {
  expect(await failureOf(scheme)).toEqual([
    'invalid',
    `TypeError: steady.fetch: not sent, because fetch does not support ${scheme}:.`,
  ]);
});
