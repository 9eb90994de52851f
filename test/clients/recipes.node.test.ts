import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { environmentManager, onlineManager, QueryClient } from '@tanstack/react-query';
import { outcomeOf } from 'steadfetch';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { rejectionOf } from '../fetch/observe.ts';
import * as apollo from './recipes/apollo.ts';
import * as graphqlRequest from './recipes/graphql-request.ts';
import * as ky from './recipes/ky.ts';
import * as ofetch from './recipes/ofetch.ts';
import * as openapiFetch from './recipes/openapi-fetch.ts';
import { server, steady } from './recipes/steady.ts';
import * as supabase from './recipes/supabase.ts';
import * as trpc from './recipes/trpc.ts';
import * as urql from './recipes/urql.ts';
import * as wretch from './recipes/wretch.ts';

interface Recipe {
  readonly load: (signal: AbortSignal) => Promise<string[]>;
}

/** The recipes of docs/clients.md, and what a server of each kind answers. */
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
];

const page = readFileSync(resolve(import.meta.dirname, '../../docs/clients.md'), 'utf8');
const folder = resolve(import.meta.dirname, 'recipes');

test.each(readdirSync(folder).filter((file) => !/steady|openapi.ts|router|documents/.test(file)))(
  'docs/clients.md has the recipe %s as it is run here, in at most fifteen lines',
  (file) => {
    const code = readFileSync(resolve(folder, file), 'utf8');
    expect(page).toContain(`\`\`\`ts\n${code}\`\`\``);
    const own = code.split('\n').filter((line) => line);
    expect(own.length).toBeLessThanOrEqual(15);
  },
);

/** What the server answers next, and how often it was asked. */
const plan = { statuses: [] as number[], codes: [] as string[], good: '', requests: 0 };
const http = createServer((_, response) => {
  plan.requests++;
  const status = plan.statuses.shift() ?? 200;
  const code = plan.codes.shift();
  const good = code
    ? JSON.stringify({ errors: [{ message: 'no', extensions: { code } }] })
    : plan.good;
  const body = status === 200 ? good : '{"message":"no"}';
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...(status === 429 && { 'retry-after': '2' }),
    })
    .end(body);
});

beforeAll(async () => {
  environmentManager.setIsServer(() => false);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  server.origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterAll(() => {
  http.closeAllConnections();
  http.close();
  steady.dispose();
});

describe.each(recipes)('%s', (name, { load }, good) => {
  let client: QueryClient;
  const isGraphQL = /graphql|urql|Apollo/.test(name);
  const ask = () =>
    client.fetchQuery({
      queryKey: [name],
      // An apart read of the signal, as apps do it.
      queryFn: ({ signal }) => load(signal),
    });

  beforeEach(() => {
    client = new QueryClient({ defaultOptions: steady.defaultOptions });
    Object.assign(plan, { statuses: [], codes: [], good: JSON.stringify(good), requests: 0 });
  });

  test('a good answer is its data', async () => {
    expect(await ask()).toEqual(['kite']);
    expect(plan.requests).toBe(1);
  });

  test('503, then 200: two requests', async () => {
    plan.statuses = [503];
    expect(await ask()).toEqual(['kite']);
    expect(plan.requests).toBe(2);
  });

  test('404: one request', async () => {
    plan.statuses = [404, 404, 404, 404];
    expect(await rejectionOf(ask())).toBeInstanceOf(Error);
    expect(plan.requests).toBe(1);
  });

  test.runIf(isGraphQL).each([
    ['UNAUTHENTICATED', 401],
    ['BAD_USER_INPUT', 400],
  ])('the GraphQL error %s with status 200: one request', async (code, status) => {
    plan.codes = [code, code, code, code];
    expect(outcomeOf(await rejectionOf(ask()))).toMatchObject({ kind: 'http', status });
    expect(plan.requests).toBe(1);
  });

  test.runIf(isGraphQL)('RATE_LIMITED with status 200, then data: two requests', async () => {
    plan.codes = ['RATE_LIMITED'];
    expect(await ask()).toEqual(['kite']);
    expect(plan.requests).toBe(2);
  });

  test('the Retry-After of a 429 is obeyed', async () => {
    plan.statuses = [429];
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
    onlineManager.setOnline(false);
    onTestFinished(() => onlineManager.setOnline(true));
    client.mount();
    onTestFinished(() => client.unmount());
    const asked = ask();
    expect(client.getQueryState([name])?.fetchStatus).toBe('paused');
    expect(plan.requests).toBe(0);
    onlineManager.setOnline(true);
    expect(await asked).toEqual(['kite']);
    expect(plan.requests).toBe(1);
  });
});
