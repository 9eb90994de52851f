import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { watchConnectivity } from 'steadfetch';
import { sendCheck } from '../../../src/core/connectivity/check.ts';
import { systemClock, systemTransport } from '../../../src/core/lib/clock.ts';

// What Chromium 150 shows of such answers: all have the type `basic`.

const origin = 'https://app.example';
const asked = `${origin}/`;
const date = 'Sat, 28 Nov 2026 12:00:00 GMT';

beforeEach(() => {
  vi.stubGlobal('SecurityPolicyViolationEvent', Event);
  onTestFinished(() => void vi.unstubAllGlobals());
});

/** An answer, with what a browser shows of it. */
function answer(
  facts: Partial<Response>,
  headers: HeadersInit = { date },
  status: number = 200,
): Response {
  const given = new Response(null, { status, headers });
  const shown = { type: 'basic', url: asked, redirected: false, ...facts };
  for (const [name, value] of Object.entries(shown)) Object.defineProperty(given, name, { value });
  return given;
}

/** What a check without `expect`, or the request to an origin, makes of it. */
function seen(given: Response): Promise<string> {
  vi.stubGlobal('fetch', async () => given);
  return sendCheck(systemClock, systemTransport, { url: asked });
}

describe('an answer that no server has given proves no network', () => {
  test.each<[string, Response]>([
    ['the page for a device without a network', answer({ url: `${origin}/offline.html` })],
    ['a 503 that a service worker makes', answer({}, {}, 503)],
    ['a 504 that a service worker makes', answer({}, {}, 504)],
    ['a 200 that a service worker makes', answer({}, { 'content-type': 'application/json' })],
    ['the file of an app on the device', answer({}, { 'cache-control': 'no-cache' })],
    ['one for another origin', answer({ url: 'https://other.example/' }, {})],
    ['one that says that it was made', answer({ type: 'default' }, {})],
  ])('%s', async (_name, given) => {
    expect(await seen(given)).toBe('failed');
  });
});

describe('an answer of a server proves it', () => {
  test.each<[string, Response]>([
    ['a page', answer({})],
    ['an error', answer({}, { date }, 503)],
    ['one after a redirect', answer({ url: `${origin}/login`, redirected: true })],
    ['one that may not be read', answer({ type: 'opaque', url: '' }, {})],
  ])('%s', async (_name, given) => {
    expect(await seen(given)).toBe('reached');
  });
});

test.each(['about:srcdoc', 'about:blank'])(
  'in a frame of %s, the path of a check belongs to the origin of its parent',
  async (href) => {
    vi.stubGlobal('location', new URL(href));
    vi.stubGlobal('document', { baseURI: 'https://app.example/page' });
    const transport = vi.fn<typeof fetch>(async () => new Response());
    expect(await sendCheck(systemClock, transport, { url: '/here.txt' })).toBe('reached');
    expect(transport.mock.calls[0]?.[0]).toBe('https://app.example/here.txt');
  },
);

test.each([
  'blob:https://app.example/1',
  'data:text/javascript,0',
  'https://app.example/worker.js',
])('in a worker no check is sent, so its path needs no origin: %s', (href) => {
  vi.stubGlobal('location', new URL(href));
  expect(() => watchConnectivity({ check: '/here.txt' })).not.toThrow();
});
