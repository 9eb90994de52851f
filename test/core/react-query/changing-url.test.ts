import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig } from './rig.tsx';

const api = 'http://api.example';

type Ask = (path: string) => Promise<unknown>;

/** How a query addresses its endpoint anew each time. */
const ways: readonly (readonly [
  way: string,
  count: number,
  leastGapMs: number,
  queryFn: (ask: Ask, count: number) => Promise<unknown>,
])[] = [
  ['the time of its request', 40, 15_000, (ask) => ask(`/list?until=${Date.now()}`)],
  ['a nonce', 21, 15_000, (ask, count) => ask(`/list?nonce=${count}`)],
  [
    'a token that was read before',
    21,
    14_150,
    async (ask, count) => {
      await ask('/token');
      return ask(`/list?token=${count}`);
    },
  ],
  ['an id in its path', 21, 15_000, (ask, count) => ask(`/list/${count}`)],
];

/** A page that polls something else, and shows a query whose endpoint is broken. */
async function watchBroken(queryFn: (ask: Ask, count: number) => Promise<unknown>) {
  const asked: number[] = [];
  const send = async (input: RequestInfo | URL): Promise<Response> => {
    const isBroken = (input instanceof Request ? input.url : input.toString()).includes('/list');
    if (isBroken) asked.push(rig.elapsed());
    await new Promise((come) => setTimeout(come, 50));
    return Response.json('here', { status: isBroken ? 503 : 200 });
  };
  const rig = createRig({ health: {}, fetch: send });
  new QueryObserver(rig.client, {
    queryKey: ['other'],
    queryFn: () => rig.steady.json(`${api}/other`),
    refetchInterval: 10_000,
  }).subscribe(() => {});
  new QueryObserver(rig.client, {
    queryKey: ['list'],
    queryFn: ({ signal }) =>
      queryFn((path) => rig.steady.json(api + path, { signal }), asked.length),
  }).subscribe(() => {});
  await rig.time.advance(600_000);
  return asked.filter((at) => at > 10_000);
}

// Each request has a URL that has not failed, so an outage of its endpoint does not hold it back.
test.each(ways)(
  'a failed query whose URL has %s is asked for again %i times in ten minutes, and never within %i ms',
  async (_way, count, leastGapMs, queryFn) => {
    const asked = await watchBroken(queryFn);
    const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
    expect([asked.length, Math.min(...gaps)]).toEqual([count, leastGapMs]);
  },
);
