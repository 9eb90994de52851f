import { runInNewContext } from 'node:vm';
import { fallback, retry, type FallbackContext, type QueryPolicyOptions } from 'steadfetch';
import {
  defaultShouldDehydrateQuery,
  dehydrate,
  type Query,
  useQuery,
} from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { useFallback } from 'steadfetch/react';
import { describe, expect, test, vi } from 'vitest';
import { watchQuery } from '../../react/watch.tsx';
import { observe } from '../../fetch/observe.ts';
import { createRig, type Rig } from '../rig.tsx';

const queryKey = ['prices'];

interface Policy extends Omit<QueryPolicyOptions, 'fallback'> {
  readonly fallback: unknown;
}

/** `own`: options of the query that are spread over those of the policy. */
function show(rig: Rig, { fallback: given, ...policy }: Policy, own: object = {}) {
  const story: string[] = [];
  function Prices() {
    const { data, status, isStale } = useQuery({
      queryKey,
      queryFn: () => rig.steady.json<string>('http://api.example/prices'),
      staleTime: 60_000,
      ...rig.steady.queryPolicy({ ...policy, fallback: fallback(given) }),
      ...own,
    });
    const isInstead = useFallback(queryKey) !== undefined;
    const instead = isInstead ? ' instead' : '';
    story.push(`${rig.elapsed()} ${status} ${String(data)}${isStale ? ' stale' : ''}${instead}`);
    return null;
  }
  const { Watcher, last } = watchQuery(rig, queryKey);
  rig.show(
    <>
      <Prices />
      <Watcher />
    </>,
  );
  return { story, status: last };
}

const later = (ms: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });

test('a value is shown when the query fails for good, and is stale at once', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404);
  const { story, status } = show(rig, { fallback: 'list prices' });
  await rig.time.advance(1000);
  expect(story.at(-1)).toBe('0 success list prices stale instead');
  expect(status()).toMatchObject({ status: 'failed', reason: 'not-retryable' });
});

test('it is left out of what is dehydrated as the docs say', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404);
  show(rig, { fallback: 'list prices' });
  const shouldDehydrateQuery = (query: Query): boolean =>
    defaultShouldDehydrateQuery(query) && !query.state.isInvalidated;
  const count = (): number => dehydrate(rig.client, { shouldDehydrateQuery }).queries.length;
  await rig.time.settle();
  expect(count()).toBe(0);
  act(() => void rig.client.refetchQueries({ queryKey }));
  await rig.time.settle();
  expect(count()).toBe(1);
});

test('what comes after a reset is no fallback, though it is the first data again', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404);
  const { story, status } = show(rig, { fallback: 'list prices' });
  await rig.time.advance(1000);
  act(() => void rig.client.resetQueries({ queryKey }));
  await rig.time.settle();
  expect(story.at(-1)).toBe('1000 success GET /prices 2');
  expect(status()).toMatchObject({ status: 'succeeded', lastError: undefined });
});

test('a failure that is still retried shows nothing in its place', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 503);
  const { story } = show(rig, { fallback: 'list prices' });
  await rig.time.advance(1000);
  expect(story.filter((line) => line.includes('instead'))).toEqual([]);
  expect(story.at(-1)).toBe('500 success GET /prices 2');
});

test('a function is told the failure and the last good data', async () => {
  const rig = createRig();
  const told: FallbackContext[] = [];
  const given = (context: FallbackContext): unknown => {
    told.push(context);
    return context.lastData;
  };
  rig.server.plan('/prices', { body: 'yesterday' }, 404, 404);
  const { story } = show(rig, { fallback: given });
  await rig.time.advance(0);
  await act(() => rig.client.refetchQueries({ queryKey }));
  await act(() => rig.client.refetchQueries({ queryKey }));
  await rig.time.advance(0);
  expect(told.map(({ lastData }) => lastData)).toEqual(['yesterday', 'yesterday']);
  expect(told[0]?.error).toMatchObject({ code: 'http', status: 404 });
  expect(story.at(-1)).toBe('0 success yesterday stale instead');
});

