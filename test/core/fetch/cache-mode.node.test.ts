import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSteadfetch, retry } from 'steadfetch';

const url = 'https://api.example/things';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The cache modes of three attempts, of which two fail. */
async function modesOf(
  input: RequestInfo = url,
  init: RequestInit & { readonly idempotent?: boolean } = {},
): Promise<(string | undefined)[]> {
  const modes: (string | undefined)[] = [];
  const steady = createSteadfetch({
    health: false,
    policy: { baseMs: 1, capMs: 1 },
    fetch: async (_, sent) => {
      modes.push(sent?.cache);
      return new Response('{}', { status: modes.length < 3 ? 503 : 200 });
    },
  });
  const all = retry(steady, ({ signal }) => steady.fetch(input, { ...init, signal }), {
    idempotent: true,
  });
  await vi.runAllTimersAsync();
  await all;
  return modes;
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
