import { MutationObserver, useMutation } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import {
  isNotSentError,
  mutationOptions,
  outcomeOf,
  profiles,
  retry,
  watchConnectivity,
} from 'steadfetch';
import { useSafeSubmit } from 'steadfetch/react';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createHandle } from './handle.ts';
import { setBrowserOnline } from './network.ts';
import { createRig } from './rig.tsx';

vi.spyOn(console, 'warn').mockReturnValue();
beforeEach(() => sessionStorage.clear());

const orders = '/orders';
const order = { method: 'POST', body: 'kite' } as const;
const scope = { id: 'orders' };

/** A page, and a server that records as whom each request goes. */
function createWorld(config: Parameters<typeof createRig>[0] = {}) {
  let token = 'A';
  let answer = (): Response | Promise<Response> => Response.json({});
  const sent: string[] = [];
  const waiting: ((response: Response) => void)[] = [];
  const rig = createRig({
    apis: [{ match: 'http://localhost:3000/', idempotency: profiles.draft }],
    connectivity: watchConnectivity({ check: '/here' }),
    async fetch(input, init) {
      const { pathname } = new URL(input as string, 'http://localhost:3000');
      if (pathname !== '/here') sent.push(`${init?.method ?? 'GET'} ${pathname} Bearer ${token}`);
      if (!navigator.onLine) throw new TypeError('Failed to fetch');
      return answer();
    },
    ...config,
  });
  return {
    ...rig,
    sent,
    /** Render what is shown again. */
    renders: [] as (() => void)[],
    /** What the server does from now on. */
    answerBy: (next: number, headers?: Record<string, string>) =>
      void (answer = () => new Response('{}', { status: next, ...(headers && { headers }) })),
    hang: () => void (answer = () => new Promise((resolve) => void waiting.push(resolve))),
    /** Answers what hangs. */
    release: (status: number) => {
      for (const resolve of waiting.splice(0)) resolve(new Response('{}', { status }));
    },
    logIn: (next: string) => void (token = next),
  };
}
type World = ReturnType<typeof createWorld>;

/** What A does, each with what it is told. */
const kinds: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  'a mutation of mutationOptions': ({ client, steady }) =>
    new MutationObserver(
      client,
      mutationOptions(steady, { mutationFn: (_: void, { fetch }) => fetch(orders, order), scope }),
    ).mutate(),
  'a plain mutation': (world) => mutatePlain(world),
  'a plain mutation whose component renders again': (world) => mutatePlain(world, {}, true),
  'a plain mutation with a retry of its own': (world) =>
    mutatePlain(world, { retry: 3, retryDelay: 1000 }),
  'a form': async (world) => {
    const { steady, show, wrap, renders } = world;
    const handle = createHandle<ReturnType<typeof useSafeSubmit<Response, Error, object>>>();
    const options = mutationOptions(steady, {
      mutationFn: (_: object, { fetch }) => fetch(orders, order),
      scope,
    });
    function Form() {
      handle.set(useSafeSubmit(options, { form: 'order' }));
      return null;
    }
    const { rerender } = show(<Form />);
    renders.push(() => rerender(wrap(<Form />)));
    let pressed!: ReturnType<ReturnType<typeof handle.get>['submit']>;
    act(() => void (pressed = handle.get().submit({})));
    const result = await pressed;
    if (!('error' in result)) throw new Error(result.status);
    expect(outcomeOf(result.error).processed).toBe(result.status === 'failed' ? 'no' : 'unknown');
    throw result.error;
  },
  retry: ({ steady }) =>
    retry(steady, ({ signal }) => steady.fetch(orders, { ...order, idempotencyKey: 'k', signal })),
  'retry, whose function passes no signal on': ({ steady }) =>
    retry(steady, () => steady.fetch(orders, { ...order, idempotencyKey: 'k' })),
  'steady.fetch': ({ steady }) => steady.fetch(orders, order),
  'steady.rawFetch': ({ steady }) => steady.rawFetch(orders, order),
};

function mutatePlain(
  { client, steady, show, wrap, renders }: World,
  own: object = {},
  isShown = false,
): Promise<unknown> {
  const mutationFn = () => steady.fetch(orders, { ...order, idempotencyKey: 'k' });
  if (!isShown)
    return new MutationObserver(client, {
      mutationFn,
      scope,
      ...steady.mutationPolicy({ maxRetries: 5 }),
      ...own,
    }).mutate();
  const handle = createHandle<() => Promise<unknown>>();
  function Button() {
    handle.set(useMutation({ mutationFn, scope }).mutateAsync);
    return null;
  }
  const { rerender } = show(<Button />);
  renders.push(() => rerender(wrap(<Button />)));
  let told!: Promise<unknown>;
  act(() => void (told = handle.get()()));
  return told;
}

/** Where it is when A logs out, and whether it may have been done. */
const states: Readonly<
  Record<
    string,
    {
      readonly config?: Parameters<typeof createRig>[0];
      /** Before it begins. */
      readonly before?: (world: World) => Promise<unknown> | void;
      readonly after?: (world: World) => Promise<unknown> | void;
      readonly processed: 'no' | 'unknown';
      readonly isFor?: (kind: string) => boolean;
    }
  >
