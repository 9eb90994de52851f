import { retry, type SteadfetchConfig } from 'steadfetch';
import type { QueryFunction } from '@tanstack/react-query';
import axios from 'axios';
import ky from 'ky';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(console, 'warn').mockImplementation((message) => void warnings.push(String(message)));
});
afterEach(() => void vi.unstubAllEnvs());

/** Runs a query with this queryFn to its end. */
async function fetchWith(rig: Rig, queryFn: QueryFunction, key = 'it'): Promise<void> {
  const result = rig.client.fetchQuery({ queryKey: [key], queryFn });
  await Promise.all([result.catch(() => {}), rig.time.advance(200_000)]);
}

const said = (): string[] => warnings;

describe('shouldRetry that is not as it must be', () => {
  // Wrong on purpose, as a JavaScript caller may write it.
  const wrong = (shouldRetry: unknown) =>
    ({ policy: { shouldRetry } }) as unknown as SteadfetchConfig;

  test.each<[string, unknown, RegExp]>([
    ['async', async () => true, /returned a promise.*synchronous/s],
    ['a number', () => 1, /returned number.*true, false or undefined/s],
    ['null', () => null, /returned null/s],
    [
      'throwing',
      () => {
        throw new Error('oops');
      },
      /threw .*oops/s,
    ],
  ])('%s: it is said once, and the table decides', async (_name, shouldRetry, message) => {
    const rig = createRig(wrong(shouldRetry));
    rig.server.plan('/a', 503, 404);
    await fetchWith(rig, () => rig.steady.json('/a'));
    expect(rig.server.times()).toEqual([0, 500]);
    expect(said()).toEqual([expect.stringMatching(/^\[steadfetch\] /)]);
    expect(said()[0]).toMatch(message);
  });

  test('a right one is not spoken of, and decides', async () => {
    const rig = createRig({
      policy: { shouldRetry: ({ kind }) => (kind === 'http' ? true : undefined) },
    });
    rig.server.plan('/a', 404, 404);
    await fetchWith(rig, () => rig.steady.json('/a'));
    expect(rig.server.times()).toEqual([0, 1025, 3075]);
    expect(said()).toEqual([]);
  });

  test.each<[string, (rig: Rig) => object]>([
    [
      'of queryPolicy',
      (rig) => rig.steady.queryPolicy({ shouldRetry: (async () => true) as never }),
    ],
  ])('%s: it is said, too', async (_name, own) => {
    const rig = createRig();
    rig.server.plan('/a', 404);
    const result = rig.client.fetchQuery({
      queryKey: ['it'],
      queryFn: () => rig.steady.json('/a'),
      ...own(rig),
    });
    await Promise.all([result.catch(() => {}), rig.time.advance(200_000)]);
    expect(rig.server.times()).toEqual([0]);
    expect(said()).toHaveLength(1);
  });

  test('in production the name of the option is said, and the table decides', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const rig = createRig(wrong(async () => true));
    rig.server.plan('/a', 503, 404);
    await fetchWith(rig, () => rig.steady.json('/a'));
    expect(rig.server.times()).toEqual([0, 500]);
    expect(said()).toEqual(['[steadfetch] wrong option: shouldRetry']);
  });
});

