import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig } from '../react-query/rig.tsx';

type Kind = '500' | '503' | 'reset' | 'hang' | 'retry-after';

/**
 * A page opens when its server goes down, and asks for so many things of eight endpoints. An answer
 * takes 50 ms.
 *
 * @returns When the first and the last are answered, in milliseconds after the server is well, and
 * how many requests were sent.
 */
async function openIn(kind: Kind, queries: number, outageMs: number) {
  let sent = 0;
  const rig = createRig({
    health: {},
    async fetch(_input, init) {
      sent++;
      if (rig.elapsed() >= outageMs) {
        await new Promise((come) => setTimeout(come, 50));
        return Response.json(1);
      }
      if (kind === 'hang') {
        return new Promise((_come, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
        });
      }
      await new Promise((come) => setTimeout(come, 50));
      if (kind === 'reset') throw new TypeError('Failed to fetch');
      const headers = new Headers(kind === 'retry-after' ? { 'retry-after': '2' } : {});
      return new Response(null, { status: kind === '500' ? 500 : 503, headers });
    },
  });
  const ends: number[] = [];
  for (let id = 0; id < queries; id++) {
    const observer = new QueryObserver(rig.client, {
      queryKey: [id],
      queryFn: () => rig.steady.json(`http://api.example/things-${'abcdefgh'[id % 8]}/${id}`),
    });
    observer.subscribe(({ status }) => {
      if (status === 'success' && ends.length < queries) ends.push(rig.elapsed() - outageMs);
      expect(status).not.toBe('error');
    });
  }
  await rig.time.advance(outageMs + 60_000);
  expect(ends).toHaveLength(queries);
  return { firstMs: Math.min(...ends), wholeMs: Math.max(...ends), sent };
}

/**
 * React Query's defaults give up after 7 s. The first answer is to come within 0.75 of the outage (3 s
 * at least, 16 s at most), and the page 0.6 of it (4 s, 15 s) later.
 */
const cases: [Kind, number, number, number, number, number][] = [
  ['503', 1, 2000, 300, 300, 4],
  ['503', 1, 10_000, 499, 499, 9],
  ['503', 1, 30_000, 4011, 4011, 12],
  ['503', 1, 50_000, 7048, 7048, 14],
  ['503', 6, 2000, 300, 616, 13],
  ['503', 6, 10_000, 775, 1358, 17],
  ['503', 6, 30_000, 6180, 6763, 20],
  ['503', 30, 30_000, 6180, 9163, 68],
  ['500', 1, 2000, 300, 300, 4],
  ['500', 1, 5000, 1337, 1337, 7],
  ['500', 6, 30_000, 6180, 6763, 20],
  ['reset', 6, 10_000, 775, 1358, 17],
  // It hangs until its time limit of 10 s.
  ['hang', 1, 2000, 8550, 8550, 2],
  ['hang', 6, 30_000, 1850, 2433, 14],
  ['retry-after', 6, 10_000, 775, 1358, 16],
];

test.each(cases)(
  'down by %s: %d queries are all answered after %d ms; the first one, the whole page and the requests',
  async (kind, queries, outageMs, firstMs, wholeMs, sent) => {
    expect(await openIn(kind, queries, outageMs)).toEqual({ firstMs, wholeMs, sent });
  },
);

test('what always answers 500 is asked eight times, last when React Query would ask for the last time, and then shown as an error', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/bug', 500, 500, 500, 500, 500, 500, 500, 500);
  const observer = new QueryObserver(rig.client, {
    queryKey: ['bug'],
    queryFn: () => rig.steady.json('/bug'),
  });
  observer.subscribe(() => {});
  await rig.time.advance(60_000);
  expect(rig.server.times()).toEqual([0, 500, 1050, 2250, 3100, 4400, 6350, 7150]);
  expect(observer.getCurrentResult()).toMatchObject({ status: 'error', fetchStatus: 'idle' });
});