> = {
  'in backoff': {
    before: ({ answerBy }) => answerBy(503),
    processed: 'unknown',
    isFor: (kind) => !kind.startsWith('steady.'),
  },
  'paused by a rate limit': {
    async before({ steady, answerBy, sent }) {
      answerBy(429, { 'retry-after': '20' });
      await steady.fetch(orders, order).catch(() => {});
      sent.length = 0;
      answerBy(200);
    },
    processed: 'no',
  },
  offline: {
    async before({ time }) {
      setBrowserOnline(false);
      await time.advance(0);
    },
    processed: 'no',
  },
  'as the probe that is due': {
    config: { health: {} },
    before: bringDown,
    async after({ time, sent }) {
      await time.advance(1000);
      expect(sent).toEqual(['POST /orders Bearer A']);
    },
    processed: 'unknown',
    isFor: (kind) => !kind.startsWith('steady.'),
  },
  'as the probe that is under way': {
    config: { health: {} },
    async before(world) {
      await bringDown(world);
      world.hang();
    },
    processed: 'unknown',
  },
  'under way': { before: ({ hang }) => hang(), processed: 'unknown' },
  "in a scope's queue": {
    before(world) {
      world.hang();
      const first = mutationOptions(world.steady, {
        mutationFn: (_: void, { fetch }) => fetch('/first', order),
        scope,
      });
      new MutationObserver(world.client, first).mutate().catch(() => {});
    },
    processed: 'no',
    isFor: (kind) => /mutation|form/.test(kind),
  },
};

/** The whole origin is down, and nothing has been sent for so long that a probe is due soon. */
async function bringDown({ steady, answerBy, sent, time }: World): Promise<void> {
  answerBy(503);
  const policy = { whenDown: 'fail' } as const;
  for (let count = 0; count < 12; count += 1) {
    for (const url of [orders, '/a', '/b']) steady.fetch(url, { ...order, policy }).catch(() => {});
    await time.advance(100);
  }
  sent.length = 0;
}

const logOuts: Readonly<
  Record<
    string,
    { readonly end: (world: World) => unknown; readonly isFor: (kind: string) => boolean }
  >
> = {
  'queryClient.clear()': {
    end: ({ client }) => act(() => client.clear()),
    isFor: (kind) => /mutation|form/.test(kind),
  },
  'mutationCache.clear()': {
    end: ({ client }) => act(() => client.getMutationCache().clear()),
    isFor: (kind) => /mutation|form/.test(kind),
  },
  'mutationCache.remove() of each': {
    end: ({ client }) =>
      act(() => {
        const cache = client.getMutationCache();
        for (const mutation of cache.getAll()) cache.remove(mutation);
      }),
    isFor: (kind) => /mutation|form/.test(kind),
  },
  'steady.endSession()': {
    end: ({ steady }) => act(() => void steady.endSession()),
    isFor: () => true,
  },
  'both, in the order of the docs': {
    end: ({ steady, client }) =>
      act(() => {
        void steady.endSession();
        client.clear();
      }),
    isFor: () => true,
  },
};

describe.each(Object.entries(logOuts))(
  'after %s, and B has logged in, nothing of A goes:',
  (_, logOut) => {
    describe.each(Object.entries(states))(
      '%s',
      (state, { config, before, after, processed, isFor }) => {
        const rows = Object.entries(kinds).filter(
          ([kind]) => logOut.isFor(kind) && (isFor?.(kind) ?? true),
        );
        test.each(rows)('%s', async (kind, begin) => {
          const world = createWorld(config);
          const { time, sent, answerBy, release, logIn } = world;
          await before?.(world);
          const ends: unknown[] = [];
          begin(world).then(
            (data) => ends.push(['succeeded', data]),
            (error: unknown) => ends.push(error),
          );
          await time.advance(100);
          await after?.(world);
          expect(ends).toEqual([]);
          logOut.end(world);
          await time.advance(0);
          logIn('B');
          answerBy(200);
          setBrowserOnline(true);
          release(503);
          for (const ms of [0, 100, 300, 60_000]) {
            await time.advance(ms);
            for (const render of world.renders) act(render);
          }
          expect(sent.filter((one) => one.endsWith('Bearer B'))).toEqual([]);
          // React Query itself leaves what it has paused before its mutationFn as it is, for ever.
          if (kind.startsWith('a plain') && state === 'offline') return;
          expect(ends).toHaveLength(1);
          // Of one with a retry of its own, each attempt is known by itself: the last was not sent.
          const isLast = kind.endsWith('of its own') && state.endsWith('is due');
          const expected = isLast ? 'no' : processed;
          expect(outcomeOf(ends[0]).processed).toBe(expected);
          expect(expected === 'unknown' || isNotSentError(ends[0])).toBe(true);
        });
      },
    );
  },
);
