import { MutationObserver, QueryClient } from '@tanstack/react-query';
import createClient from 'openapi-fetch';
import {
  createSteadfetch,
  linkClient,
  mutationOptions,
  outcomeOf,
  profiles,
  rawFetchFor,
  type RawFetch,
  type Steadfetch,
  type SteadyJson,
} from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { mutationControlsOf } from '../../../../src/core/react-query/controls.ts';
import {
  mutationIdOf,
  mutationStatusesOf,
} from '../../../../src/core/react-query/status/mutation.ts';
import { fakeServer, type Handler, hang, origin } from '../../fetch/fake-server.ts';
import { fakeTime, observe } from '../../fetch/observe.ts';

beforeEach(() => {
  fakeTime();
  vi.spyOn(console, 'warn').mockReturnValue();
});

interface Context {
  readonly json: SteadyJson;
  readonly rawFetch: RawFetch;
  readonly signal: AbortSignal;
}
type Send = (steady: Steadfetch, init: RequestInit, context: Context) => Promise<unknown>;

const url = `${origin}/api/orders`;
const mutationKey = ['order'];
const id = mutationIdOf({ mutationKey });
const later = (): Promise<void> => new Promise((done) => void setTimeout(done, 10));

/** Each way in which a request belongs to its mutation. */
const ways: readonly [string, Send][] = [
  ['the json of its context', (_, init, { json }) => json(url, init)],
  ['the rawFetch of its context', (_, init, { rawFetch }) => rawFetch(url, init)],
  ['being sent at once', (steady, init) => steady.json(url, init)],
  [
    'its signal, after an await',
    async (steady, init, { signal }) => {
      await later();
      return steady.json(url, { ...init, signal });
    },
  ],
  [
    'the signal that rawFetchFor is given',
    async (steady, init, { signal }) => {
      await later();
      return rawFetchFor(steady, signal)(url, { ...init, signal });
    },
  ],
  [
    'the signal of a call of a linked client',
    async (steady, { method = 'GET' }, { signal }) => {
      await later();
      const plain = createClient<object>({ baseUrl: origin, fetch: steady.rawFetch });
      const client = linkClient(steady, plain);
      const name = method.toLowerCase() as 'post';
      const { response } = await client.request(name, '/api/orders' as never, { signal } as never);
      if (!response.ok) throw new Error('Not placed.', { cause: response });
      return 'done';
    },
  ],
];

function begin(send: Send, init: RequestInit, ...handlers: readonly [Handler, ...Handler[]]) {
  const server = fakeServer(...handlers);
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    apis: [{ match: `${origin}/api`, idempotency: profiles.draft }],
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const options = mutationOptions(steady, {
    mutationKey,
    mutationFn: (_: string, context) => send(steady, init, context),
  });
  const result = observe(new MutationObserver(client, options).mutate('lamp'));
  const keys = (): (string | null)[] =>
    server.requests
      .filter((request) => request.url === url)
      .map(({ headers }) => headers.get('idempotency-key'));
  return { client, steady, result, keys };
}

describe.each(ways)('a request that belongs to its mutation by %s', (_, send) => {
  test('leaves that its key, whatever else the app writes meanwhile', async () => {
    let cut: ((error: Error) => void) | undefined;
    const first: Handler = () => new Promise((_answer, reject) => void (cut = reject));
    const good: Handler = () => Response.json({});
    const { steady, result, keys } = begin(send, { method: 'POST' }, first, good);
    await vi.advanceTimersByTimeAsync(100);
    // No part of the order.
    const log = observe(steady.fetch(`${origin}/api/log`, { method: 'POST', body: 'seen' }));
    await vi.advanceTimersByTimeAsync(100);
    expect(log.state).toBe('resolved');
    cut?.(new TypeError('Failed to fetch'));
    await vi.advanceTimersByTimeAsync(5000);
    expect(result.state).toBe('resolved');
    expect(keys()).toEqual([keys()[0], keys()[0]]);
    expect(keys()[0]).not.toBeNull();
    expect(vi.mocked(console.warn).mock.calls).toEqual([]);
  });

  test('and only reads, is cancelled before anything can have been done', async () => {
    const { client, result } = begin(send, { method: 'GET' }, hang);
    await vi.advanceTimersByTimeAsync(100);
    const statuses = mutationStatusesOf(client, 'test');
    const unsubscribe = statuses.subscribe(id, () => {});
    mutationControlsOf(statuses, id).cancel();
    unsubscribe();
    await vi.advanceTimersByTimeAsync(100);
    expect(result.state).toBe('rejected');
    expect(outcomeOf((result as { error?: unknown }).error).processed).toBe('no');
  });
});