test.each([
  ['is undefined', () => undefined],
  [
    'throws',
    () => {
      throw new Error('mine');
    },
  ],
  ['rejects', () => Promise.reject(new Error('mine'))],
  ['resolves with undefined', () => Promise.resolve(undefined)],
])('where it %s, the failure stands', async (_what, given) => {
  const rig = createRig();
  rig.server.plan('/prices', 404);
  const { story } = show(rig, { fallback: given });
  await rig.time.advance(1000);
  expect(story.at(-1)).toBe('0 error undefined stale');
  expect(rig.server.sent).toHaveLength(1);
});

test.each([
  ['retries, said at once', 'max-retries', 1025, () => undefined, { maxRetries: 1 }],
  ['retries, said after two seconds', 'max-retries', 1025, () => later(2000), { maxRetries: 1 }],
  ['deadline', 'deadline', 500, () => undefined, { deadlineMs: 1200 }],
])(
  'where there is none, the decision to stop stands (%s): nothing more is sent or said',
  async (_what, reason, retriedAt, given, policy) => {
    const rig = createRig();
    rig.server.plan('/prices', 503, 503, 503, 503);
    const { story, status } = show(rig, { fallback: given, ...policy });
    await rig.time.advance(20_000);
    expect(rig.server.times('/prices')).toEqual([0, retriedAt]);
    expect(story.at(-1)).toMatch(/error undefined stale$/);
    expect(status()).toMatchObject({ status: 'failed', reason, attempt: 2 });
    const decisions = rig.events.filter(({ type }) => type === 'decision');
    expect(decisions).toHaveLength(2);
    expect(rig.events.at(-1)).toMatchObject({ type: 'operation:end', result: 'failed' });
    expect(new Set(rig.events.map(({ operation }) => operation.id)).size).toBe(1);
  },
);

test('a promise of another realm has the time of an attempt, too', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404);
  const given = (): unknown => runInNewContext('new Promise(() => {})');
  const { story } = show(rig, { fallback: given, timeout: 2000 });
  await rig.time.advance(3000);
  expect(story.at(-1)).toBe('2000 error undefined stale');
});

test('a function may take its time, and its data are shown when they are there', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404);
  const given = () =>
    new Promise((resolve) => {
      setTimeout(() => resolve('from the disk'), 700);
    });
  const { story } = show(rig, { fallback: given });
  await rig.time.advance(1000);
  expect(story.at(-1)).toBe('700 success from the disk stale instead');
});

test('a function that never settles has the time of an attempt, and then the failure stands', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404);
  const { story } = show(rig, { fallback: () => new Promise(() => {}), timeout: 2000 });
  await rig.time.advance(3000);
  expect(story.at(-1)).toBe('2000 error undefined stale');
  expect(rig.server.sent).toHaveLength(1);
});

test('what it resolves with after the query was fetched anew is shown nowhere', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404, { body: 'today' });
  const given = () =>
    new Promise((resolve) => {
      setTimeout(() => resolve('from the disk'), 700);
    });
  const { story } = show(rig, { fallback: given });
  await rig.time.advance(100);
  await act(() => rig.client.resetQueries({ queryKey }));
  await rig.time.advance(2000);
  expect(story.at(-1)).toBe('100 success today');
});

test('the real thing takes its place when the user retries', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404, { body: 'today' });
  const { story, status } = show(rig, { fallback: 'list prices' });
  await rig.time.advance(0);
  act(() => status().retryNow());
  await rig.time.advance(0);
  expect(story.at(-1)).toBe('0 success today');
  expect(status()).toMatchObject({ status: 'succeeded' });
});

test('the real thing is fetched without a click when the origin is back', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/prices', 503, 503);
  const { story } = show(rig, { fallback: 'list prices', whenDown: 'fail' });
  await rig.time.advance(2000);
  expect(story.at(-1)).toBe('500 success list prices stale instead');
  // Something else asks the same endpoint, and finds it well again.
  await rig.time.advance(3000);
  await act(() => rig.steady.fetch('http://api.example/prices?page=2'));
  await rig.time.advance(0);
  expect(story.at(-1)).toBe('5000 success GET /prices 4');
});