describe('a second retry loop', () => {
  test('retry inside a queryFn: it is said once', async () => {
    const rig = createRig();
    const queryFn = () => retry(rig.steady, () => rig.steady.json('/a'));
    await fetchWith(rig, queryFn);
    await fetchWith(rig, queryFn, 'again');
    expect(said()).toEqual([expect.stringMatching(/^\[steadfetch\] .*nine requests/s)]);
  });

  test('retry inside a queryFn that is not retried is not spoken of', async () => {
    const rig = createRig();
    const result = rig.client.fetchQuery({
      queryKey: ['it'],
      queryFn: () => retry(rig.steady, () => rig.steady.json('/a')),
      retry: false,
    });
    await rig.time.advance(1000);
    await result;
    expect(said()).toEqual([]);
  });

  test("a loop of one's own inside the queryFn, with the signal: it is said once", async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 503, 503, 503);
    const result = rig.client.fetchQuery({
      queryKey: ['it'],
      queryFn: async ({ signal }) => {
        try {
          return await rig.steady.json('/a', { signal });
        } catch {
          return rig.steady.json('/a', { signal });
        }
      },
    });
    await Promise.all([result, rig.time.advance(10_000)]);
    expect(rig.server.times()).toEqual([0, 0, 500, 500, 1500]);
    expect(said()).toEqual([expect.stringMatching(/^\[steadfetch\] GET \/a .*nine requests/s)]);
  });

  test.each([
    { config: { 'axios-retry': { retryCount: 0 } } },
    { options: { retry: { limit: 0 } } },
    { options: { retry: 0 } },
    { config: null },
  ])('an error with %o is not spoken of', async (own) => {
    const rig = createRig();
    const fail = () => Promise.reject(Object.assign(new Error('failed'), own));
    const asked = rig.client.fetchQuery({ queryKey: ['it'], queryFn: fail }).catch(() => {});
    await Promise.all([asked, rig.time.advance(10_000)]);
    expect(said()).toEqual([]);
  });

  test('ky and axios on top of steady.fetch, without retries, are retried and not spoken of', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 503);
    rig.server.plan('/b', 503, 503);
    const client = ky.create({ fetch: rig.steady.fetch, retry: 0 });
    await fetchWith(rig, ({ signal }) => client.get('http://localhost:3000/a', { signal }).json());
    const start = rig.elapsed();
    const instance = axios.create({ adapter: 'fetch', env: { fetch: rig.steady.fetch } });
    const get: QueryFunction = async ({ signal }) =>
      (await instance.get<unknown>('http://localhost:3000/b', { signal })).data;
    await fetchWith(rig, get, 'b');
    expect(rig.server.times('/a')).toEqual([0, 500, 1500]);
    // axios' error does not say that it was a 503, so nothing is paused: the retries are React Query's.
    expect(rig.server.times('/b')).toEqual([start, start + 1025, start + 3075]);
    expect(said()).toEqual([]);
  });

  test('two parallel requests to one URL in one attempt are no second loop', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 503);
    await fetchWith(rig, () => Promise.all([rig.steady.json('/a'), rig.steady.json('/a')]));
    expect(said()).toEqual([]);
  });
});

describe('a queryFn that awaits first', () => {
  const afterAwait =
    (rig: Rig, readsSignal: boolean) =>
    async (context: { readonly signal: AbortSignal }): Promise<unknown> => {
      await Promise.resolve();
      return rig.steady.json('/a', readsSignal ? { signal: context.signal } : {});
    };

  async function fail(queryFn: (rig: Rig) => QueryFunction): Promise<void> {
    const rig = createRig({ policy: { maxRetries: 1 } });
    rig.server.plan('/a', 503, 503);
    const result = rig.client.fetchQuery({ queryKey: ['it'], queryFn: queryFn(rig) });
    await Promise.all([result.catch(() => {}), rig.time.advance(200_000)]);
    expect(rig.server.times()).toHaveLength(2);
  }

  test('and passes no signal on: it is said once, with its query and the remedy', async () => {
    await fail((rig) => afterAwait(rig, false));
    expect(said()).toEqual([expect.stringMatching(/^\[steadfetch\] .*\["it"\].*\{ signal \}/s)]);
  });

  test('and passes no signal on: it is said where its error says nothing of the request, too', async () => {
    await fail((rig) => async (context) => {
      await afterAwait(
        rig,
        false,
      )(context).catch(() => {
        throw new Error('Not found.');
      });
    });
    expect(said()).toEqual([expect.stringMatching(/^\[steadfetch\] .*\["it"\].*\{ signal \}/s)]);
  });

  test.each<[string, (rig: Rig) => QueryFunction]>([
    ['passes the signal on', (rig) => afterAwait(rig, true)],
    [
      'passes the signal on, and makes another error of it,',
      (rig) => (context) =>
        afterAwait(
          rig,
          true,
        )(context).catch(() => {
          throw new Error('Not found.');
        }),
    ],
    [
      'fails by itself, after an answer,',
      (rig) => async () => {
        await Promise.resolve();
        await rig.steady.json('/b');
        throw new Error('Not as expected.');
      },
    ],
    ['awaits nothing', (rig) => () => rig.steady.json('/a')],
    ['has its retries inside', (rig) => () => retry(rig.steady, () => rig.steady.json('/a'))],
  ])('one that %s is told of nothing', async (_name, queryFn) => {
    const rig = createRig({ policy: { maxRetries: 0 } });
    rig.server.plan('/a', 503);
    const result = rig.client.fetchQuery({
      queryKey: ['it'],
      queryFn: queryFn(rig),
      retry: false,
    });
    await Promise.all([result.catch(() => {}), rig.time.advance(200_000)]);
    expect(said()).toEqual([]);
  });
});
