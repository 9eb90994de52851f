import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSteadfetch, retry } from 'steadfetch';
import { polyfill } from './foreign.ts';

const url = 'https://api.example/things';

const page = new EventTarget();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('SecurityPolicyViolationEvent', Event);
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The cache modes of three attempts, of which two fail. */
async function modesOf(
  input: RequestInfo = url,
  init: RequestInit & { readonly idempotent?: boolean } = {},
): Promise<(string | undefined)[]> {
  return (await initsOf(input, init)).map((sent) => sent?.cache);
}

/** What is sent by three attempts, of which two fail. */
async function initsOf(
  input: RequestInfo,
  init: RequestInit & { readonly idempotent?: boolean } = {},
): Promise<(RequestInit | undefined)[]> {
  const sent: (RequestInit | undefined)[] = [];
  const steady = createSteadfetch({
    health: false,
    policy: { baseMs: 1, capMs: 1 },
    fetch: async (_, given) => {
      sent.push(given);
      return new Response('{}', { status: sent.length < 3 ? 503 : 200 });
    },
  });
  const all = retry(steady, ({ signal }) => steady.fetch(input, { ...init, signal }), {
    idempotent: true,
  });
  await vi.runAllTimersAsync();
  await all;
  return sent;
}

const again = [undefined, 'no-cache', 'no-cache'];

describe('a retry leaves the device, past the cache of the browser', () => {
  test.each<[string, RequestInfo, RequestInit]>([
    ['a GET', url, {}],
    ['a HEAD', url, { method: 'HEAD' }],
    ['a Request', new Request(url), {}],
    ['a mode that says nothing', url, { cache: 'default' }],
  ])('%s', async (name, input, init) => {
    const modes = await modesOf(input, init);
    expect(modes).toEqual(name.startsWith('a mode') ? ['default', ...again.slice(1)] : again);
  });
});

describe('where no browser runs it, there is no such cache, and every attempt is the same request', () => {
  beforeEach(() => void vi.stubGlobal('SecurityPolicyViolationEvent', undefined));
  test('in a Worker of Cloudflare, which refuses the mode', async () => {
    expect(await modesOf()).toEqual([undefined, undefined, undefined]);
  });
  test('in React Native, whose fetch would put a time into a signed URL', async () => {
    const signed = `${url}?signature=1`;
    const sent = await initsOf(signed);
    const urls = sent.map((init) => {
      const { cache } = { ...init };
      return new polyfill.Request(signed, cache && { cache }).url;
    });
    expect(urls).toEqual([signed, signed, signed]);
  });
});

describe('a mode that the caller has named stays', () => {
  test.each<RequestCache>(['force-cache', 'no-store', 'reload', 'no-cache'])(
    '%s',
    async (cache) => {
      expect(await modesOf(url, { cache })).toEqual([cache, cache, cache]);
    },
  );
  test('of a Request, too', async () => {
    const request = new Request(url, { cache: 'force-cache' });
    expect(await modesOf(request)).toEqual([undefined, undefined, undefined]);
  });
});

test.each(['POST', 'PUT', 'DELETE'])(
  'a %s, which no cache answers, goes as it is',
  async (method) => {
    expect(await modesOf(url, { method, idempotent: true })).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  },
);

test('a probe of an endpoint that is down leaves the device, also as a first attempt', async () => {
  const modes: (string | undefined)[] = [];
  let isUp = false;
  const steady = createSteadfetch({
    policy: { baseMs: 1, capMs: 1, maxRetries: 1 },
    fetch: async (_, sent) => {
      modes.push(sent?.cache);
      return new Response('{}', { status: isUp ? 200 : 503 });
    },
  });
  const failing = steady.fetch(url).catch(() => {});
  await failing;
  await steady.fetch(url).catch(() => {});
  isUp = true;
  const probe = steady.fetch(url);
  await vi.runAllTimersAsync();
  await probe;
  expect(modes).toEqual([undefined, undefined, 'no-cache']);
});
