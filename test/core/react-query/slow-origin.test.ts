import { QueryObserver, type QueryObserverOptions } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig } from './rig.tsx';

/** An origin whose every answer takes so long, and the queries of a page that asks it for so many things. */
function createSlow(count: number, answersMs: number) {
  const rig = createRig({
    health: {},
    fetch: (_input, init) =>
      new Promise((resolve, reject) => {
        setTimeout(() => resolve(Response.json(1)), answersMs);
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      }),
  });
  const queries = Array.from({ length: count }, (_, id) => ({
    queryKey: [id],
    queryFn: () => rig.steady.json(`http://api.example/things-${'abcdef'[id]}/${id}`),
  }));
  return { rig, queries };
}

/** When each answer comes to a page whose components ask for them. */
async function open(count: number, answersMs: number) {
  const { rig, queries } = createSlow(count, answersMs);
  const observers = queries.map((query) => {
    const observer = new QueryObserver(rig.client, query);
    observer.subscribe(() => {});
    return observer;
  });
  const ends = observers.map(() => 0);
  for (const [id, observer] of observers.entries())
    observer.subscribe(({ data, fetchStatus }) => {
      if (data !== undefined && fetchStatus === 'idle') ends[id] ||= rig.elapsed();
    });
  await rig.time.advance(200_000);
  expect(observers.map((one) => one.getCurrentResult().status)).toEqual(
    observers.map(() => 'success'),
  );
  return ends;
}

// React Query alone has no limit, and has them after the time that each takes.
test.each([
  [1, 9000, [9000]],
  [1, 15_000, [15_000]],
  [1, 25_000, [25_000]],
  [1, 39_000, [39_000]],
  [1, 59_000, [59_000]],
  [2, 15_000, [15_000, 15_000]],
  [2, 25_000, [25_000, 25_000]],
  [2, 39_000, [39_000, 39_000]],
  [2, 59_000, [59_000, 59_000]],
  [6, 15_000, [15_000, 15_000, 15_000, 15_000, 15_000, 30_140]],
  [6, 25_000, [25_000, 25_000, 25_000, 25_000, 25_000, 50_250]],
])(
  'a page of %i queries to an origin whose every answer takes %i ms gets them all',
  async (count, answersMs, ends) => {
    expect(await open(count, answersMs)).toEqual(ends);
  },
);

test.each([
  [1, 15_000],
  [2, 15_000],
  [4, 25_000],
  [3, 39_000],
  [2, 59_000],
])('so do %i loaders of a router, after %i ms', async (count, answersMs) => {
  const { rig, queries } = createSlow(count, answersMs);
  const load = async (query: (typeof queries)[number]): Promise<unknown> => {
    await rig.client.fetchQuery(query);
    return rig.elapsed();
  };
  const loaded = Promise.all(queries.map(load)).catch(String);
  await rig.time.advance(200_000);
  expect(await loaded).toEqual(queries.map(() => answersMs));
});

/** How one query ends that meets these statuses first, and then an answer after so long. */
async function openAfter(
  statuses: readonly number[],
  answersMs: number,
  own: Partial<QueryObserverOptions>,
  config: Parameters<typeof createRig>[0] = {},
) {
  const rig = createRig({ health: {}, ...config });
  const hanging = Array.from({ length: 9 }, () => ({ status: 200, afterMs: answersMs }));
  rig.server.plan('/a', ...statuses.map((status) => ({ status })), ...hanging);
  const observer = new QueryObserver(rig.client, {
    queryKey: ['a'],
    queryFn: () => rig.steady.json('http://api.example/a'),
    ...own,
  });
  let end: [string, number] | undefined;
  observer.subscribe(({ status }) => {
    if (status !== 'pending') end ??= [status, rig.elapsed()];
  });
  await rig.time.advance(200_000);
  return end;
}

// A lone query of React Query that makes no more attempts waits for its last one for as long as it takes.
test.each<[string, Partial<QueryObserverOptions>, number[], number, [string, number]]>([
  ['without retries', { retry: false }, [], 12_000, ['success', 12_000]],
  ['without retries', { retry: false }, [], 59_000, ['success', 59_000]],
  ['without retries', { retry: false }, [], 61_000, ['error', 60_000]],
  ['with one retry', { retry: 1 }, [], 45_000, ['success', 45_000]],
  ['with one retry', { retry: 1 }, [], 200_000, ['error', 71_025]],
  ['with one retry', { retry: 1 }, [500], 12_000, ['success', 13_025]],
  ['with three retries', {}, [500, 500, 500], 12_000, ['success', 14_250]],
  ['with three retries', {}, [], 200_000, ['error', 92_300]],
])(
  'a query %s (%o) that meets %j and then an answer after %i ms ends as %j',
  async (_name, own, statuses, answersMs, end) => {
    expect(await openAfter(statuses, answersMs, own)).toEqual(end);
  },
);

test.each([15_000, 25_000, 59_000])(
  'a read by POST is one, as GraphQL sends it: its answer comes after %i ms',
  async (answersMs) => {
    const body = JSON.stringify({ query: '{ things }' });
    const rig = createRig({ health: {} });
    rig.server.plan('/graphql', ...Array.from({ length: 9 }, () => ({ afterMs: answersMs })));
    const queryFn = () => rig.steady.json('http://api.example/graphql', { method: 'POST', body });
    const loaded = rig.client
      .fetchQuery({ queryKey: ['things'], queryFn })
      .then(() => rig.elapsed());
    await rig.time.advance(200_000);
    expect(await loaded).toBe(answersMs);
  },
);

test('so does one whose API has no retries', async () => {
  const apis = [{ match: 'http://api.example', policy: { maxRetries: 0 } }];
  expect(await openAfter([], 12_000, {}, { apis })).toEqual(['success', 12_000]);
});

const paths = [...'abcdefg'].map((name) => `/${name}`);

/** A page that asks for seven things of an origin that hangs. */
function hang() {
  const rig = createRig({ health: {} });
  for (const path of paths) {
    rig.server.plan(path, ...Array<'hang'>(20).fill('hang'));
    new QueryObserver(rig.client, {
      queryKey: [path],
      queryFn: ({ signal }) => rig.steady.json(`http://api.example${path}`, { signal }),
    }).subscribe(() => {});
  }
  return rig;
}

test('a late read is kept for fifty seconds, and one of six connections is left', async () => {
  const rig = hang();
  await rig.time.advance(65_000);
  const firsts = rig.server.sent.slice(0, 7).map(({ abortedAt }) => abortedAt);
  expect(firsts).toEqual([60_000, 60_000, 60_000, 60_000, 60_000, 10_000, 20_000]);
});

test('and are aborted as their query is cancelled', async () => {
  const rig = hang();
  await rig.time.advance(10_500);
  void rig.client.cancelQueries({ queryKey: ['/a'] });
  await rig.time.advance(0);
  const firsts = rig.server.sent.slice(0, 2).map(({ abortedAt }) => abortedAt);
  expect(firsts).toEqual([10_500, undefined]);
});

test('an answer that is no success is none', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', { status: 500, afterMs: 15_000 });
  const observer = new QueryObserver(rig.client, {
    queryKey: ['a'],
    queryFn: () => rig.steady.json('http://api.example/a'),
  });
  observer.subscribe(() => {});
  await rig.time.advance(60_000);
  expect(observer.getCurrentResult().status).toBe('success');
  expect(rig.server.times('/a')).toEqual([0, 10_500]);
});
