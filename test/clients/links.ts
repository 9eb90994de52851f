import {
  CancelledError,
  environmentManager,
  MutationObserver,
  QueryClient,
} from '@tanstack/react-query';
import { GraphQLClient } from 'graphql-request';
import kyOwn from 'ky';
import { ofetch as ofetchOwn } from 'ofetch';
import createOpenapi from 'openapi-fetch';
import { linkClient, mutationOptions, rawFetchFor, type SteadfetchEvent } from 'steadfetch';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import wretchOwn from 'wretch';
import { resetSteadfetch } from '../../src/testing/reset.ts';
import { rejectionOf } from '../core/fetch/observe.ts';
import * as apollo from './recipes/apollo.ts';
import * as connect from './recipes/connect.ts';
import { AddProduct, Products as ProductsQuery } from './recipes/documents.ts';
import * as graphqlRequest from './recipes/graphql-request.ts';
import * as ky from './recipes/ky.ts';
import * as ofetch from './recipes/ofetch.ts';
import type { paths } from './recipes/openapi.ts';
import * as openapiFetch from './recipes/openapi-fetch.ts';
import { server, steady } from './recipes/steady.ts';
import * as supabase from './recipes/supabase.ts';
import * as trpc from './recipes/trpc.ts';
import * as urql from './recipes/urql.ts';
import * as wretch from './recipes/wretch.ts';
import type { Arrival, Plan } from './shop-server.ts';

/** A request of a client, as its recipe in docs/clients makes it: the read is told apart by its number. */
interface Client {
  readonly read: (number: number, signal: AbortSignal) => Promise<unknown>;
  readonly write: (signal: AbortSignal) => Promise<unknown>;
  readonly good: unknown;
  /** Its recipe's document takes no number. */
  readonly isUnnumbered?: true;
}

const baseUrl = 'https://api.example';
const tick = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 0));
const graphQL = { data: { products: ['kite'], add: true } };

/** No Error, as the client hands it out. */
async function reject(body: unknown): Promise<never> {
  throw body as Error;
}

/** As apps write it: the plain body of the error is thrown. */
const openapiClient = (api: typeof openapiFetch.api): Client => ({
  async read(number, signal) {
    const { data, error } = await api.GET('/products', { signal, params: { query: { number } } });
    return error ? reject(error) : data;
  },
  async write(signal) {
    const { data, error } = await api.POST('/products', { body: { name: 'kite' }, signal });
    return error ? reject(error) : data;
  },
  good: ['kite'],
});

/** With middleware that takes its time, and makes another Request. */
function openapiBehind(change: (request: Request) => Request): Client {
  const own = createOpenapi<paths>({ baseUrl, fetch: steady.rawFetch });
  own.use({
    async onRequest({ request }) {
      await tick();
      return change(request);
    },
  });
  return openapiClient(linkClient(steady, own));
}

const kyClient = (api: typeof ky.api): Client => ({
  read: (number, signal) => api.get('products', { signal, searchParams: { number } }).json(),
  write: (signal) => api.post('products', { json: { name: 'kite' }, signal }).json(),
  good: ['kite'],
});

