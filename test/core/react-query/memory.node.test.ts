import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { expect, test } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** One for all, as a module may have it. */
const shared = new Error('shared');

// Whatever an app rejects with, which need not be an Error.
const reject = (reason: unknown): Promise<never> => Promise.reject(reason);

test.each<[string, (() => Promise<never>) | undefined]>([
  ['an HttpError', undefined],
  ['an Error of their own', () => reject(new Error('own'))],
  ['one Error, shared by all', () => reject(shared)],
  ['a string', () => reject('a string')],
])('queries of a server that have failed with %s keep no QueryClient', async (_name, make) => {
  const fetch = async (): Promise<Response> => new Response(null, { status: 503 });
  const steady = createSteadfetch({ fetch, ...noOrigin });
  const failed: unknown[] = [];
  const stacks: unknown[] = [];

  async function serve(): Promise<WeakRef<QueryClient>> {
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const queryFn = (): Promise<unknown> => (make ? make() : steady.json('http://api.example/a'));
    // What has failed may be kept by a logger.
    const error: unknown = await client
      .fetchQuery({ queryKey: ['a'], queryFn })
      .catch((thrown: unknown) => thrown);
    failed.push(error);
    // Until somebody has read it, the stack keeps the functions on it, as V8 has it.
    stacks.push(error instanceof Error ? error.stack : undefined);
    return new WeakRef(client);
  }
  const clients: WeakRef<QueryClient>[] = [];
  for (let index = 0; index < 20; index++) clients.push(await serve());
  await new Promise((resolve) => setImmediate(resolve));
  gc();
  await new Promise((resolve) => setImmediate(resolve));
  gc();
  expect(failed).toHaveLength(20);
  expect(clients.filter((client) => client.deref()).length).toBe(0);
});

test('queries that have failed in an outage are kept neither by their client nor by what waits for its end', async () => {
  const fetch = (): Promise<Response> => reject(new TypeError('Failed to fetch'));
  const steady = createSteadfetch({ fetch });

  async function fail(): Promise<WeakRef<object>[]> {
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const policy = steady.queryPolicy({ maxRetries: 0, whenDown: 'fail' });
    const ask = (index: number): Promise<undefined> =>
      client
        .fetchQuery({
          queryKey: [index],
          queryFn: () => steady.json('http://api.example/a'),
          ...policy,
        })
        .then(
          () => undefined,
          () => undefined,
        );
    await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index)));
    const queries = client.getQueryCache().getAll();
    const references = queries.map((query) => new WeakRef(query));
    client.clear();
    return references;
  }
  const queries = await fail();
  await new Promise((resolve) => setImmediate(resolve));
  gc();
  await new Promise((resolve) => setImmediate(resolve));
  gc();
  expect(queries).toHaveLength(20);
  // The last failure of an origin is the cause of what is refused while it is down.
  expect(queries.filter((query) => query.deref()).length).toBeLessThanOrEqual(1);
  steady.dispose();
});

test('a server remembers nothing of the queries that have failed in an outage', async () => {
  const fetch = (): Promise<Response> => reject(new TypeError('Failed to fetch'));
  const steady = createSteadfetch({ fetch });
  const fail = async (index: number): Promise<unknown> => {
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const queryFn = (): Promise<unknown> => steady.json('http://api.example/a');
    const policy = steady.queryPolicy({ maxRetries: 0, whenDown: 'fail' });
    return client.fetchQuery({ queryKey: [index], queryFn, ...policy }).catch(() => undefined);
  };
  const countAfter = async (queries: number): Promise<number | string[]> => {
    for (let index = 0; index < queries; index++) await fail(index);
    return queryObjects(WeakRef, { format: 'count' });
  };

  const before = await countAfter(20);
  expect(await countAfter(20)).toBe(before);
  steady.dispose();
});
