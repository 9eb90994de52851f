import { useQuery } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

/** An error as axios throws it: headers in an object of its own, with `get`. */
function axiosError(status: number, headers: Record<string, string> = {}, method = 'get'): Error {
  return Object.assign(new Error(`Request failed with status code ${status}`), {
    isAxiosError: true,
    code: status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE',
    config: { method, url: '/a' },
    response: { status, headers: { ...headers, get: (name: string) => headers[name] } },
  });
}

/** An error as ky throws it: a Request and a Response. */
function kyError(status: number, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error(`Request failed with status code ${status}`), {
    name: 'HTTPError',
    request: new Request('http://localhost/a'),
    response: new Response(null, { status, headers }),
  });
}

/** Runs a query that throws these, one after the other, and gives when it ran. */
async function runsOf(rig: Rig, ...thrown: readonly unknown[]): Promise<number[]> {
  const runs: number[] = [];
  const result = rig.client.fetchQuery({
    queryKey: ['it'],
    queryFn: () => {
      runs.push(rig.elapsed());
      // Whatever another client throws, which need not be an Error.
      if (runs.length <= thrown.length) throw thrown[runs.length - 1];
      return 'fine';
    },
  });
  await Promise.all([result.catch(() => {}), rig.time.advance(200_000)]);
  return runs;
}

describe.each([
  ['axios', axiosError],
  ['ky', kyError],
  [
    'a thrown Response',
    (status: number, headers?: Record<string, string>) =>
      new Response(null, headers ? { status, headers } : { status }),
  ],
])('%s', (_client, fail) => {
  test('a 503 is retried, with the waits of the policy', async () => {
    const rig = createRig();
    expect(await runsOf(rig, fail(503), fail(503))).toEqual([0, 1025, 3075]);
  });

  test('a 404 is not retried', async () => {
    const rig = createRig();
    expect(await runsOf(rig, fail(404))).toEqual([0]);
  });

  test('a bare 500 is retried, with the waits of the policy', async () => {
    const rig = createRig();
    const fails = Array.from({ length: 4 }, () => fail(500));
    expect(await runsOf(rig, ...fails)).toEqual([0, 1025, 3075, 7175]);
  });

  test('Retry-After is waited for', async () => {
    const rig = createRig();
    expect(await runsOf(rig, fail(429, { 'retry-after': '3' }))).toEqual([0, 3150]);
  });

  test('Retry-After beyond maxRetryAfterMs stops', async () => {
    const rig = createRig();
    expect(await runsOf(rig, fail(503, { 'retry-after': '61' }))).toEqual([0]);
  });
});

test('an axios error without an answer is a network failure, and a query asks again', async () => {
  const rig = createRig();
  const error = Object.assign(new Error('Network Error'), { code: 'ERR_NETWORK', config: {} });
  expect(await runsOf(rig, error, error, error, error)).toEqual([0, 1025, 3075, 7175]);
});

test('a query whose client says that it sent a POST is retried after a 503: its queryFn reads', async () => {
  const rig = createRig();
  expect(await runsOf(rig, axiosError(503, {}, 'post'))).toEqual([0, 1025]);
});

test.each([
  'a string',
  0,
  Number.NaN,
  42n,
  false,
  null,
  undefined,
  Symbol('it'),
  () => 'a function',
])('a thrown %s is retried like any unknown failure, with all its waits', async (thrown) => {
  const rig = createRig();
  const all = [thrown, thrown, thrown, thrown];
  expect(await runsOf(rig, ...all)).toEqual([0, 1025, 3075, 7175]);
  const attempts = rig.events.filter(({ type }) => type === 'decision');
  expect(attempts.map(({ operation }) => operation.attempt)).toEqual([1, 2, 3, 4]);
});

test('one Error object thrown at every attempt has all its waits: it is no hot loop', async () => {
  const rig = createRig();
  const error = new Error('the same');
  expect(await runsOf(rig, error, error, error, error, error)).toEqual([0, 1025, 3075, 7175]);
});

test('one Error object thrown in fetch after fetch has a new budget in each of them', async () => {
  const rig = createRig({ policy: { maxRetries: 1 } });
  const error = new Error('the same');
  expect(await runsOf(rig, error, error)).toEqual([0, 1025]);
  const again = rig.elapsed();
  expect(await runsOf(rig, error, error)).toEqual([again, again + 1025]);
});

