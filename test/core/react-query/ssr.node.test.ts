import {
  environmentManager,
  MutationObserver,
  QueryClient,
  QueryClientProvider,
  useQuery,
} from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createSteadfetch, isHttpError, type SteadfetchEvent } from 'steadfetch';
import { useCountdown, useRetryStatus } from 'steadfetch/react';
import { describe, expect, test, vi } from 'vitest';

/** A server side render's client, with an API that always answers with this. */
function createServerSide(answer: () => Response) {
  let sent = 0;
  const fetch = async (): Promise<Response> => {
    sent++;
    return answer();
  };
  const steady = createSteadfetch({ fetch });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const events: SteadfetchEvent[] = [];
  steady.subscribe((event) => void events.push(event));
  return { steady, client, events, sent: () => sent };
}

const queryKey = ['it'];
const unavailable = (): Response => new Response(null, { status: 503 });

test('there is no window here', () => {
  expect(typeof window).toBe('undefined');
});

describe('on the server', () => {
  test.each(['fetchQuery', 'prefetchQuery'] as const)('%s makes one request', async (method) => {
    const { steady, client, sent } = createServerSide(unavailable);
    const options = { queryKey, queryFn: () => steady.json('http://api.example/a') };
    const ask = {
      fetchQuery: () => client.fetchQuery(options),
      prefetchQuery: () => client.prefetchQuery(options),
    };
    await ask[method]().catch(() => {});
    expect(sent()).toBe(1);
    expect(client.getQueryState(queryKey)?.status).toBe('error');
  });

  test('the operation ends there: nobody is told of a retry that is not to come', async () => {
    const { steady, client, events } = createServerSide(unavailable);
    const queryFn = () => steady.json('http://api.example/a');
    const error: unknown = await client
      .fetchQuery({ queryKey, queryFn })
      .catch((thrown: unknown) => thrown);
    expect(isHttpError(error)).toBe(true);
    expect(error).toMatchObject({ retryAt: undefined, decision: { kind: 'stop' } });
    expect(events.map(({ type }) => type)).toEqual([
      'operation:start',
      'attempt:start',
      'request:start',
      'request:end',
      'attempt:end',
      'decision',
      'operation:end',
    ]);
  });

  test('queryPolicy makes one request, too', async () => {
    const { steady, client, sent } = createServerSide(unavailable);
    const own = steady.queryPolicy({ maxRetries: 9 });
    const queryFn = () => steady.json('http://api.example/a');
    await client.fetchQuery({ ...own, queryKey, queryFn }).catch(() => {});
    expect(sent()).toBe(1);
  });

  test('fetchInfiniteQuery makes one request', async () => {
    const { steady, client, sent } = createServerSide(unavailable);
    await client
      .fetchInfiniteQuery({
        queryKey,
        queryFn: ({ signal }) => steady.json('http://api.example/a', { signal }),
        initialPageParam: 0,
      })
      .catch(() => {});
    expect(sent()).toBe(1);
  });

  test('an unknown error, a primitive and a thrown Response are not retried either', async () => {
    const { client } = createServerSide(unavailable);
    const all: unknown[] = [new Error('no'), 'no', unavailable()];
    for (const thrown of all) {
      const queryFn = vi.fn<() => Promise<never>>(() => Promise.reject(thrown));
      await client.fetchQuery({ queryKey: [thrown], queryFn }).catch(() => {});
      expect(queryFn).toHaveBeenCalledTimes(1);
    }
  });

  test('a plain mutation makes one request', async () => {
    const { steady, client, sent } = createServerSide(unavailable);
    const observer = new MutationObserver(client, {
      mutationFn: () => steady.fetch('http://api.example/a', { method: 'PUT' }),
    });
    await observer.mutate().catch(() => {});
    expect(sent()).toBe(1);
  });

  test('the pair says no', () => {
    const { steady } = createServerSide(unavailable);
    const { queries, mutations } = steady.defaultOptions;
    for (const pair of [queries, mutations]) {
      const error = new Response(null, { status: 503 });
      expect(pair.retry(0, error)).toBe(false);
    }
  });

  test('the hooks render, whatever is known: idle, and no timer', () => {
    const { steady, client, sent } = createServerSide(unavailable);
    client.setQueryData(['known'], 'Tea');
    function Status({ name }: { readonly name: string }): string {
      const { status, attempt } = useRetryStatus({ queryKey: [name] });
      const seconds = useCountdown(0);
      useQuery({ queryKey: [name], queryFn: () => steady.json('http://api.example/a') });
      return `${status} ${attempt} ${seconds}`;
    }
    const render = (name: string): string => {
      const child: ReactElement = createElement(Status, { name });
      // React 18.0 begins a text with a comment.
      return renderToString(createElement(QueryClientProvider, { client }, child)).replaceAll(
        '<!-- -->',
        '',
      );
    };
    expect(render('known')).toBe('idle 0 undefined');
    expect(render('new')).toBe('idle 0 undefined');
    expect(sent()).toBe(0);
  });

  test('a query that succeeds has its data', async () => {
    const { steady, client } = createServerSide(() => Response.json('Tea'));
    const queryFn = () => steady.json<string>('http://api.example/a');
    expect(await client.fetchQuery({ queryKey, queryFn })).toBe('Tea');
  });
});

/** It has no environmentManager: `isServer` is a constant there. */
const isFloor = process.env['EXPECTED_REACT_QUERY'] === '5.89.0';

describe.skipIf(isFloor)("React Query's environmentManager", () => {
  test('says where nothing is retried, and where it is', async () => {
    // A worker that renders nothing for anybody, such as a service worker, is no server.
    const { steady, client, sent } = createServerSide(unavailable);
    const queryFn = () => steady.json('http://api.example/a');
    // The first waits for its retry for as long as the test lasts.
    vi.useFakeTimers();
    try {
      environmentManager.setIsServer(() => false);
      client.fetchQuery({ queryKey, queryFn }).catch(() => {});
      await vi.advanceTimersByTimeAsync(0);
      expect(client.getQueryState(queryKey)?.fetchFailureCount).toBe(1);
      environmentManager.setIsServer(() => true);
      const other = client.fetchQuery({ queryKey: ['other'], queryFn });
      await other.catch(() => {});
      expect(sent()).toBe(2);
      expect(client.getQueryState(['other'])?.status).toBe('error');
    } finally {
      environmentManager.setIsServer(() => typeof window === 'undefined');
      client.clear();
      vi.useRealTimers();
    }
  });
});
