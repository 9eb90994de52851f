import { MutationObserver, type QueryClient, useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import {
  mutationOptions,
  outcomeOf,
  profiles,
  refreshOn401,
  retry,
  type Steadfetch,
} from 'steadfetch';
import { idempotent, memoryStore } from 'steadfetch/server';
import { describe, expect, test, vi } from 'vitest';
import { createFormRig, kite } from '../react/form-rig.tsx';
import { createHandle } from './handle.ts';
import { createRig } from './rig.tsx';

vi.spyOn(console, 'warn').mockReturnValue();
const realImmediate = setImmediate;

const order = { method: 'POST', body: 'kite', idempotencyKey: 'k', idempotent: true } as const;

/** The log-outs that apps write. Each must still work. */
const logOuts: Readonly<
  Record<string, (steady: Steadfetch, client: QueryClient, end: () => unknown) => object>
> = {
  'of mutationOptions, in its mutationFn': (steady, _, end) =>
    mutationOptions(steady, {
      async mutationFn(__: void, { fetch }) {
        await fetch('/logout', { method: 'POST' });
        await end();
      },
    }),
  'of mutationOptions, in its mutationFn before all': (steady, _, end) =>
    mutationOptions(steady, {
      async mutationFn(__: void, { fetch }) {
        void end();
        await fetch('/logout', { method: 'POST' });
      },
    }),
  'of mutationOptions, in onSuccess': (steady, _, end) =>
    mutationOptions(steady, {
      mutationFn: (__: void, { fetch }) => fetch('/logout', { method: 'POST' }),
      onSuccess: () => end() as Promise<unknown>,
    }),
  'of mutationOptions, in onSettled': (steady, _, end) =>
    mutationOptions(steady, {
      mutationFn: (__: void, { fetch }) => fetch('/logout', { method: 'POST' }),
      onSettled: () => end() as Promise<unknown>,
    }),
  'of a plain mutation, in its mutationFn': (steady, _, end) => ({
    async mutationFn() {
      await steady.fetch('/logout', { method: 'POST' });
      await end();
    },
  }),
  'of a plain mutation, in its mutationFn before all': (steady, _, end) => ({
    async mutationFn() {
      void end();
      await steady.fetch('/logout', { method: 'POST' });
    },
  }),
  'of a plain mutation, in onSuccess': (steady, _, end) => ({
    mutationFn: () => steady.fetch('/logout', { method: 'POST' }),
    onSuccess: end,
  }),
  'of another client': (_, __, end) => ({
    async mutationFn() {
      await Promise.resolve();
      await end();
    },
  }),
};

describe.each<[string, (steady: Steadfetch, client: QueryClient) => unknown]>([
  ['queryClient.clear()', (_, client) => client.clear()],
  ['steady.endSession()', (steady) => steady.endSession()],
  [
    'both',
    async (steady, client) => {
      await steady.endSession();
      client.clear();
    },
  ],
])('a log-out that calls %s', (name, end) => {
  // What is removed from its cache while its own request is under way is cancelled.
  const rows = Object.entries(logOuts).filter(
    ([where]) => name !== 'both' || !where.endsWith('Fn before all'),
  );
  test.each(rows)('%s succeeds, and its callbacks run', async (_where, make) => {
    const { steady, client, time, server } = createRig();
    const onSuccess = vi.fn<() => void>();
    const observer = new MutationObserver(
      client,
      make(steady, client, () => end(steady, client)),
    );
    observer.subscribe(() => {});
    const told = observer.mutate(undefined, { onSuccess });
    await time.advance(5000);
    await told;
    expect(onSuccess).toHaveBeenCalledTimes(1);
    expect(server.sent.length).toBeLessThan(2);
  });
});

/** What an app clears when the user changes, within the mutation itself. */
const clearings: Readonly<Record<string, (client: QueryClient) => void>> = {
  'queryClient.clear()': (client) => client.clear(),
  'mutationCache.clear()': (client) => client.getMutationCache().clear(),
  'mutationCache.remove()': (client) => {
    const cache = client.getMutationCache();
    for (const one of cache.getAll()) cache.remove(one);
  },
};

describe.each(Object.entries(clearings))('a log-in whose mutationFn calls %s', (_name, clear) => {
  const logIn = (steady: Steadfetch, client: QueryClient, init: RequestInit) =>
    mutationOptions(steady, {
      async mutationFn(_: void, { fetch, json }) {
        await fetch('/login', { method: 'POST' });
        clear(client);
        return json('/me', { ...init, step: 'me' });
      },
    });
  const begin = (init: RequestInit = {}, ...answers: number[]) => {
    const { steady, client, time, server } = createRig();
    server.plan('/me', ...answers);
    const told = new MutationObserver(client, logIn(steady, client, init))
      .mutate()
      .catch((e: unknown) => e);
    return { told, time, sent: () => server.sent.map(({ request }) => request) };
  };

  test.each(['GET', 'PUT', 'POST'])('sends its %s after that', async (method) => {
    const { told, time, sent } = begin({ method });
    await time.advance(5000);
    expect(await told).toBe(`${method} /me 2`);
    expect(sent()).toEqual(['POST /login', `${method} /me`]);
  });

  test('is not run again if that fails', async () => {
    const { told, time, sent } = begin({}, 503);
    await time.advance(60_000);
    expect(await told).toMatchObject({ status: 503, outcome: { processed: 'unknown' } });
    expect(sent()).toEqual(['POST /login', 'GET /me']);
  });
});

test('what begins after the end of a session is of the next one', async () => {
  const { steady, client, time, server } = createRig();
  server.plan('/orders', 503);
  const first = retry(steady, () => steady.fetch('/orders', order));
  first.catch(() => {});
  await time.advance(100);
  await steady.endSession();
  server.plan('/orders', 503);
  const next = new MutationObserver(client, {
    mutationFn: () => steady.fetch('/orders', order),
  }).mutate();
  await time.advance(5000);
  expect((await next).ok).toBe(true);
  expect(server.sent).toHaveLength(3);
});

test('a write whose answer was a 401 is not sent again with the credentials of the next user', async () => {
  let token = 'A';
  let renewed = (): void => {};
  const sent: string[] = [];
  const { steady, time } = createRig({
    apis: [
      {
        match: 'http://localhost:3000/',
        auth: refreshOn401({
          headers: () => ({ authorization: `Bearer ${token}` }),
          refresh: () => new Promise((resolve) => (renewed = () => resolve(true))),
        }),
      },
    ],
    fetch: async (_, init) => {
      sent.push(new Headers(init?.headers).get('authorization') ?? '');
      return new Response(null, { status: sent.length === 1 ? 401 : 200 });
    },
  });
  const told = steady.fetch('/orders', order).catch((error: unknown) => error);
  await time.advance(100);
  await steady.endSession();
  token = 'B';
  renewed();
  await time.advance(5000);
  expect(outcomeOf(await told).kind).toBe('aborted');
  expect(sent).toEqual(['Bearer A']);
});

describe('a query', () => {
  function open(isShown: boolean, data?: string) {
    const rig = createRig();
    const { steady, client, server, show } = rig;
    if (data !== undefined) client.setQueryData(['a'], data);
    server.plan('/a', 503);
    const options = {
      queryKey: ['a'],
      queryFn: () => steady.json<string>('/a'),
      staleTime: data === undefined ? 0 : -1,
    };
    const seen = createHandle<object>();
    function Shown() {
      const { data: known, status, fetchStatus } = useQuery(options);
      seen.set({ data: known, status, fetchStatus });
      return null;
    }
    if (isShown) show(<Shown />);
    else client.prefetchQuery(options).catch(() => {});
    return { ...rig, seen: seen.get };
  }

  test.each([
    ['that a component shows', true],
    ['that no component shows', false],
  ])('in backoff %s is not fetched again after queryClient.clear()', async (_, isShown) => {
    const { client, time, server } = open(isShown);
    await time.advance(100);
    act(() => client.clear());
    await time.advance(60_000);
    expect(server.sent).toHaveLength(1);
  });

  test.each([
    ['that a component shows fails', true],
    ['that no component shows is not fetched again', false],
  ])('in backoff %s after steady.endSession()', async (_, isShown) => {
    const { steady, client, time, server } = open(isShown);
    await time.advance(100);
    act(() => void steady.endSession());
    await time.advance(60_000);
    expect(server.sent).toHaveLength(1);
    const { status, fetchStatus } = client.getQueryState(['a']) ?? {};
    expect({ status, fetchStatus }).toEqual({
      status: isShown ? 'error' : 'pending',
      fetchStatus: 'idle',
    });
  });

  test('with data keeps them', async () => {
    const { steady, time, server, seen } = open(true, 'old');
    await time.advance(100);
    act(() => void steady.endSession());
    await time.advance(60_000);
    expect(server.sent).toHaveLength(1);
    expect(seen()).toEqual({ data: 'old', status: 'success', fetchStatus: 'idle' });
  });
});

describe('a form, after steady.endSession(),', () => {
  test('no longer knows what may have been done, nor what it was to ask', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    const form = rig.createForm({ keepPayload: true });
    rig.show(<form.Form />);
    sessionStorage.setItem('steadfetch.form.elsewhere', '{"key":"of a form of another page"}');
    const pressed = form.press();
    await rig.time.advance(1000);
    expect((await pressed).status).toBe('unknown');
    const asked = form.press({ sku: 'lamp' });
    await rig.time.advance(1000);
    expect((await asked).status).toBe('needs-confirmation');
    act(() => void rig.steady.endSession());
    await rig.time.settle();
    expect(form.last()).toMatchObject({
      status: 'idle',
      unknown: undefined,
      confirmation: undefined,
    });
    expect(Object.keys(sessionStorage).filter((name) => name.includes('.form.'))).toEqual([]);
    const next = form.press();
    await rig.time.advance(1000);
    expect((await next).status).toBe('succeeded');
    expect(new Set(rig.book.keys).size).toBe(2);
  });

  test('does not send a press whose payload was being read', async () => {
    const rig = createFormRig();
    const form = rig.createForm();
    rig.show(<form.Form />);
    const file = new FormData();
    file.set('file', new Blob(['x'.repeat(100)]), 'a.txt');
    const pressed = form.press(file);
    act(() => void rig.steady.endSession());
    await rig.time.advance(5000);
    expect(await pressed).toMatchObject({ status: 'failed', error: { code: 'not-sent' } });
    expect(rig.book.keys).toEqual([]);
  });
});

