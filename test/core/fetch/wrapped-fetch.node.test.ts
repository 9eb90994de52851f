import { createSteadfetch, defineIdempotency, profiles, refreshOn401 } from 'steadfetch';
import { describe, expect, onTestFinished, test } from 'vitest';

// A page, an interceptor or an old polyfill may read the headers as the plain object that apps mostly give.

type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;
type Wrap = (init: RequestInit) => HeadersInit;

const plain = ({ headers }: RequestInit): Record<string, string> =>
  headers as Record<string, string>;

const wrappers: readonly (readonly [string, Wrap])[] = [
  ['spreads them', (init) => ({ ...plain(init), 'X-App': 'shop' })],
  [
    'spreads them, and sets the content type again',
    (init) => ({ ...plain(init), 'Content-Type': 'application/json', 'X-App': 'shop' }),
  ],
  [
    'copies them name by name, as unfetch does',
    (init) => {
      const copy: Record<string, string> = { 'X-App': 'shop' };
      for (const name in plain(init)) copy[name] = plain(init)[name] as string;
      return copy;
    },
  ],
];

/** An instance over a fetch that is wrapped, and the headers that arrive. */
function open(wrap: Wrap, headers?: () => Record<string, string>) {
  const arrived: Record<string, string>[] = [];
  const fetch: Fetch = async (_, init = {}) => {
    arrived.push(Object.fromEntries(new Headers(wrap(init))));
    return new Response('{}', { headers: { 'content-type': 'application/json' } });
  };
  const steady = createSteadfetch({
    fetch,
    apis: [
      {
        match: 'https://shop.example',
        idempotency: defineIdempotency({ ...profiles.draft, lifetimeMs: 1000 }),
        ...(headers && { auth: refreshOn401({ headers, refresh: () => false }) }),
      },
    ],
  });
  onTestFinished(() => steady.dispose());
  return { steady, arrived };
}

const url = 'https://shop.example/orders';
const all = { 'content-type': 'application/json', 'x-app': 'shop' };

describe.each(wrappers)('where a wrapper of fetch %s', (_name, wrap) => {
  test('the type of a JSON body arrives', async () => {
    const { steady, arrived } = open(wrap);
    await steady.json(url, { method: 'PUT', json: {} });
    expect(arrived).toEqual([all]);
  });

  test.each<[string, HeadersInit | undefined]>([
    ['with a plain object of headers', { 'Content-Type': 'application/json' }],
    ['with pairs', [['content-type', 'application/json']]],
  ])('the key arrives: %s', async (_given, headers) => {
    const { steady, arrived } = open(wrap);
    const init = { method: 'POST', body: '{}', idempotencyKey: 'k1' };
    await steady.fetch(url, { ...init, ...(headers && { headers }) });
    expect(arrived).toEqual([{ ...all, 'idempotency-key': '"k1"' }]);
  });

  test('the key of JSON, and credentials, arrive', async () => {
    const { steady, arrived } = open(wrap, () => ({ 'X-Token': 't' }));
    await steady.json(url, { json: {}, idempotencyKey: 'k1' });
    expect(arrived).toEqual([{ ...all, 'idempotency-key': '"k1"', 'x-token': 't' }]);
  });
});

test('headers that the app gave as Headers stay Headers, for a wrapper that relies on that', async () => {
  const { steady, arrived } = open(({ headers }) => {
    (headers as Headers).set('x-app', 'shop');
    return headers as Headers;
  });
  const headers = new Headers({ 'x-own': '1' });
  await steady.json(url, { json: {}, headers, idempotencyKey: 'k1' });
  expect(arrived).toEqual([{ ...all, 'x-own': '1', 'idempotency-key': '"k1"' }]);
});
