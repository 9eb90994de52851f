import { createClient } from '@supabase/supabase-js';
import type { QueryFunction } from '@tanstack/react-query';
import { Client, fetchExchange, gql } from '@urql/core';
import { retryExchange } from '@urql/exchange-retry';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import ky from 'ky';
import { ofetch } from 'ofetch';
import createOpenapi from 'openapi-fetch';
import { linkClient, rawFetchFor, type Steadfetch } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createRig } from '../react-query/rig.tsx';

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(console, 'warn').mockImplementation((message) => {
    // supabase-js has warnings of its own.
    if (String(message).startsWith('[steadfetch]')) warnings.push(String(message));
  });
});

// That of the page: what is hidden from other origins is another test's subject.
const { origin } = location;

type Fetch = Steadfetch['rawFetch'];

/** A queryFn of a real client whose own retries are on, or off. */
type Ask = (fetch: Fetch, isOn: boolean, steady: Steadfetch) => QueryFunction;

const askKy: Ask = (fetch, isOn, steady) => {
  const own = ky.create({ prefix: origin, fetch, timeout: false, ...(!isOn && { retry: 0 }) });
  const api = fetch === steady.rawFetch ? linkClient(steady, own) : own;
  return ({ signal }) => api.get('products', { signal }).json();
};

const askOfetch =
  (options: { readonly timeout?: number }): Ask =>
  (fetch, isOn) => {
    const api = ofetch.create({ baseURL: origin, ...(!isOn && { retry: 0 }) }, { fetch });
    return ({ signal }) => api<unknown>('/products', { signal, ...options });
  };

const askSupabase: Ask = (fetch, isOn) => {
  const api = createClient(origin, 'anon-key', {
    global: { fetch },
    ...(!isOn && { db: { retry: false } }),
    auth: { persistSession: false, autoRefreshToken: false },
  });
  return async ({ signal }) =>
    (await api.from('products').select('name').abortSignal(signal).throwOnError()).data;
};

const askAxios: Ask = (_, isOn, steady) => {
  const api = axios.create({ baseURL: origin, adapter: steadyAdapter(steady, axios) });
  if (isOn) axiosRetry(api);
  return async ({ signal }) => (await api.get<unknown>('/products', { signal })).data;
};

const askUrql: Ask = (fetch, isOn) => {
  const exchanges = isOn ? [retryExchange({}), fetchExchange] : [fetchExchange];
  const api = new Client({ url: `${origin}/graphql`, exchanges, fetch });
  return async () => {
    const { data, error } = await api.query(
      gql`
        {
          products
        }
      `,
      {},
    );
    if (error) throw error;
    return data as unknown;
  };
};

const clients: readonly (readonly [string, Ask, string])[] = [
  ['ky', askKy, 'give ky retry: 0'],
  ['ofetch', askOfetch({}), 'give ofetch retry: 0'],
  ['ofetch with a time limit of its own', askOfetch({ timeout: 5000 }), 'give ofetch retry: 0'],
  ['supabase-js', askSupabase, 'give supabase-js db: { retry: false }'],
  ['axios-retry', askAxios, 'remove axios-retry, or give it retries: 0'],
  ["urql's retryExchange", askUrql, "remove urql's retryExchange"],
];

const rule =
  'Two retry loops multiply: three tries in each of two are nine requests. Turn the inner one off:';
const all =
  'retry: 0 for ky and ofetch, db: { retry: false } for supabase-js, no axios-retry, no fetch-retry, ' +
  'no retryExchange in urql, no RetryLink in Apollo, no retryLink in tRPC and no retry middleware in wretch';

/** Asks a server that answers 503 so many times, and then 200. */
async function fetchFrom(ask: Ask, failures: number, isOn: boolean): Promise<number> {
  let requests = 0;
  const server = async (): Promise<Response> => {
    requests++;
    if (requests <= failures) return new Response('no', { status: 503 });
    return new Response('{"data":{}}', { headers: { 'content-type': 'application/json' } });
  };
  // What axios' own adapter sends with.
  vi.stubGlobal('fetch', server);
  const { adapter } = axios.defaults;
  Object.assign(axios.defaults, { adapter: 'fetch' });
  const { steady, client, time } = createRig({ fetch: server });
  const queryFn = ask(steady.rawFetch, isOn, steady);
  const asked = client.fetchQuery({ queryKey: ['products'], queryFn }).catch(() => {});
  await Promise.all([asked, time.advance(200_000)]);
  Object.assign(axios.defaults, { adapter });
  return requests;
}

describe.each(clients)('%s', (_, ask, remedy) => {
  test('its retries of what fails in the end: one warning names what turns them off', async () => {
    expect(await fetchFrom(ask, 99, true)).toBeGreaterThan(4);
    expect(warnings).toEqual([
      expect.stringContaining(`${rule} ${remedy}. See node_modules/steadfetch/docs/clients.md.`),
    ]);
  });

  test('its retries of what succeeds in the end: one warning names all options', async () => {
    expect(await fetchFrom(ask, 1, true)).toBe(2);
    expect(warnings).toEqual([
      expect.stringContaining(`${rule} ${all}. See node_modules/steadfetch/docs/clients.md.`),
    ]);
  });

  test('with its retries off, four attempts are made and nothing is said', async () => {
    expect(await fetchFrom(ask, 99, false)).toBe(4);
    expect(warnings).toEqual([]);
  });
});

