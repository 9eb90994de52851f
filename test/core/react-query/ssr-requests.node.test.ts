import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { focusManager, onlineManager, QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  limitConcurrency,
  rateLimitFields,
  retry,
  shareAcrossTabs,
  type Steadfetch,
  watchConnectivity,
  type HttpError,
} from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import buildIfStale from '../../setup/dist.ts';

const url = 'http://shop.example';

/** Answers by the path: `/429` and `/503` with that status, `/cut` with none. */
const answer: typeof fetch = async (input) => {
  const { pathname } = new URL(input as string);
  if (pathname === '/cut') throw new TypeError('fetch failed');
  const status = Number(/\d+/.exec(pathname)?.[0] ?? 200);
  const headers = { 'retry-after': '60' };
  return status === 200 ? Response.json('Tea') : new Response('x', { status, headers });
};

/** The instance and the client of one request of a user, with all that an app may give. */
function beginRequest() {
  const steady = createSteadfetch({
    fetch: answer,
    connectivity: watchConnectivity({ check: `${url}/here.txt` }),
    tabs: shareAcrossTabs(),
    rateLimit: rateLimitFields(),
    concurrency: limitConcurrency({ maxInFlight: 2 }),
  });
  return { steady, client: new QueryClient({ defaultOptions: steady.defaultOptions }) };
}

function prefetch(client: QueryClient, steady: Steadfetch, path: string): Promise<void> {
  return client.prefetchQuery({
    queryKey: [path],
    queryFn: ({ signal }) => steady.json(url + path, { signal }),
  });
}

const reasonOf = (client: QueryClient, path: string): unknown =>
  client.getQueryState([path])?.error?.message;

describe('the requests of users', () => {
  test('have nothing in common: a 429 of one delays no other', async () => {
    const one = beginRequest();
    const other = beginRequest();
    await Promise.all([
      prefetch(one.client, one.steady, '/429'),
      prefetch(other.client, other.steady, '/good'),
    ]);
    await prefetch(other.client, other.steady, '/429');
    expect(other.client.getQueryData(['/good'])).toBe('Tea');
    // Both were sent, and answered.
    for (const { client } of [one, other])
      expect(reasonOf(client, '/429')).toBe('The server answered 429.');
  });

  test('wait for nothing: what is known to be down or rate-limited fails at once', async () => {
    const { client, steady } = beginRequest();
    // Both are told, so it is a limit of all of the endpoint.
    await Promise.all(['/429', '/429?too'].map((path) => prefetch(client, steady, path)));
    const before = performance.now();
    await prefetch(client, steady, '/429?again');
    expect(performance.now() - before).toBeLessThan(1000);
    expect(reasonOf(client, '/429?again')).toBe(
      'The server takes no more requests for a while. The request was not sent.',
    );
  });

  test('wait for a place, where the app limits how many are under way', async () => {
    const { client, steady } = beginRequest();
    const paths = ['/a', '/b', '/c', '/d', '/e'];
    await Promise.all(paths.map((path) => prefetch(client, steady, path)));
    expect(paths.map((path) => client.getQueryData([path]))).toEqual(paths.map(() => 'Tea'));
  });

  test('leave no timer and no listener', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    for (let request = 0; request < 3; request++) {
      const { client, steady } = beginRequest();
      for (const path of ['/good', '/cut', '/cut?2', '/500', '/500?2', '/a/500', '/503', '/429'])
        await prefetch(client, steady, path);
      const loader = beginRequest().steady;
      // Once the body of its answer is in, nothing more is limited.
      const read = async (error: unknown): Promise<string> => (error as HttpError).response.text();
      await retry(loader, ({ signal }) => loader.json(`${url}/404`, { signal })).catch(read);
    }
    expect(vi.getTimerCount()).toBe(0);
    expect([onlineManager.hasListeners(), focusManager.hasListeners()]).toEqual([false, false]);
  });

  test('leave no channel, timer or listener of an outbox', async () => {
    vi.useFakeTimers();
    const channels = vi.spyOn(globalThis, 'BroadcastChannel');
    onTestFinished(() => {
      channels.mockRestore();
      vi.useRealTimers();
    });
    const { client, steady } = beginRequest();
    const handlers = { order: { mutationFn: async () => 'done' } };
    createOutbox({ steady, queryClient: client, handlers });
    await vi.advanceTimersByTimeAsync(200);
    expect(vi.getTimerCount()).toBe(0);
    expect(channels).not.toHaveBeenCalled();
    expect([onlineManager.hasListeners(), focusManager.hasListeners()]).toEqual([false, false]);
  });
});

