import {
  CancelledError,
  environmentManager,
  MutationObserver,
  onlineManager,
  QueryClient,
} from '@tanstack/react-query';
import { mutationOptions, outcomeOf, type SteadfetchEvent } from 'steadfetch';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { resetSteadfetch } from '../../src/testing/reset.ts';
import { rejectionOf } from '../core/fetch/observe.ts';
import * as apollo from './recipes/apollo.ts';
import * as connect from './recipes/connect.ts';
import * as graphqlRequest from './recipes/graphql-request.ts';
import * as ky from './recipes/ky.ts';
import * as ofetch from './recipes/ofetch.ts';
import * as openapiFetch from './recipes/openapi-fetch.ts';
import { expire, server, steady } from './recipes/steady.ts';
import * as supabase from './recipes/supabase.ts';
import * as trpc from './recipes/trpc.ts';
import * as urql from './recipes/urql.ts';
import * as wretch from './recipes/wretch.ts';
import type { Arrival, Plan } from './shop-server.ts';
import { writes } from './writes.ts';

interface Recipe {
  readonly load: (signal: AbortSignal) => Promise<string[]>;
}

/** The recipes of docs/clients, and what a server of each kind answers. */
const recipes: readonly (readonly [string, Recipe, unknown])[] = [
  ['ky', ky, ['kite']],
  ['ofetch', ofetch, ['kite']],
  ['openapi-fetch', openapiFetch, ['kite']],
  ['wretch', wretch, ['kite']],
  ['graphql-request', graphqlRequest, { data: { products: ['kite'] } }],
  ['urql', urql, { data: { products: ['kite'] } }],
  ['Apollo', apollo, { data: { products: ['kite'] } }],
  ['tRPC', trpc, { result: { data: ['kite'] } }],
  ['supabase-js', supabase, [{ name: 'kite' }]],
  ['Connect', connect, { names: ['kite'] }],
];

/** What each recipe does with a real client and a real server: the same in Node and in a browser. */
export function describeClients(shop: () => string): void {
  const put = (plan: Partial<Plan>): Promise<Response> =>
    fetch(`${shop()}/plan`, {
      method: 'PUT',
      body: JSON.stringify({ statuses: [], codes: [], ...plan }),
    });
  /** What has arrived, once that is so. */
  const arrivals = async (wanted = ''): Promise<Arrival[]> => {
    const response = await fetch(`${shop()}/plan?${wanted}`);
    return ((await response.json()) as Plan).arrivals;
  };
  const requests = async (): Promise<number> => (await arrivals()).length;

  beforeAll(() => {
    environmentManager.setIsServer(() => false);
    server.origin = shop();
  });
  afterAll(() => steady.dispose());

  describe.each(recipes)('%s', (name, { load }, good) => {
    let client: QueryClient;
    const isGraphQL = /graphql|urql|Apollo/.test(name);
    const ask = (options: { readonly retry?: false } = {}) =>
      client.fetchQuery({
        queryKey: [name],
        // An apart read of the signal, as apps do it.
        queryFn: ({ signal }) => load(signal),
        ...options,
      });

    beforeEach(() => {
      resetSteadfetch(steady);
      client = new QueryClient({ defaultOptions: steady.defaultOptions });
    });

    test('a good answer is its data', async () => {
      await put({ good });
      expect(await ask()).toEqual(['kite']);
      expect(await requests()).toBe(1);
    });

    test('503, then 200: two requests', async () => {
      await put({ good, statuses: [503] });
      expect(await ask()).toEqual(['kite']);
      expect(await requests()).toBe(2);
    });

    test('404: one request', async () => {
      await put({ good, statuses: [404, 404, 404, 404] });
      expect(outcomeOf(await rejectionOf(ask()))).toMatchObject({ kind: 'http', status: 404 });
      expect(await requests()).toBe(1);
    });

    test.runIf(isGraphQL).each([
      ['UNAUTHENTICATED', 401],
      ['BAD_USER_INPUT', 400],
    ])('the GraphQL error %s with status 200: one request', async (code, status) => {
      await put({ good, codes: [code, code, code, code] });
      expect(outcomeOf(await rejectionOf(ask()))).toMatchObject({ kind: 'http', status });
      expect(await requests()).toBe(1);
    });

    test.runIf(isGraphQL)('RATE_LIMITED with status 200, then data: two requests', async () => {
      await put({ good, codes: ['RATE_LIMITED'] });
      expect(await ask()).toEqual(['kite']);
      expect(await requests()).toBe(2);
    });

    test('a write that was answered 503 is sent again with the same key', async () => {
      await put({ good, statuses: [503] });
      const { [name]: write = () => Promise.reject(new Error('It has none.')) } = writes;
      const options = mutationOptions(steady, {
        mutationFn: (_: void, { signal, idempotencyKey }) => write({ signal, idempotencyKey }),
      });
      const observer = new MutationObserver(client, options);
      await observer.mutate();
      const [first, second, ...others] = await arrivals();
      expect(first).toMatchObject({ method: 'POST', key: expect.stringMatching(/^[\da-f-]{36}$/) });
      expect(second).toMatchObject({ method: 'POST', key: first?.key });
      expect(others).toEqual([]);
    });

    test('the time limit of the policy ends an attempt, and the server is told', async () => {
      await put({ good, statuses: [0] });
      const failing = rejectionOf(ask({ retry: false }));
      await arrivals('requests=1');
      expire();
      expect(outcomeOf(await failing)).toMatchObject({ kind: 'timeout' });
      expect(await arrivals('closed=1')).toHaveLength(1);
    });

    test('Cancel ends a request, and the server is told', async () => {
      await put({ good, statuses: [0] });
      const failing = rejectionOf(ask());
      await arrivals('requests=1');
      await client.cancelQueries();
      expect(await failing).toBeInstanceOf(CancelledError);
      expect(await arrivals('closed=1')).toHaveLength(1);
    });

    test('while its server is down it is paused, and goes on with a probe', async () => {
      await put({ good, statuses: [503, 503] });
      const events: SteadfetchEvent[] = [];
      onTestFinished(steady.subscribe((event) => void events.push(event)));
      expect(await ask()).toEqual(['kite']);
      expect(events.filter(({ type }) => type.startsWith('pause'))).toMatchObject([
        { type: 'pause:start', reason: 'server-down' },
        { type: 'pause:end', result: 'probe' },
      ]);
      expect(await requests()).toBe(3);
    });

    test('the Retry-After of a 429 is obeyed', async () => {
      await put({ good, statuses: [429] });
      const waits: number[] = [];
      const stop = steady.subscribe((event) => {
        if (event.type !== 'decision' || event.decision.kind !== 'retry') return;
        waits.push(event.decision.delayMs);
        void client.cancelQueries();
      });
      onTestFinished(stop);
      await ask().catch(() => {});
      expect(waits).toEqual([2000]);
    });

    test('offline it is paused, and goes on when the network is back', async () => {
      await put({ good });
      onlineManager.setOnline(false);
      onTestFinished(() => onlineManager.setOnline(true));
      client.mount();
      onTestFinished(() => client.unmount());
      const asked = ask();
      expect(client.getQueryState([name])?.fetchStatus).toBe('paused');
      expect(await requests()).toBe(0);
      onlineManager.setOnline(true);
      expect(await asked).toEqual(['kite']);
      expect(await requests()).toBe(1);
    });
  });
}
