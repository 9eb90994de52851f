import { QueryObserver } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

const api = 'http://api.example';

type Send = (init?: { readonly signal: AbortSignal }) => Promise<unknown>;

/** QueryFns whose request cannot be linked to their query. */
const ways: readonly [string, (send: Send, signal: AbortSignal) => Promise<unknown>][] = [
  [
    'awaits something first',
    async (send) => {
      await Promise.resolve();
      return send();
    },
  ],
  [
    'sends in a timer',
    (send) =>
      new Promise((resolve, reject) => {
        setTimeout(() => {
          send().then(resolve, reject);
        }, 0);
      }),
  ],
  [
    'gives its client a signal of its own',
    async (send, signal) => {
      const own = new AbortController();
      signal.addEventListener('abort', () => own.abort());
      await Promise.resolve();
      return send({ signal: own.signal });
    },
  ],
];

type Answer = (isList: boolean) => Response | Promise<Response>;
const here = (): Response => Response.json('here');
const refused = (status: number): Response => new Response(null, { status });

/** When the query has its data, or its failure. */
async function watch(
  way: (send: Send, signal: AbortSignal) => Promise<unknown>,
  answer: Answer,
  isLoaded: boolean,
) {
  const beginsMs = isLoaded ? 1000 : 0;
  const fetch = async (input: RequestInfo | URL): Promise<Response> => {
    await new Promise((come) => setTimeout(come, 50));
    const url = input instanceof Request ? input.url : input.toString();
    return rig.elapsed() < beginsMs ? here() : answer(url.endsWith('/list'));
  };
  const rig: Rig = createRig({ health: {}, fetch });
  new QueryObserver(rig.client, {
    queryKey: ['other'],
    queryFn: () => rig.steady.json(`${api}/other`),
    refetchInterval: 10_000,
  }).subscribe(() => {});
  const list = new QueryObserver(rig.client, {
    queryKey: ['list'],
    queryFn: ({ signal }) => way((init) => rig.steady.json(`${api}/list`, init), signal),
  });
  let ended: [string, number] | undefined;
  list.subscribe(({ status, fetchStatus }) => {
    const atMs = rig.elapsed() - beginsMs;
    if (status !== 'pending' && fetchStatus === 'idle' && atMs > 0) ended ??= [status, atMs];
  });
  await rig.time.advance(beginsMs);
  if (isLoaded) void list.refetch();
  await rig.time.advance(200_000);
  rig.end();
  return ended;
}

const quiet = (): Promise<Response> =>
  new Promise((resolve) => setTimeout(() => resolve(here()), 11_950));

/**
 * What is wrong, and when the query ends: its first load, and its refetch. React Query alone fails after 7.2 s, and has an
 * answer that takes 12 s after 12 s. A first load waits for the end of an outage for a minute, and its last pause.
 */
const troubles: readonly [string, Answer, string, number, number][] = [
  ['503 for ever beside others', (isList) => (isList ? refused(503) : here()), 'error', 7437, 7437],
  ['500 for ever beside others', (isList) => (isList ? refused(500) : here()), 'error', 8868, 8868],
  ['500 for ever', () => refused(500), 'error', 10_775, 8868],
  ['503 for ever', () => refused(503), 'error', 69_048, 7437],
  ['an answer after 12 s', (isList) => (isList ? quiet() : here()), 'success', 12_000, 12_000],
];

describe.each(ways)('a query that %s', (_, way) => {
  test.each(troubles)('%s', async (_trouble, answer, status, firstMs, refetchMs) => {
    const ends = [await watch(way, answer, false), await watch(way, answer, true)];
    expect(ends).toEqual([
      [status, firstMs],
      [status, refetchMs],
    ]);
  });
});