const warning =
  '[steadfetch] An instance is shared by the requests of this server (it was made at module level, or serves ' +
  'several QueryClients), so a server that is down, or a 429, for one request fails those of other users. Call ' +
  'createSteadfetch for each request, beside new QueryClient. See node_modules/steadfetch/docs/ssr.md#an-instance-for-each-request.';

describe('an instance that several requests share', () => {
  const spyOnWarn = () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    return warned;
  };

  test('is warned of once', async () => {
    const warned = spyOnWarn();
    const { client, steady } = beginRequest();
    for (let request = 0; request < 3; request++) {
      const next = new QueryClient({ defaultOptions: steady.defaultOptions });
      await prefetch(next, steady, '/good');
    }
    await prefetch(client, steady, '/good');
    expect(warned.mock.calls).toEqual([[warning]]);
  });

  test('is not warned of where each has its own, nor where one sends several queries', async () => {
    const warned = spyOnWarn();
    for (let request = 0; request < 3; request++) {
      const { client, steady } = beginRequest();
      await prefetch(client, steady, '/good');
      await prefetch(client, steady, '/good?again');
    }
    expect(warned).not.toHaveBeenCalled();
  });
});

describe('a process that renders', () => {
  beforeAll(() => buildIfStale());

  /** Runs code that makes an instance and a client, and renders two pages. */
  const run = (make: string) =>
    spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `
      import { createElement } from 'react';
      import { renderToString } from 'react-dom/server';
      import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
      import { createSteadfetch, shareAcrossTabs, watchConnectivity } from './dist/index.js';
      import { createOutbox } from './dist/outbox.js';
      import { useConnectivity, useOutbox, useRetryStatus } from './dist/react.js';
      function create() {
        const steady = createSteadfetch({
          connectivity: watchConnectivity({ check: 'http://shop.example/here.txt' }),
          tabs: shareAcrossTabs(),
          fetch: async () => new Response('', { status: 503 }),
        });
        const client = new QueryClient({ defaultOptions: steady.defaultOptions });
        const handlers = { order: { mutationFn: async () => 'done' } };
        createOutbox({ steady, queryClient: client, handlers });
        return { steady, client };
      }
      ${make}
      function Page() {
        const { status } = useRetryStatus({ queryKey: ['a'] });
        return [status, useConnectivity().status, useOutbox().storage].join(' ');
      }
      async function serve() {
        const { steady, client } = begin();
        const queryFn = ({ signal }) => steady.json('http://shop.example/a', { signal });
        for (const name of ['a', 'b', 'c']) await client.prefetchQuery({ queryKey: [name], queryFn });
        const html = renderToString(createElement(QueryClientProvider, { client }, createElement(Page)));
        // React 18.0 begins a text with a comment.
        console.log(html.replaceAll('<!-- -->', ''));
      }
      await new Promise(setImmediate);
      await serve();
      await serve();
      const idleSince = performance.now();
      process.on('exit', () => console.log(performance.now() - idleSince < 5000));`,
      ],
      { cwd: resolve(import.meta.dirname, '../../..'), encoding: 'utf8', timeout: 60_000 },
    );
  const shown = 'idle online opening\nidle online opening\ntrue\n';

  test('has the React Query that these tests are about', () => {
    const { stdout } = run(`
      import manifest from '@tanstack/react-query/package.json' with { type: 'json' };
      console.log(manifest.version);
      const begin = create;`);
    expect(stdout.split('\n')[0]).toBe(process.env['EXPECTED_REACT_QUERY']);
  });

  test('ends by itself, also with outboxes, and is told nothing where each page has its own instance', () => {
    const { stdout, stderr } = run('const begin = create;');
    expect(stdout).toBe(shown);
    expect(stderr).toBe('');
  });

  test('is warned once where its instance and its client are made at module level', () => {
    const { stdout, stderr } = run('const made = create(); const begin = () => made;');
    expect(stdout).toBe(shown);
    expect(stderr).toBe(`${warning}\n`);
  });
});
