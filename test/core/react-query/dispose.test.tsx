import { onlineManager, QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  mutationOptions,
  retry,
  shareAcrossTabs,
  type Steadfetch,
  watchConnectivity,
} from 'steadfetch';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answer, fakeServer, hang, origin, refuse } from '../fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

/** Counts what listens to the page: on window and document. */
function countListeners(): () => number {
  const left = new Set<string>();
  for (const target of [window, document]) {
    const name = target === window ? 'window' : 'document';
    const ids = new Map<unknown, number>();
    const idOf = (type: string, listener: unknown): string => {
      if (!ids.has(listener)) ids.set(listener, ids.size);
      return `${name} ${type} ${ids.get(listener)}`;
    };
    const { addEventListener: add, removeEventListener: remove } = target;
    target.addEventListener = (...args: Parameters<typeof add>) => {
      const [type, listener, options] = args;
      const id = idOf(type, listener);
      left.add(id);
      const { signal } = Object(options) as AddEventListenerOptions;
      signal?.addEventListener('abort', () => left.delete(id));
      add.apply(target, args);
    };
    target.removeEventListener = (...args: Parameters<typeof remove>) => {
      left.delete(idOf(args[0], args[1]));
      remove.apply(target, args);
    };
    onTestFinished(() => {
      Object.assign(target, { addEventListener: add, removeEventListener: remove });
    });
  }
  return () => left.size;
}

/** The lines of this browser. */
function stubTabs(): { readonly channels: Set<object> } {
  const channels = new Set<object>();
  class Channel extends EventTarget {
    constructor() {
      super();
      channels.add(this);
    }
    postMessage(): void {}
    close(): void {
      channels.delete(this);
    }
  }
  vi.stubGlobal('BroadcastChannel', Channel);
  onTestFinished(() => void vi.unstubAllGlobals());
  return { channels };
}

describe('after dispose', () => {
  const later = { 'retry-after': '60' };
  test.each<[string, string, (steady: Steadfetch, client: QueryClient) => Promise<unknown>]>([
    ['a call that is paused', 'AbortError', (steady) => steady.fetch(`${origin}/a`)],
    [
      'a query that is paused',
      'AbortError',
      (steady, client) =>
        client.fetchQuery({
          queryKey: ['a'],
          queryFn: ({ signal }) => steady.json(`${origin}/a`, { signal }),
        }),
    ],
    [
      'a later page of an infinite query, whose queryFn passes no signal on',
      'AbortError',
      (steady, client) =>
        client.fetchInfiniteQuery({
          queryKey: ['pages'],
          queryFn: ({ pageParam }) => steady.json(`${origin}/${pageParam ? 'a' : 'first'}`),
          initialPageParam: 0,
          getNextPageParam: (_, pages) => pages.length,
          pages: 2,
        }),
    ],
    [
      'a retry that waits for its next attempt',
      'HttpError',
      (steady) =>
        retry(steady, ({ signal }) => steady.fetch(`${origin}/b`, { signal }), { maxRetries: 1 }),
    ],
    [
      'a mutation that waits for its next attempt',
      'HttpError',
      (steady, client) =>
        client
          .getMutationCache()
          .build(client, {
            ...mutationOptions(steady, {
              mutationFn: (_: object, { json }) => json(`${origin}/b`, { method: 'PUT' }),
            }),
          })
          .execute({}),
    ],
  ])('%s is not sent, and ends', async (_, name, begin) => {
    const server = fakeServer((request) =>
      new URL(request.url).pathname === '/first'
        ? Response.json({})
        : new Response(null, { status: 503, headers: later }),
    );
    const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    await steady.fetch(`${origin}/a`).catch(() => {});
    const begun = observe(begin(steady, client));
    await vi.advanceTimersByTimeAsync(1000);
    expect(begun.state).toBe('pending');
    const sent = server.requests.length;
    steady.dispose();
    await settled();
    expect([begun.state, Object(begun.error).name]).toEqual(['rejected', name]);
    // As fetch itself rejects.
    expect(begun.error instanceof DOMException).toBe(name === 'AbortError');
    await vi.advanceTimersByTimeAsync(400_000);
    expect(server.requests).toHaveLength(sent);
  });

  test('nothing listens to the page, no line is open, and no timer is left', async () => {
    const listeners = countListeners();
    const { channels } = stubTabs();
    const before = vi.getTimerCount();
    const server = fakeServer((request) =>
      request.url.endsWith('/here') ? hang(request) : refuse(request),
    );
    const probe = { url: `${origin}/here` };
    const steady = createSteadfetch({
      fetch: server.fetch,
      connectivity: watchConnectivity({ check: probe }),
      tabs: shareAcrossTabs(),
      random: () => 0.5,
    });
    for (let times = 0; times < 2; times++) {
      const call = observe(steady.fetch(`${origin}/a`));
      await vi.advanceTimersByTimeAsync(6000);
      expect(call.state).toBe('rejected');
    }
    const caller = new AbortController();
    const held = observe(steady.fetch(`${origin}/a`, { signal: caller.signal }));
    await settled();
    window.dispatchEvent(new Event('offline'));
    await settled();
    expect(server.requests.at(-1)?.url).toBe(`${origin}/here`);
    expect(server.requests.at(-1)?.signal.aborted).toBe(false);
    expect([held.state, channels.size]).toEqual(['pending', 1]);
    expect(listeners()).toBeGreaterThan(0);
    steady.dispose();
    expect(server.requests.at(-1)?.signal.aborted).toBe(true);
    caller.abort();
    await settled();
    expect(listeners()).toBe(0);
    expect(channels.size).toBe(0);
    expect(vi.getTimerCount()).toBe(before);
  });

  test('a pause that its server has asked for, and nobody waits for, has no timer', async () => {
    const server = fakeServer(answer(429, null, { 'retry-after': '3000' }));
    const steady = createSteadfetch({
      fetch: server.fetch,
      health: {},
      random: () => 0.5,
    });
    observe(steady.fetch(`${origin}/a`));
    // Until then, the time limit of the answer's body has one.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(vi.getTimerCount()).toBe(0);
    steady.dispose();
  });

  test('a client that was there before has React Query’s own onlineManager', () => {
    const client = new QueryClient();
    client.mount();
    const steady = createSteadfetch({ connectivity: watchConnectivity() });
    const listeners = countListeners();
    steady.dispose();
    expect(listeners()).toBe(2);
    client.unmount();
    expect(listeners()).toBe(0);
  });

  test('the network’s and the tab’s return are nothing to it', async () => {
    const client = new QueryClient();
    const server = fakeServer(answer());
    const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
    steady.dispose();
    onlineManager.setOnline(false);
    onlineManager.setOnline(true);
    const calls = Array.from({ length: 30 }, () => steady.fetch(`${origin}/a`));
    await Promise.all(calls);
    expect(new Set(server.timesMs)).toEqual(new Set([0]));
    client.clear();
  });
});