test('a query that is cancelled shows no fallback', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 503, 503);
  const { story, status } = show(rig, { fallback: 'list prices' });
  await rig.time.advance(100);
  act(() => status().cancel());
  await rig.time.advance(10_000);
  expect(story.at(-1)).toBe('100 error undefined stale');
});

test('the loop resolves with its fallback when it fails for good', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404, 404);
  const load = () => rig.steady.json<string>('http://api.example/prices');
  await expect(retry(rig.steady, load, { fallback: fallback('list prices') })).resolves.toBe(
    'list prices',
  );
  const given = ({ error }: FallbackContext) => String(error);
  await expect(retry(rig.steady, load, { fallback: fallback(given) })).resolves.toMatch(
    /^HttpError: .* 404/,
  );
});

test('an asynchronous one of the loop counts when it resolves; else the failure stands', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 404, 404, 404);
  const load = () => rig.steady.json<string>('http://api.example/prices');
  const given = async () => 'from the disk';
  await expect(retry(rig.steady, load, { fallback: fallback(given) })).resolves.toBe(
    'from the disk',
  );
  const rejecting = () => Promise.reject(new Error('mine'));
  await expect(retry(rig.steady, load, { fallback: fallback(rejecting) })).rejects.toMatchObject({
    status: 404,
  });
  const never = () => new Promise<string>(() => {});
  const stuck = observe(retry(rig.steady, load, { fallback: fallback(never), timeout: 1000 }));
  await rig.time.advance(1000);
  expect(stuck.error).toMatchObject({ status: 404 });
});

describe.each<[string, object, number]>([
  ['a number', { retry: 1 }, 1],
  ['false', { retry: false }, 0],
  ['a function', { retry: (count: number) => count < 2 }, 2],
  ['a number and a wait', { retry: 2, retryDelay: 100 }, 2],
])('with a retry of the app: %s', (_, own, retries) => {
  test('the fallback is shown when its retries end', async () => {
    const rig = createRig();
    rig.server.plan('/prices', 503, 503, 503, 503);
    const { story, status } = show(rig, { fallback: 'list prices' }, own);
    await rig.time.advance(10_000);
    expect(rig.server.times()).toHaveLength(retries + 1);
    expect(story.at(-1)).toMatch(/ success list prices stale instead$/);
    expect(status()).toMatchObject({ status: 'failed' });
  });
});

test.each<[string, object]>([
  ['a number', { retry: 2 }],
  ['true', { retry: true }],
  ['a function', { retry: () => true }],
])(
  'a retry of the app that is %s goes on where the policy stops: no fallback until then',
  async (_, own) => {
    const rig = createRig();
    rig.server.plan('/prices', 404, 404, 200);
    const { story } = show(rig, { fallback: 'list prices' }, own);
    await rig.time.advance(10_000);
    expect(story.filter((line) => line.includes('instead'))).toEqual([]);
    expect(story.at(-1)).toBe('3000 success GET /prices 3');
  },
);

test('a retry of the app that throws is asked by React Query alone', async () => {
  const rig = createRig();
  rig.server.plan('/prices', 503, 200);
  const retries = vi.fn<(count: number) => boolean>(() => true);
  const { story } = show(
    rig,
    { fallback: 'list prices' },
    {
      retry(count: number) {
        if (retries.mock.calls.length === 0) {
          retries(count);
          throw new Error('mine');
        }
        return retries(count);
      },
    },
  );
  await rig.time.advance(10_000);
  expect(retries.mock.calls).toEqual([[0], [0]]);
  expect(story.at(-1)).toBe('1025 success GET /prices 2');
});

test('a default retry of the app keeps the fallback of a query that leaves ours out', async () => {
  const rig = createRig();
  const { queries } = rig.steady.defaultOptions;
  rig.client.setDefaultOptions({ queries: { ...queries, retry: 1 } });
  rig.server.plan('/prices', 503, 503, 503);
  const { persister } = rig.steady.queryPolicy({ fallback: fallback('list prices') });
  const data = observe(
    rig.client.fetchQuery<unknown>({
      queryKey,
      queryFn: () => rig.steady.json('http://api.example/prices'),
      persister,
    }),
  );
  await rig.time.advance(10_000);
  expect(data.value).toBe('list prices');
  expect(rig.server.times()).toEqual([0, 1025]);
});