const clients: readonly (readonly [string, () => Client])[] = [
  ['openapi-fetch', () => openapiClient(openapiFetch.api)],
  [
    'openapi-fetch with middleware',
    () =>
      openapiBehind((request) => {
        request.headers.set('x-trace', '1');
        return request;
      }),
  ],
  [
    'openapi-fetch with middleware that makes a Request of the Request',
    () => openapiBehind((request) => new Request(request, { headers: { 'x-trace': '1' } })),
  ],
  [
    'openapi-fetch with middleware that makes a Request of its URL',
    () => openapiBehind((request) => new Request(new URL(request.url), request)),
  ],
  [
    'openapi-fetch with middleware that loses the signal',
    () =>
      openapiBehind(
        ({ url, method, body }) => new Request(url, { method, ...(body && { body: '{}' }) }),
      ),
  ],
  ['openapi-fetch, cloned', () => openapiBehind((request) => request.clone())],
  ['ky', () => kyClient(ky.api)],
  [
    'ky with a hook',
    () => {
      const beforeRequest = [tick];
      const own = {
        fetch: steady.rawFetch,
        retry: 0,
        timeout: false,
        hooks: { beforeRequest },
      } as const;
      return kyClient(linkClient(steady, kyOwn.create({ prefix: baseUrl, ...own })));
    },
  ],
  [
    'ofetch',
    () => ({
      read: (number, signal) => ofetch.api('/products', { signal, query: { number } }),
      write: (signal) =>
        ofetch.api('/products', { method: 'POST', body: { name: 'kite' }, signal }),
      good: ['kite'],
    }),
  ],
  [
    'ofetch with an interceptor',
    () => {
      const own = ofetchOwn.create(
        { baseURL: baseUrl, retry: 0, onRequest: tick },
        { fetch: steady.rawFetch },
      );
      return {
        read: (number, signal) => own('/products', { signal, query: { number } }),
        write: (signal) => own('/products', { method: 'POST', body: { name: 'kite' }, signal }),
        good: ['kite'],
      };
    },
  ],
  [
    'wretch',
    () => ({
      read: (number, signal) =>
        wretch.api.options({ signal }).get(`/products?number=${number}`).json(),
      write: (signal) =>
        wretch.api.options({ signal }).url('/products').post({ name: 'kite' }).json(),
      good: ['kite'],
    }),
  ],
  [
    'wretch with middleware',
    () => {
      const own = wretchOwn(baseUrl)
        .fetchPolyfill(steady.rawFetch)
        .middlewares([
          (next) => async (url, options) => {
            await tick();
            return next(url, options);
          },
        ]);
      return {
        read: (number, signal) => own.options({ signal }).get(`/products?number=${number}`).json(),
        write: (signal) => own.options({ signal }).url('/products').post({ name: 'kite' }).json(),
        good: ['kite'],
      };
    },
  ],
  [
    'graphql-request',
    () => {
      const own = new GraphQLClient(`${baseUrl}/graphql`, {
        fetch: steady.rawFetch,
        method: 'GET',
      });
      return {
        read: (number, signal) =>
          own.request({
            document: 'query($number: Int) { products }',
            variables: { number },
            signal,
          }),
        write: (signal) => graphqlRequest.api.request({ document: 'mutation { add }', signal }),
        good: graphQL,
      };
    },
  ],
  [
    'urql',
    () => {
      const run = async <T>(asked: PromiseLike<{ data?: T; error?: unknown }>): Promise<T> => {
        const { data, error } = await asked;
        if (!data) throw error;
        return data;
      };
      return {
        read: (number, signal) =>
          run(urql.api.query(ProductsQuery, { number }, { fetch: rawFetchFor(steady, signal) })),
        write: (signal) =>
          run(urql.api.mutation(AddProduct, {}, { fetch: rawFetchFor(steady, signal) })),
        good: graphQL,
      };
    },
  ],
  [
    'Apollo',
    () => ({
      read: (number, signal) =>
        apollo.api.query({
          query: ProductsQuery,
          variables: { number },
          fetchPolicy: 'no-cache',
          context: { queryDeduplication: false, signal },
        }),
      write: (signal) => apollo.api.mutate({ mutation: AddProduct, context: { signal } }),
      good: graphQL,
      isUnnumbered: true,
    }),
  ],
  [
    'tRPC',
    () => ({
      read: (number, signal) => trpc.api.products.query(number as never, { signal }),
      write: (signal) => trpc.api.add.mutate(undefined, { signal }),
      good: { result: { data: ['kite'] } },
    }),
  ],
  [
    'Connect',
    () => ({
      read: (_, signal) => connect.api.list({}, { signal }),
      write: (signal) => connect.api.add({}, { signal }),
      good: { names: ['kite'] },
      isUnnumbered: true,
    }),
  ],
  [
    'supabase-js',
    () => ({
      read: async (number, signal) =>
        (
          await supabase.api
            .from('products')
            .select('name')
            .eq('number', number)
            .abortSignal(signal)
            .throwOnError()
        ).data,
      write: async (signal) =>
        supabase.api.from('products').insert({ name: 'kite' }).abortSignal(signal).throwOnError(),
      good: [{ name: 'kite' }],
    }),
  ],
];

