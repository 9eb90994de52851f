import { MutationObserver, QueryClient, useQuery } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import { mergeDefaultOptions } from 'steadfetch';
import { createRig, type Rig } from './rig.tsx';

const queryKey = ['it'];

/** Fetches /a with these options of its own until the query has ended, and gives the times. */
async function timesWith(rig: Rig, own: object = {}): Promise<number[]> {
  const result = rig.client.fetchQuery({ queryKey, queryFn: () => rig.steady.json('/a'), ...own });
  await Promise.all([result.catch(() => {}), rig.time.advance(1_000_000)]);
  return rig.server.times();
}

function fails(rig: Rig, times = 30): void {
  rig.server.plan('/a', ...Array.from({ length: times }, () => 503));
}

describe('queryPolicy', () => {
  test('is laid over the policy of the instance, for this query only', async () => {
    const rig = createRig({ policy: { baseMs: 100 } });
    fails(rig);
    const own = rig.steady.queryPolicy({ maxRetries: 1 });
    expect(await timesWith(rig, own)).toEqual([0, 102]);
    const before = rig.elapsed();
    await timesWith(rig);
    expect(rig.server.times().slice(2)).toEqual([0, 50, 150, 350].map((at) => at + before));
  });

  test.each<[string, Parameters<Rig['steady']['queryPolicy']>[0], number[]]>([
    ['maxRetries', { maxRetries: 0 }, [0]],
    ['baseMs', { baseMs: 100 }, [0, 50, 150, 350]],
    ['factor', { factor: 3 }, [0, 500, 2000, 6500]],
    ['capMs', { capMs: 1000 }, [0, 500, 1000, 1500]],
    ['backoff', { backoff: 'none' }, [0, 1000, 3000, 7000]],
    ['deadlineMs', { deadlineMs: 1500 }, [0, 500, 1500]],
    ['preset', { preset: 'critical', deadlineMs: 4000 }, [0, 500, 1500, 3500]],
    ['shouldRetry', { shouldRetry: () => false }, [0]],
  ])('its %s counts', async (_name, policy, times) => {
    const rig = createRig();
    fails(rig);
    expect(await timesWith(rig, rig.steady.queryPolicy(policy))).toEqual(times);
  });

  test('its timeout counts', async () => {
    const rig = createRig();
    rig.server.plan('/a', 'hang', 200);
    expect(await timesWith(rig, rig.steady.queryPolicy({ timeout: 700 }))).toEqual([0, 1200]);
  });

  test('its maxRetryAfterMs counts', async () => {
    const rig = createRig();
    rig.server.plan('/a', { status: 429, headers: { 'Retry-After': '90' } }, 200);
    const own = rig.steady.queryPolicy({ maxRetryAfterMs: 90_000, deadlineMs: Infinity });
    expect(await timesWith(rig, own)).toEqual([0, 94_500]);
  });

  test('a wrong option throws when it is made, and the message names it', () => {
    const rig = createRig();
    expect(() => rig.steady.queryPolicy({ maxRetries: -1 })).toThrow(
      /^steady\.queryPolicy: maxRetries is -1, and must be a/,
    );
    expect(() => rig.steady.mutationPolicy({ capMs: 10 })).toThrow(
      /^steady\.mutationPolicy: capMs is 10, and must be /,
    );
  });

  test('the default options of a key take one too', async () => {
    const rig = createRig();
    fails(rig);
    rig.client.setQueryDefaults(queryKey, rig.steady.queryPolicy({ maxRetries: 2 }));
    expect(await timesWith(rig)).toEqual([0, 500, 1500]);
  });
});

describe('the policy of an API', () => {
  const apis = [{ match: 'http://localhost:3000/a', policy: { maxRetries: 1, baseMs: 100 } }];

  test('counts for its requests only, whatever query they are in', async () => {
    const rig = createRig({ apis });
    fails(rig);
    rig.server.plan('/b', 503, 503, 503, 503);
    expect(await timesWith(rig)).toEqual([0, 102]);
    const before = rig.elapsed();
    const other = rig.client.fetchQuery({
      queryKey: ['b'],
      queryFn: () => rig.steady.json('/b'),
    });
    await Promise.all([other.catch(() => {}), rig.time.advance(100_000)]);
    expect(rig.server.times('/b')).toEqual([0, 500, 1500, 3500].map((at) => at + before));
  });

  test('is below the policy of the query, which is below that of the call', async () => {
    const rig = createRig({ apis });
    fails(rig);
    const own = rig.steady.queryPolicy({ maxRetries: 2 });
    expect(await timesWith(rig, own)).toEqual([0, 50, 150]);
    const before = rig.elapsed();
    const queryFn = () => rig.steady.json('/a', { policy: { maxRetries: 0 } });
    await timesWith(rig, { ...own, queryKey: ['again'], queryFn });
    expect(rig.server.times().slice(3)).toEqual([before]);
  });
});