describe('queries batched into one request, which share its promise', () => {
  /** Two queries whose attempts at the same time share one promise, so one Error object. */
  async function runBatched(rig: Rig, thrown: (count: number) => unknown, times: number) {
    const runs: Record<string, number[]> = { a: [], b: [] };
    let batch: Promise<string> | undefined;
    let count = 0;
    const load = (): Promise<string> => {
      batch ??= Promise.resolve().then(() => {
        batch = undefined;
        count++;
        if (count <= times) throw thrown(count);
        return 'fine';
      });
      return batch;
    };
    function Item({ name }: { readonly name: string }) {
      useQuery({
        queryKey: [name],
        queryFn: () => {
          runs[name]?.push(rig.elapsed());
          return load();
        },
      });
      return null;
    }
    rig.show(
      <>
        <Item name="a" />
        <Item name="b" />
      </>,
    );
    await rig.time.advance(200_000);
    return runs;
  }

  test.each<[string, (count: number) => unknown]>([
    ['a new Error of each batch', (count) => new Error(`batch ${count}`)],
    [
      'one Error of all batches',
      (
        (error) => () =>
          error
      )(new Error('the same')),
    ],
    ['a string', () => 'no luck'],
    ['a Response', (count) => new Response(`${count}`, { status: 503 })],
  ])('%s: each query has its own attempts and its own budget', async (_name, thrown) => {
    const rig = createRig();
    const runs = await runBatched(rig, thrown, Infinity);
    expect(runs).toEqual({ a: [0, 1025, 3075, 7175], b: [0, 1025, 3075, 7175] });
    const ends = rig.events.filter(({ type }) => type === 'operation:end');
    expect(ends.map(({ operation }) => [operation.queryKey, operation.attempt])).toEqual([
      [['a'], 4],
      [['b'], 4],
    ]);
  });

  test('an HttpError of steady.fetch shared by both: each decides for itself', async () => {
    const rig = createRig();
    rig.server.plan('/batch', 503, 503, 503, 503);
    const shared = new Map<number, Promise<unknown>>();
    const load = (): Promise<unknown> => {
      const at = rig.elapsed();
      const batch = shared.get(at) ?? rig.steady.json('/batch');
      shared.set(at, batch);
      return batch;
    };
    const both = ['a', 'b'].map((name) =>
      rig.client.fetchQuery({ queryKey: [name], queryFn: load }),
    );
    await Promise.all([Promise.allSettled(both), rig.time.advance(200_000)]);
    expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
    const decisions = rig.events.filter((event) => event.type === 'decision');
    const ofB = decisions.filter(({ operation }) => operation.queryKey?.[0] === 'b');
    expect(ofB.map(({ operation, decision }) => [operation.attempt, decision.kind])).toEqual([
      [1, 'retry'],
      [2, 'retry'],
      [3, 'retry'],
      [4, 'stop'],
    ]);
  });

  test('with different jitter the queries drift apart, and still no one exceeds its budget', async () => {
    const draws = [0.2, 0.9, 0.4, 0.7, 0.1, 0.6];
    let draw = 0;
    const rig = createRig({ random: () => draws[draw++ % draws.length] ?? 0 });
    const error = new Error('the same');
    const runs = await runBatched(rig, () => error, Infinity);
    expect(runs).toEqual({ a: [0, 1045, 3115, 7235], b: [0, 1035, 3055, 7235] });
  });
});

test('a string thrown by a cancelled query is not taken for the same string of another', async () => {
  const rig = createRig();
  // Typed as what may be thrown: anything.
  const noLuck: unknown = 'no luck';
  let failFirst = (): void => {};
  const first = rig.client.fetchQuery({
    queryKey: ['first'],
    queryFn: () =>
      new Promise<string>((_resolve, reject) => {
        failFirst = () => reject(noLuck);
      }),
  });
  first.catch(() => {});
  await rig.time.settle();
  await rig.client.cancelQueries({ queryKey: ['first'] });
  failFirst();
  await rig.time.settle();
  const second = rig.client.fetchQuery({
    queryKey: ['second'],
    queryFn: () => Promise.reject(noLuck),
  });
  await Promise.all([second.catch(() => {}), rig.time.advance(200_000)]);
  const decisions = rig.events.filter(({ type }) => type === 'decision');
  expect(decisions.map(({ operation }) => [operation.queryKey, operation.attempt])).toEqual([
    [['second'], 1],
    [['second'], 2],
    [['second'], 3],
    [['second'], 4],
  ]);
});
