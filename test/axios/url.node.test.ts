import type { AxiosInstance, AxiosRequestConfig, AxiosStatic } from 'axios';
import fc from 'fast-check';
import { createSteadfetch, refreshOn401, type SteadfetchEvent } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openServer, versions } from './loopback.ts';

const seed = Number(process.env['SEED'] ?? 30);

/** What one level of defaults, or a request, says of its URL; `{a}` and `{b}` stand for two servers. */
const level = fc.record(
  {
    baseURL: fc.constantFrom('{a}', '{b}/v1', '{a}/v1/', '{b}//', ''),
    allowAbsoluteUrls: fc.boolean(),
    params: fc.constantFrom<unknown>(
      { page: 2 },
      { ids: [1, 2], at: { x: null, y: 'ä b' } },
      { when: new Date(0), '[]': '&=#?' },
      new URLSearchParams('q=1&q=2'),
      {},
    ),
    paramsSerializer: fc.constantFrom<unknown>(
      { serialize: (params: object) => `n=${Object.keys(params).length}` },
      { encode: (text: string) => encodeURIComponent(text).toLowerCase() },
      { indexes: null },
    ),
  },
  { requiredKeys: [] },
);
const path = fc.constantFrom(
  '/items',
  'items',
  'items?x=1',
  '/items#part',
  '',
  '../up/./items',
  '/a b/ü',
  '{a}/items',
  '{b}/items?x=1#y',
  '{b}',
  '/items?url={a}/x',
);

const fill = (given: unknown, a: string, b: string): AxiosRequestConfig =>
  Object.fromEntries(
    Object.entries(given as object).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replace('{a}', a).replace('{b}', b) : (value as unknown),
    ]),
  );

/** Puts defaults in place of axios' own, until they are put back. */
function setDefaults(axios: AxiosStatic, own: object): () => void {
  const before = { ...axios.defaults };
  Object.assign(axios.defaults, own);
  return () => {
    for (const name of Object.keys(axios.defaults)) Reflect.deleteProperty(axios.defaults, name);
    Object.assign(axios.defaults, before);
  };
}

describe.each(versions)('%s', (_, axios) => {
  async function open() {
    const a = await openServer();
    const b = await openServer();
    const steady = createSteadfetch({
      apis: [
        {
          match: a.origin,
          auth: refreshOn401({ headers: () => ({ 'x-api-key': 'secret' }), refresh: () => false }),
        },
      ],
    });
    onTestFinished(() => steady.dispose());
    const told: string[] = [];
    steady.subscribe((event: SteadfetchEvent) => {
      if (event.type === 'request:start') told.push(event.url);
    });
    return { a, b, told, adapter: steadyAdapter(steady, axios) };
  }

  test(`the URL that the policy knows is the URL on the wire, whatever level of defaults it comes from (seed ${seed})`, async () => {
    const { a, b, told, adapter } = await open();
    const send = async (api: AxiosInstance, config: AxiosRequestConfig): Promise<boolean> => {
      try {
        await api.request(config);
        return true;
      } catch {
        return false;
      }
    };
    await fc.assert(
      fc.asyncProperty(level, level, level, level, path, async (...given) => {
        const [atCreate, global, instance, request] = given
          .slice(0, 4)
          .map((one) => fill(one, a.origin, b.origin)) as [object, object, object, object];
        const { url } = fill({ url: given[4] }, a.origin, b.origin);
        a.arrived.length = b.arrived.length = told.length = 0;
        const api = axios.create({ adapter, proxy: false, ...atCreate });
        Object.assign(api.defaults, instance);
        const restore = setDefaults(axios, global);
        const isSent = await send(api, { url, ...request } as AxiosRequestConfig);
        restore();
        const wire = [a, b].flatMap(({ origin, arrived }) =>
          // In 0.x it may have dots, which a server takes away.
          arrived.map(({ url: target }) => new URL(origin + target).href),
        );
        expect(wire).toHaveLength(isSent ? 1 : 0);
        const known = told.map((text) => new URL(text, a.origin).href.replace(/#.*/, ''));
        expect(isSent ? known : []).toEqual(wire);
        for (const { headers } of a.arrived) expect(headers['x-api-key']).toBe('secret');
        for (const { headers } of b.arrived) expect(headers).not.toHaveProperty('x-api-key');
      }),
      { seed, numRuns: 300 },
    );
  });

  test('defaults of axios itself, set after the instance was made, send no credentials elsewhere', async () => {
    const { a, b, adapter } = await open();
    const api = axios.create({ adapter });
    const restore = setDefaults(axios, { baseURL: a.origin, allowAbsoluteUrls: false });
    onTestFinished(restore);
    await api.get(`${b.origin}/items`);
    await axios.create({ adapter, baseURL: b.origin }).get('/items');
    expect(b.arrived.map(({ headers }) => headers['x-api-key'])).toEqual([undefined, undefined]);
    expect(a.arrived).toEqual([]);
  });

  test('a serializer of the app runs once for each request, so that a number that it counts is the same on the wire', async () => {
    const { a, told, adapter } = await open();
    let count = 0;
    const paramsSerializer = { serialize: () => `n=${++count}` };
    const api = axios.create({ adapter, baseURL: a.origin, paramsSerializer });
    await api.get('/items', { params: { any: 1 } });
    await api.get('/items', { params: { any: 1 } });
    expect(a.arrived.map(({ url }) => url)).toEqual(['/items?n=1', '/items?n=2']);
    expect(told).toEqual(a.arrived.map(({ url }) => a.origin + url));
  });

  test('a name and a password in a URL are sent, are no mistake, and are told to nobody', async () => {
    const { a, told, adapter } = await open();
    await axios.get(a.origin.replace('//', '//ada:pass@'), { adapter });
    expect(a.arrived[0]?.headers.authorization).toBe(`Basic ${btoa('ada:pass')}`);
    expect(told.map((url) => new URL(url).href)).toEqual([`${a.origin}/`]);
  });
});