describe('retry of the app alone', () => {
  const waits: readonly [what: string, own: object, waits: readonly number[]][] = [
    ['retry: 1', { retry: 1 }, [1025]],
    ['retry: 3', { retry: 3 }, [1025, 2050, 4100]],
    ['a function', { retry: (count: number) => count < 3 }, [1025, 2050, 4100]],
    // The jitter does not grow with the wait. The last one is after the deadline of the policy.
    ['retry: 7', { retry: 7 }, [1025, 2050, 4100, 8100, 16_100, 30_100, 30_000]],
  ];
  const places = ['the query', 'the default options', 'the defaults of its key'] as const;
  const failing: readonly [what: string, answer: Parameters<Rig['server']['plan']>[1]][] = [
    ['an outage', 503],
    ['a server that answers 500', 500],
    ['a network that is gone', 'network'],
    ['a bare 429', 429],
  ];
  // In the default options a number is that of the policy, which counts no probe.
  const isOwn = (place: string, own: object): boolean =>
    place !== 'the default options' || !('retry' in own) || typeof own.retry === 'function';
  const table = waits.flatMap(([what, own, expected]) =>
    places
      .filter((place) => isOwn(place, own))
      .flatMap((place) =>
        failing.map(([cause, answer]) => [what, place, cause, own, expected, answer] as const),
      ),
  );

  test.each(table)(
    '%s of %s keeps the waits of React Query in %s: probes do not shorten them',
    async (_what, place, _cause, own, expected, answer) => {
      const rig = createRig({ health: {} });
      const { client, steady } = rig;
      rig.server.plan('/a', ...Array.from({ length: 30 }, () => answer));
      if (place === 'the default options')
        client.setDefaultOptions(mergeDefaultOptions(steady, { queries: own }));
      if (place === 'the defaults of its key') client.setQueryDefaults(queryKey, own);
      const times = await timesWith(rig, place === 'the query' ? own : {});
      const sums = expected.map((_, at) => expected.slice(0, at + 1).reduce((sum, ms) => sum + ms));
      expect(times).toEqual([0, ...sums]);
    },
  );

  test.each(
    ['PUT', 'DELETE'].flatMap((method) =>
      failing.map(([cause, answer]) => [method, cause, answer] as const),
    ),
  )(
    'a plain mutation that sends a %s gives up no sooner than with React Query alone in %s',
    async (method, _cause, answer) => {
      const rig = createRig({ health: {} });
      rig.server.plan('/a', ...Array.from({ length: 30 }, () => answer));
      const mutationFn = () => rig.steady.json('/a', { method });
      const observer = new MutationObserver(rig.client, { mutationFn, retry: 3 });
      observer.mutate().catch(() => {});
      await rig.time.advance(60_000);
      const times = rig.server.times();
      expect(times).toHaveLength(4);
      // After a first refusal it is not known yet that the app counts, and the pause is short.
      expect(times[3]).toBeGreaterThanOrEqual(6900);
    },
  );

  test('at a healthy origin, too, it goes at the pace of React Query: a fast retry would be one of few', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', 200, ...Array.from({ length: 9 }, () => 503));
    await timesWith(rig);
    const from = rig.elapsed();
    const times = await timesWith(rig, { retry: 3 });
    expect(times.slice(1).map((at) => at - from)).toEqual([0, 1025, 3075, 3075 + 4100]);
  });

  test('the same where the policy stops at the second failure', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', 200, 503, 404, 404);
    await timesWith(rig);
    const from = rig.elapsed();
    const times = await timesWith(rig, { retry: 2 });
    expect(times.slice(1).map((at) => at - from)).toEqual([0, 1025, 3025]);
  });

  test('Retry-After is obeyed, and counts as the wait', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', { status: 429, headers: { 'Retry-After': '5' } }, 503);
    expect(await timesWith(rig, { retry: 2 })).toEqual([0, 5250, 5250 + 2050]);
  });

  // Where its server is down, a probe would use up a retry each.
  test.each(
    [1, 2, 5].flatMap((retry) => [false, true].map((isKnown) => [retry, isKnown] as const)),
  )(
    'an outage that ends before React Query alone gives up is survived: retry: %i, and its origin has answered before: %s',
    async (retry, isKnown) => {
      const rig = createRig({ health: {} });
      const lastMs = 1000 * (2 ** retry - 1);
      if (isKnown) await rig.steady.json('/b');
      rig.server.plan('/a', ...Array.from({ length: 30 }, () => 503));
      const fetched = rig.client.fetchQuery({
        queryKey,
        queryFn: () => rig.steady.json<string>('/a'),
        retry,
      });
      fetched.catch(() => {});
      await rig.time.advance(lastMs - 100);
      rig.server.unplan('/a');
      await rig.time.advance(3000);
      expect(await fetched).toMatch(/^GET \/a /);
    },
  );

  test('a number, and an answer that the policy would stop at: the pace of React Query', async () => {
    const rig = createRig();
    rig.server.plan('/a', ...Array.from({ length: 9 }, () => 404));
    const alone = [0, 1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000, 121_000];
    expect(await timesWith(rig, { retry: 8 })).toEqual(alone);
  });

  test('true: no hot loop when the policy would have stopped', async () => {
    const rig = createRig();
    fails(rig, 200);
    const result = rig.client.fetchQuery({
      queryKey,
      queryFn: () => rig.steady.json('/a'),
      retry: true,
    });
    result.catch(() => {});
    await rig.time.advance(60_000);
    expect(rig.server.sent.length).toBeLessThan(60);
    await rig.client.cancelQueries({ queryKey });
  });

  test('false: one request, which ends its operation', async () => {
    const rig = createRig();
    fails(rig);
    const fetched = rig.client.fetchQuery({
      queryKey,
      queryFn: () => rig.steady.json('/a'),
      retry: false,
    });
    const [error] = await Promise.all([
      fetched.catch((thrown: unknown) => thrown),
      rig.time.advance(10_000),
    ]);
    expect(rig.server.times()).toEqual([0]);
    const ends = rig.events.filter((event) => event.type === 'operation:end');
    expect(ends.map((end) => end.result)).toEqual(['failed']);
    // No other attempt is to come, and the server named no time.
    expect(error).toMatchObject({ status: 503, retryAt: undefined });
  });

  test('a function: its verdict counts, and it is given the count and the error', async () => {
    const rig = createRig();
    fails(rig);
    const asked: unknown[] = [];
    const retry = (failureCount: number, error: Error): boolean => {
      asked.push([failureCount, error.message]);
      return failureCount < 1;
    };
    expect(await timesWith(rig, { retry })).toEqual([0, 1025]);
    expect(asked).toEqual([
      [0, 'The server answered 503.'],
      [1, 'The server answered 503.'],
    ]);
  });
});