test.each<[string, (rig: ReturnType<typeof createFormRig>) => unknown]>([
  ['queryClient.clear()', ({ client }) => act(() => client.clear())],
  ['steady.endSession()', ({ steady }) => act(() => void steady.endSession())],
])(
  "with the server kit, and an answer that is lost before the log-out by %s, B is not charged for A's order",
  async (_, logOut) => {
    const charged: string[] = [];
    const placeOrder = idempotent(
      (request) => {
        charged.push(request.headers.get('authorization') ?? '');
        return Response.json({ id: 1 }, { status: 201 });
      },
      {
        store: memoryStore(),
        scope: ({ headers }) => (headers.get('authorization') === 'Bearer A' ? 'a' : 'b'),
      },
    );
    let token = 'A';
    let isLost = true;
    const rig = createFormRig({
      config: {
        apis: [{ match: 'http://localhost:3000/orders', idempotency: profiles.draft }],
        async fetch(input, init) {
          const headers = new Headers(init?.headers);
          headers.set('authorization', `Bearer ${token}`);
          const url = new URL(input as string, 'http://localhost:3000');
          const response = await placeOrder(new Request(url, { ...init, headers, signal: null }));
          if (isLost) throw new TypeError('Failed to fetch');
          return response;
        },
      },
    });
    const keyed = { method: 'POST', body: 'kite', idempotencyKey: 'of-retry' } as const;
    /** What the kit computes takes turns of its own. */
    const pass = async (ms: number): Promise<void> => {
      for (let step = 0; step < 20; step += 1) {
        await rig.time.advance(ms / 20);
        await new Promise((turn) => void realImmediate(turn));
      }
    };
    const ours = mutationOptions(rig.steady, {
      mutationFn: (__: void, { fetch }) => fetch('/orders', { method: 'POST', body: 'kite' }),
    });
    const form = rig.createForm({}, { policy: undefined });
    rig.show(<form.Form />);
    const told = [
      new MutationObserver(rig.client, ours).mutate(),
      new MutationObserver(rig.client, {
        mutationFn: () => rig.steady.fetch('/orders', { ...keyed, idempotencyKey: 'of-plain' }),
      }).mutate(),
      ...(_ === 'steady.endSession()'
        ? [retry(rig.steady, () => rig.steady.fetch('/orders', keyed))]
        : []),
      form.press(kite),
    ].map((one) => (one as Promise<unknown>).catch((error: unknown) => error));
    await pass(100);
    // Digests are computed on another thread: no number of turns is enough for sure.
    while (charged.length === 0) await pass(0);
    expect(new Set(charged)).toEqual(new Set(['Bearer A']));
    logOut(rig);
    token = 'B';
    isLost = false;
    await pass(60_000);
    await Promise.all(told);
    expect(charged.filter((who) => who !== 'Bearer A')).toEqual([]);
  },
);
