import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { createSteadfetch, type Steadfetch } from 'steadfetch';
import { virtualTime } from 'steadfetch/testing';
import { expect, test, vi } from 'vitest';
import { randomStream } from '../../../sim/engine/random-stream.ts';

type Answers = '50 ms' | '500 ms' | '2 s' | '5 s' | 'varying';

/** What the answers after the outage take; those before it take 50 ms. */
const latencyOf: Record<Answers, (draw: number) => number> = {
  '50 ms': () => 50,
  '500 ms': () => 500,
  '2 s': () => 2000,
  '5 s': () => 5000,
  varying: (draw) => 50 + draw * 2950,
};

interface Page {
  /** When the last request went, and when the last query had its answer, in seconds. */
  readonly lastSentS: number;
  readonly lastAnsweredS: number;
  readonly failed: number;
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/**
 * A page is used for a minute, its answers take 50 ms. Then it shows so many queries of six endpoints while
 * its server fails, for so long.
 */
async function showPage(
  policy: 'steadfetch' | 'react-query',
  kind: '503' | 'refused',
  outageS: number,
  answers: Answers,
  queries: number,
  seed?: number,
): Promise<Page> {
  const time = virtualTime(vi);
  const draw = seed === undefined ? () => 0.5 : randomStream(seed, 'policy');
  const drawLatency = randomStream(seed ?? 1, 'latency');
  const downAt = time.now() + 60_000;
  const upAt = downAt + outageS * 1000;
  let lastSentAt = 0;
  const fetch = async (): Promise<Response> => {
    const at = (lastSentAt = time.now());
    const isUp = at < downAt || at >= upAt;
    const latencyMs = at < upAt ? 50 : latencyOf[answers](drawLatency());
    await new Promise((come) => setTimeout(come, latencyMs));
    if (!isUp && kind === 'refused') throw new TypeError('Failed to fetch');
    return isUp ? Response.json(1) : new Response(null, { status: 503 });
  };
  const steady: Steadfetch | undefined =
    policy === 'steadfetch' ? createSteadfetch({ fetch, random: draw }) : undefined;
  const client = new QueryClient(steady && { defaultOptions: steady.defaultOptions });
  const ask = async (id: number): Promise<unknown> => {
    const url = `http://api.example/things-${'abcdef'[id % 6]}/${id}`;
    if (steady) return steady.json(url);
    const response = await fetch();
    if (!response.ok) throw new Error(`${response.status}`);
    return response.json();
  };
  for (let id = 0; id < 40; id++) {
    void client.query({ queryKey: ['before', id], queryFn: () => ask(id) });
    await time.advance(1500);
  }
  let [answered, failed, lastAnsweredAt] = [0, 0, 0];
  const left = new Set<number>();
  for (let id = 0; id < queries; id++) {
    left.add(id);
    const observer = new QueryObserver(client, { queryKey: [id], queryFn: () => ask(id) });
    observer.subscribe(({ status }) => {
      if (status === 'pending' || !left.delete(id)) return;
      if (status === 'error') failed++;
      else answered++;
      lastAnsweredAt = time.now();
    });
  }
  lastSentAt = 0;
  for (let waitedS = 0; left.size > 0 && waitedS < 400; waitedS += 1) await time.advance(1000);
  expect(answered + failed).toBe(queries);
  const page = {
    lastSentS: seconds(lastSentAt - downAt),
    lastAnsweredS: seconds(lastAnsweredAt - downAt),
    failed,
  };
  client.clear();
  steady?.dispose();
  time.restore();
  return page;
}

/** When React Query has its last answer, when our last request goes, and when ours has its last answer. */
type Row = [lastAnsweredS: number | undefined, lastSentS: number, lastAnsweredS: number];

/** React Query gives up after 7 s: after an outage of 30 s it has shown errors, and every answer is ours alone. */
const cases: [number, Answers, Row, Row, Row, Row][] = [
  [2, '50 ms', [3.2, 2.3, 2.3], [3.2, 2.6, 2.6], [3.2, 2.6, 2.6], [3.2, 2.5, 2.6]],
  [2, '500 ms', [3.6, 2.3, 2.8], [3.6, 3.3, 3.8], [3.6, 3.3, 3.8], [3.6, 3.3, 3.8]],
  [2, '2 s', [5.1, 2.3, 4.3], [5.1, 5.3, 7.3], [5.1, 5.2, 7.2], [5.1, 5.2, 7.2]],
  [2, '5 s', [8.1, 2.3, 7.3], [8.1, 8.3, 13.3], [8.1, 8.2, 13.2], [8.1, 8.2, 13.2]],
  [2, 'varying', [5.4, 2.3, 4.5], [6, 5.5, 8.4], [6.1, 5.5, 8.4], [6.1, 5.3, 8.2]],
  [6, '50 ms', [7.2, 7.1, 7.2], [7.2, 7.5, 7.5], [7.2, 7.5, 7.5], [7.2, 7.4, 7.5]],
  [6, '500 ms', [7.7, 7.1, 7.6], [7.7, 8.2, 8.7], [7.7, 8.2, 8.7], [7.7, 8.2, 8.7]],
  [6, '2 s', [9.2, 7.1, 9.1], [9.2, 10.2, 12.2], [9.2, 10.1, 12.1], [9.2, 10.1, 12.1]],
  [6, '5 s', [12.2, 7.1, 12.1], [12.2, 13.2, 18.2], [12.2, 13.1, 18.1], [12.2, 13.1, 18.1]],
  [6, 'varying', [9.4, 7.1, 9.4], [10, 10.4, 13.3], [10.1, 10.4, 13.3], [10.1, 10.2, 13.1]],
  [
    30,
    '50 ms',
    [undefined, 35.9, 35.9],
    [undefined, 36.7, 36.8],
    [undefined, 39.1, 39.2],
    [undefined, 39.2, 39.3],
  ],
  [
    30,
    '500 ms',
    [undefined, 35.9, 36.4],
    [undefined, 37.4, 37.9],
    [undefined, 40.4, 40.9],
    [undefined, 41.7, 42.2],
  ],
  [
    30,
    '2 s',
    [undefined, 35.9, 37.9],
    [undefined, 86.1, 88.1],
    [undefined, 92, 94],
    [undefined, 65.7, 67.7],
  ],
  [
    30,
    '5 s',
    [undefined, 35.9, 40.9],
    [undefined, 89.1, 94.1],
    [undefined, 106.8, 111.8],
    [undefined, 90.3, 95.3],
  ],
  [
    30,
    'varying',
    [undefined, 35.9, 38.2],
    [undefined, 79.2, 82.1],
    [undefined, 123.4, 126.2],
    [undefined, 64.9, 67.2],
  ],
];

test.each(cases)(
  'after an outage of %d s and with answers that take %s, 1, 6, 30 and 200 queries have gone 5 s after React Query',
  async (outageS, answers, ...rows) => {
    const pages: Row[] = [];
    for (const queries of [1, 6, 30, 200]) {
      const plain = await showPage('react-query', '503', outageS, answers, queries);
      const own = await showPage('steadfetch', '503', outageS, answers, queries);
      expect(own.failed).toBe(0);
      const plainS = plain.failed === 0 ? plain.lastAnsweredS : undefined;
      expect(own.lastSentS).toBeLessThanOrEqual((plainS ?? Infinity) + 5);
      pages.push([plainS, own.lastSentS, own.lastAnsweredS]);
    }
    expect(pages).toEqual(rows);
  },
);

test.each([
  ['503', 1],
  ['503', 2],
  ['503', 3],
  ['refused', 1],
  ['refused', 2],
] as const)(
  'by %s, with other draws of chance (%d), thirty that wait for a server that is slow from now on have gone too',
  async (kind, seed) => {
    const plain = await showPage('react-query', kind, 6, '2 s', 30, seed);
    const own = await showPage('steadfetch', kind, 6, '2 s', 30, seed);
    expect(own.failed).toBe(0);
    expect(own.lastSentS).toBeLessThanOrEqual(plain.lastAnsweredS + 5);
  },
);