describe('retryDelay of the app alone', () => {
  test('a number: its waits, and as many attempts as the policy allows', async () => {
    const rig = createRig();
    fails(rig);
    expect(await timesWith(rig, { retryDelay: 10 })).toEqual([0, 10, 20, 30]);
  });

  test('a 404 is still not retried', async () => {
    const rig = createRig();
    rig.server.plan('/a', 404);
    expect(await timesWith(rig, { retryDelay: () => 10 })).toEqual([0]);
  });

  test('one Error for all attempts: still as many as the policy allows', async () => {
    const rig = createRig();
    const error = new Error('the same');
    let runs = 0;
    const queryFn = (): never => {
      runs++;
      throw error;
    };
    await timesWith(rig, { retryDelay: 10, queryFn });
    expect(runs).toBe(4);
  });
});

test('retry and retryDelay of the app together: Steadfetch decides nothing', async () => {
  const rig = createRig();
  rig.server.plan('/a', 404, 404, 404);
  expect(await timesWith(rig, { retry: 2, retryDelay: 7 })).toEqual([0, 7, 14]);
});

test('defaults of the app beside ours, for keys that are not ours, stay as they are', async () => {
  const rig = createRig(
    {},
    ({ defaultOptions: { queries, mutations } }) =>
      new QueryClient({
        defaultOptions: { queries: { ...queries, staleTime: 60_000, gcTime: 5 }, mutations },
      }),
  );
  await timesWith(rig);
  expect(rig.client.getQueryState(queryKey)).toBeUndefined();
});

test('a disabled query asks for nothing', async () => {
  const rig = createRig();
  function It() {
    useQuery({ queryKey, queryFn: () => rig.steady.json('/a'), enabled: false });
    return null;
  }
  rig.show(<It />);
  await rig.time.advance(10_000);
  expect(rig.server.sent).toEqual([]);
});