const besideUs: readonly (readonly [string, Ask, string])[] = [
  ['ky', (_, isOn, steady) => askKy(globalThis.fetch as Fetch, isOn, steady), 'give ky retry: 0'],
  [
    'axios-retry',
    (_, isOn) => {
      const api = axios.create({ baseURL: origin });
      if (isOn) axiosRetry(api);
      return async ({ signal }) => (await api.get<unknown>('/products', { signal })).data;
    },
    'remove axios-retry, or give it retries: 0',
  ],
];

describe.each(besideUs)('%s that does not send through us', (_, ask, remedy) => {
  test('its errors show that its retries are on: one warning names what turns them off', async () => {
    expect(await fetchFrom(ask, 99, true)).toBeGreaterThan(4);
    expect(warnings).toEqual([
      `[steadfetch] A client inside an operation retries by itself. ${rule} ${remedy}. See node_modules/steadfetch/docs/clients.md.`,
    ]);
  });

  test('with its retries off, four attempts are made and nothing is said', async () => {
    expect(await fetchFrom(ask, 99, false)).toBe(4);
    expect(warnings).toEqual([]);
  });
});

test('a request of no query that fails beside one, again and again, is no second loop', async () => {
  const { steady, client, server, time } = createRig();
  server.plan('/slow', 'hang');
  server.plan('/ping', 503, 503, 503);
  const queryFn: QueryFunction = ({ signal }) => steady.json('/slow', { signal });
  const asked = client.fetchQuery({ queryKey: ['slow'], queryFn }).catch(() => {});
  await time.advance(1);
  for (let index = 0; index < 3; index++) {
    steady.fetch('/ping').catch(() => {});
    await time.advance(1);
  }
  await Promise.all([asked, time.advance(200_000)]);
  expect(server.times('/ping')).toHaveLength(3);
  expect(warnings).toEqual([]);
});

/** A queryFn that gets new credentials after this status, and sends the request again. */
type Renew = (steady: Steadfetch, status: number) => QueryFunction;

const renewals: readonly (readonly [string, Renew])[] = [
  [
    'steady.fetch',
    (steady, status) => async (context) => {
      const { signal } = context;
      const first = await steady.fetch('/products', { signal }).catch((error: unknown) => error);
      const isRefused = (first as { readonly status?: number }).status === status;
      return isRefused ? steady.json('/products', { signal }) : Promise.reject(first);
    },
  ],
  [
    'an interceptor of axios',
    (steady, status) => {
      const api = axios.create({ baseURL: origin, adapter: steadyAdapter(steady, axios) });
      let wasRenewed = false;
      api.interceptors.response.use(undefined, async (error: unknown) => {
        const isRefused = axios.isAxiosError(error) && error.response?.status === status;
        if (!isRefused || wasRenewed || !error.config) throw error;
        wasRenewed = true;
        return api.request(error.config);
      });
      return async ({ signal }) => (await api.get<unknown>('/products', { signal })).data;
    },
  ],
  [
    'a hook of ky',
    (steady, status) => {
      const own = { fetch: steady.rawFetch, retry: 0, timeout: false } as const;
      const api = linkClient(steady, ky.create({ prefix: origin, ...own }));
      let wasRenewed = false;
      return ({ signal }) => {
        const again = ({ request, response }: { request: Request; response: Response }) => {
          if (response.status !== status || wasRenewed) return undefined;
          wasRenewed = true;
          return rawFetchFor(steady, signal)(request.clone());
        };
        return api.get('products', { signal, hooks: { afterResponse: [again] } }).json();
      };
    },
  ],
  [
    'middleware of openapi-fetch',
    (steady, status) => {
      const own = createOpenapi<{ '/products': { get: { responses: object } } }>({
        baseUrl: origin,
        fetch: steady.rawFetch,
      });
      own.use({
        onResponse: ({ request, response, options }) =>
          response.status === status ? options.fetch(request.clone()) : undefined,
      });
      const api = linkClient(steady, own);
      return async ({ signal }) => (await api.GET('/products', { signal })).response.status;
    },
  ],
];

/** Asks a server that answers this once, and then 200. @returns how often it was asked. */
async function renew(make: Renew, status: number): Promise<number> {
  let requests = 0;
  const server = async (): Promise<Response> => {
    requests++;
    const headers = { 'content-type': 'application/json' };
    return requests === 1
      ? new Response('{}', { status, headers })
      : new Response('{}', { headers });
  };
  vi.stubGlobal('fetch', server);
  const { adapter } = axios.defaults;
  Object.assign(axios.defaults, { adapter: 'fetch' });
  const { steady, client, time } = createRig({ fetch: server });
  const asked = client.fetchQuery({ queryKey: ['products'], queryFn: make(steady, status) });
  await Promise.all([asked, time.advance(200_000)]);
  Object.assign(axios.defaults, { adapter });
  return requests;
}

describe.each(renewals)('%s', (_, make) => {
  test.each([401, 403, 407, 409, 412, 419, 440])(
    'again after a %i, with what it was refused for want of, is no second loop',
    async (status) => {
      expect(await renew(make, status)).toBe(2);
      expect(warnings).toEqual([]);
    },
  );

  test.each([408, 425, 429, 500, 502, 503, 504])('again after a %i is one', async (status) => {
    expect(await renew(make, status)).toBe(2);
    expect(warnings).toEqual([expect.stringContaining(`${rule} ${all}.`)]);
  });
});