const moments: readonly (readonly [string, () => Promise<void> | undefined])[] = [
  ['at once', () => undefined],
  ['after an await', tick],
];

/** Whose each request is, with the clients of docs/clients: the same in Node and in a browser. */
export function describeLinks(shop: () => string): void {
  const put = (plan: Partial<Plan>): Promise<Response> =>
    fetch(`${shop()}/plan`, {
      method: 'PUT',
      body: JSON.stringify({ statuses: [], codes: [], ...plan }),
    });
  const arrivals = async (wanted = ''): Promise<readonly Arrival[]> =>
    ((await (await fetch(`${shop()}/plan?${wanted}`)).json()) as Plan).arrivals;

  beforeAll(() => {
    environmentManager.setIsServer(() => false);
    server.origin = shop();
  });
  afterAll(() => steady.dispose());

  describe.each(clients)('%s', (_name, make) => {
    describe.each(moments)('%s', (_moment, wait) => {
      let client: QueryClient;
      let api: Client;
      beforeEach(() => {
        resetSteadfetch(steady);
        client = new QueryClient({ defaultOptions: steady.defaultOptions });
        api = make();
      });
      const options = (number: number) => ({
        queryKey: ['products', number],
        queryFn: async ({ signal }: { signal: AbortSignal }) => {
          const waiting = wait();
          if (waiting) await waiting;
          return api.read(number, signal);
        },
      });
      const mutate = (): Promise<unknown> =>
        new MutationObserver(
          client,
          mutationOptions(steady, {
            mutationFn: async (_: void, { signal }) => {
              const waiting = wait();
              if (waiting) await waiting;
              return api.write(signal);
            },
          }),
        ).mutate();

      test('of twenty queries, each has its own request', async () => {
        await put({ good: api.good });
        const owners: unknown[] = [];
        const stop = steady.subscribe((event: SteadfetchEvent) => {
          if (event.type !== 'request:start') return;
          const [, number] = event.operation.queryKey ?? [];
          const isIts = decodeURIComponent(event.url).includes(String(number));
          owners.push([number, isIts || !!api.isUnnumbered]);
        });
        onTestFinished(stop);
        const numbers = Array.from({ length: 20 }, (_, index) => 1000 + index);
        await Promise.all(numbers.map((number) => client.fetchQuery(options(number))));
        expect(new Set(owners.map((owner) => JSON.stringify(owner)))).toEqual(
          new Set(numbers.map((number) => JSON.stringify([number, true]))),
        );
        expect(owners).toHaveLength(20);
      });

      test('a 404 is sent once', async () => {
        await put({ good: api.good, statuses: [404, 404, 404, 404] });
        await rejectionOf(client.fetchQuery(options(1000)));
        expect(await arrivals()).toHaveLength(1);
      });

      test('Cancel ends the request', async () => {
        await put({ good: api.good, statuses: [0] });
        const failing = rejectionOf(client.fetchQuery(options(1000)));
        await arrivals('requests=1');
        await client.cancelQueries();
        expect(await failing).toBeInstanceOf(CancelledError);
        expect(await arrivals('closed=1')).toHaveLength(1);
      });

      test('a write is sent again with its key', async () => {
        await put({ good: api.good, statuses: [503] });
        await mutate();
        const [first, second, ...others] = await arrivals();
        expect(first?.key).toMatch(/^[\da-f-]{36}$/);
        expect([second?.key, others]).toEqual([first?.key, []]);
      });
    });
  });
}
