import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import { createRig } from '../rig.tsx';

const queryKey = ['list'];
const answerMs = 50;

interface Waits {
  readonly retry: number | true;
  readonly retryDelay?: number | ((retry: number) => number);
}

/** A query in an outage: when it has its data after that begins. */
async function ask(own: Waits, outageMs: number, isAlone: boolean, isRefresh: boolean) {
  const begunMs = isRefresh ? 1000 : 0;
  const send = async (): Promise<Response> => {
    const at = rig.elapsed();
    await new Promise((come) => setTimeout(come, answerMs));
    const isDown = at >= begunMs && at < begunMs + outageMs;
    return Response.json(at, { status: isDown ? 503 : 200 });
  };
  const rig = createRig({ health: {}, fetch: send });
  const plainly = async (): Promise<number> => {
    const answer = await send();
    if (!answer.ok) throw new Error(`It answered ${answer.status}`);
    return answer.json();
  };
  const client = isAlone ? new QueryClient() : rig.client;
  const observer = new QueryObserver(client, {
    queryKey,
    queryFn: isAlone ? plainly : () => rig.steady.json<number>('http://api.example/list'),
    ...own,
  });
  observer.subscribe(() => {});
  if (isRefresh) {
    await rig.time.advance(begunMs);
    void observer.refetch();
  }
  await rig.time.advance(100_000);
  const { status, data = 0 } = observer.getCurrentResult();
  client.clear();
  rig.end();
  expect(status).toBe('success');
  return data + answerMs - begunMs;
}

/** An app's own waits, an outage, and when React Query alone has the data. */
const rows: readonly [string, Waits, number, number][] = [
  ['for ever, each second', { retry: true, retryDelay: 1000 }, 12_000, 12_650],
  ['for ever, each second', { retry: true, retryDelay: 1000 }, 25_000, 25_250],
  ['for ever, each second', { retry: true, retryDelay: 1000 }, 55_000, 55_700],
  ['30 times, each second', { retry: 30, retryDelay: 1000 }, 25_000, 25_250],
  ['for ever, twice a second', { retry: true, retryDelay: () => 500 }, 25_000, 25_350],
  [
    '20 times, after 2 s at most',
    { retry: 20, retryDelay: (retry) => Math.min(1000 * 2 ** retry, 2000) },
    25_000,
    25_700,
  ],
  ['11 times, each second', { retry: 11, retryDelay: 1000 }, 11_000, 11_600],
  ['3 times, each second', { retry: 3, retryDelay: 1000 }, 3000, 3200],
];

describe.each([
  ['loaded', false],
  ['refreshed', true],
])('a query that is %s and retried by the waits of its app', (_, isRefresh) => {
  test.each(rows)(
    '%s (%o), in an outage of %i ms, has its data as soon as with React Query alone',
    async (_waits, own, outageMs, aloneMs) => {
      const alone = await ask(own, outageMs, true, isRefresh);
      expect(alone).toBe(aloneMs);
      const steady = await ask(own, outageMs, false, isRefresh);
      expect(steady).toBeLessThanOrEqual(aloneMs);
    },
  );
});

const waits = {
  "those of React Query's docs": (retry: number) => Math.min(1000 * 2 ** retry, 30_000),
  'one second': 1000,
};

const down = (status: number): Response => new Response(null, { status });
const failures = {
  500: () => down(500),
  501: () => down(501),
  503: () => down(503),
  nothing: () => {
    throw new TypeError('Failed to fetch');
  },
};

/** The waits, what the server answers for ever, the longest pause, and when the first load of a page tells its failure. */
const lasting: readonly [keyof typeof waits, keyof typeof failures, number, number][] = [
  // As React Query alone.
  ["those of React Query's docs", 500, 60_000, 7200],
  ["those of React Query's docs", 501, 60_000, 50],
  ['one second', 500, 60_000, 3200],
  // An outage may end within the minute for which a first load waits.
  ["those of React Query's docs", 503, 60_000, 31_300],
  ["those of React Query's docs", 'nothing', 60_000, 31_300],
  ['one second', 503, 60_000, 59_998],
  ['one second', 'nothing', 60_000, 59_998],
  // No pause of ours, and still as many retries as with React Query alone.
  ["those of React Query's docs", 503, 0, 7200],
  ['one second', 503, 2000, 3200],
];

test.each(lasting)(
  'a first load with waits of its own (%s) tells that the server answers %s for ever, with pauses of at most %i ms, after %i ms',
  async (name, kind, maxPauseMs, failedMs) => {
    const send = async (): Promise<Response> => {
      await new Promise((come) => setTimeout(come, answerMs));
      return failures[kind]();
    };
    const rig = createRig({ health: {}, fetch: send, policy: { maxPauseMs } });
    const observer = new QueryObserver(rig.client, {
      queryKey,
      queryFn: () => rig.steady.json('http://api.example/list'),
      retryDelay: waits[name],
    });
    let failedAt: number | undefined;
    observer.subscribe(({ isError }) => {
      if (isError) failedAt ??= rig.elapsed();
    });
    await rig.time.advance(200_000);
    expect(failedAt).toBe(failedMs);
  },
);
