import { QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

/** Waits of 500, 1000 and 2000 ms, whoever sends the requests. */
const even = { policy: { backoff: 'none', baseMs: 500 } } as const;

const queryKey = ['it'];
const waits = [500, 1000, 2000];

/**
 * React Query alone, with the same attempts and the same waits. An infinite query that has a
 * persister, as ours has, is cancelled when its last component goes, whoever reads its signal: so it
 * has one here, which does nothing.
 */
const bareClient = (hook: Variant['hook']) => () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        ...(hook === 'useInfiniteQuery' && {
          persister: (queryFn, context) => queryFn(context),
          networkMode: 'online',
        }),
        retry: (failureCount) => failureCount < waits.length,
        retryDelay: (failureCount) => waits[failureCount] ?? 0,
      },
    },
  });

interface Variant {
  readonly hook: 'useQuery' | 'useInfiniteQuery';
  readonly readsSignal: boolean;
  readonly strict: boolean;
}

function createApp(rig: Rig, { hook, readsSignal }: Variant) {
  const queryFn = async (context: { readonly signal: AbortSignal }): Promise<unknown> => {
    // Not steady.fetch: what is compared is what React Query does.
    const init = readsSignal ? { signal: context.signal } : {};
    const response = await rig.server.fetch('/a', init);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  };
  const pages = { initialPageParam: 0, getNextPageParam: () => 1 };
  function Query() {
    useQuery({ queryKey, queryFn });
    return null;
  }
  function Infinite() {
    useInfiniteQuery({ queryKey, queryFn, ...pages });
    return null;
  }
  return hook === 'useQuery'
    ? { App: Query, load: () => rig.client.fetchQuery({ queryKey, queryFn }) }
    : { App: Infinite, load: () => rig.client.fetchInfiniteQuery({ queryKey, queryFn, ...pages }) };
}

/** A part of the story: mounted or not from this time on. */
type Step = readonly [atMs: number, mounted: boolean];

async function tell(
  client: 'bare' | 'steady',
  variant: Variant,
  answers: readonly number[],
  steps: readonly Step[],
) {
  const rig = client === 'bare' ? createRig(even, bareClient(variant.hook)) : createRig(even);
  // Each answer takes 100 ms.
  rig.server.plan('/a', ...answers.map((status) => ({ status, afterMs: 100 })), {
    afterMs: 100,
  });
  const log: string[] = [];
  rig.client.getQueryCache().subscribe((event) => {
    if (event.type.startsWith('observer') && event.type !== 'observerRemoved') return;
    const { status, fetchStatus, fetchFailureCount } = event.query.state;
    const action = event.type === 'updated' ? ` ${event.action.type}` : '';
    log.push(
      `${rig.elapsed()} ${event.type}${action}: ${status} ${fetchStatus} ${fetchFailureCount}`,
    );
  });
  const { App } = createApp(rig, variant);
  const { rerender, unmount } = rig.show(<App />, variant);
  for (const [at, mounted] of steps) {
    await rig.time.advance(at - rig.elapsed());
    rerender(rig.wrap(mounted ? <App /> : null, variant));
  }
  await rig.time.advance(20_000 - rig.elapsed());
  const state = rig.client.getQueryState(queryKey);
  const requests = rig.server.sent.map(({ at, abortedAt }) => ({ at, abortedAt }));
  const { dataUpdatedAt, errorUpdatedAt, ...rest } = state ?? {};
  unmount();
  rig.end();
  return { log, requests, state: rest, times: [!!dataUpdatedAt, !!errorUpdatedAt] };
}

const stories: [string, answers: readonly number[], steps: readonly Step[]][] = [
  ['it stays, and two attempts fail', [503, 503], []],
  ['it stays, and all attempts fail', [503, 503, 503, 503], []],
  ['it goes while the first attempt is under way, which succeeds', [], [[50, false]]],
  ['it goes while the first attempt is under way, which fails', [503], [[50, false]]],
  [
    'it goes and comes back while the first attempt is under way',
    [],
    [
      [50, false],
      [60, true],
    ],
  ],
  [
    'it goes and comes back while the first attempt is under way, which fails',
    [503],
    [
      [50, false],
      [60, true],
    ],
  ],
  ['it goes in a wait', [503], [[300, false]]],
  [
    'it goes and comes back in a wait',
    [503],
    [
      [300, false],
      [400, true],
    ],
  ],
  ['it goes while the second attempt is under way, which fails', [503, 503], [[650, false]]],
  [
    'it goes and comes back while the second attempt is under way, and all fail',
    [503, 503, 503, 503],
    [
      [650, false],
      [660, true],
    ],
  ],
  [
    'it goes in a wait, and comes back after its end',
    [503],
    [
      [300, false],
      [5000, true],
    ],
  ],
];

const variants = (['useQuery', 'useInfiniteQuery'] as const).flatMap((hook) =>
  [true, false].flatMap((readsSignal) =>
    [false, true].map((strict): [string, Variant] => [
      `${hook}, a queryFn that ${readsSignal ? 'reads the signal' : 'does not read the signal'}${strict ? ', StrictMode' : ''}`,
      { hook, readsSignal, strict },
    ]),
  ),
);

describe.each(variants)('%s: as with React Query alone', (_name, variant) => {
  test.each(stories)('%s', async (_story, answers, steps) => {
    const bare = await tell('bare', variant, answers, steps);
    const steady = await tell('steady', variant, answers, steps);
    expect(steady.requests).toEqual(bare.requests);
    expect(steady.state).toEqual(bare.state);
    expect(steady.times).toEqual(bare.times);
    expect(steady.log).toEqual(bare.log);
  });
});

describe.each([true, false])('a queryFn that reads the signal: %s', (readsSignal) => {
  test.each(['useQuery', 'useInfiniteQuery'] as const)(
    '%s joins what a loader awaits, and goes: the loader gets what React Query alone gives it',
    async (hook) => {
      const outcomes = [];
      for (const client of ['bare', 'steady'] as const) {
        const rig = client === 'bare' ? createRig(even, bareClient(hook)) : createRig(even);
        rig.server.plan('/a', { afterMs: 100 }, { afterMs: 100 });
        const variant = { hook, readsSignal, strict: true };
        const { App, load } = createApp(rig, variant);
        const loaded = load().then(
          (data) => ({ data }),
          (error: unknown) => ({ error: String(error) }),
        );
        const { rerender } = rig.show(<App />, variant);
        await rig.time.advance(50);
        rerender(rig.wrap(null, variant));
        await rig.time.advance(10_000);
        outcomes.push([await loaded, rig.server.times()]);
        rig.end();
      }
      expect(outcomes[1]).toEqual(outcomes[0]);
    },
  );
});
