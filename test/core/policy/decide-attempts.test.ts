import { QueryClient } from '@tanstack/react-query';
import fc from 'fast-check';
import { createSteadfetch, type PolicyOptions, type Steadfetch, retry } from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { anyThrower, type Thrower } from './any-error.ts';
import { histories } from '../../setup/histories.ts';

const seed = 271;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A policy that waits for nothing but a Retry-After. */
const withoutDelay = (maxRetries: number): PolicyOptions => ({
  baseMs: 0,
  capMs: 0,
  deadlineMs: Infinity,
  maxRetries,
});

/** A function that fails in the given ways, one after the other and all over again. */
function failing(throwers: readonly Thrower[]) {
  const thrown: unknown[] = [];
  return {
    thrown,
    run: async (): Promise<never> => {
      await Promise.resolve();
      const error = throwers[thrown.length % throwers.length]?.();
      thrown.push(error);
      throw error;
    },
  };
}

/** Runs the work in a client of its own, until nothing is left to happen. */
async function inClient(
  steady: Steadfetch,
  start: (client: QueryClient) => readonly Promise<unknown>[],
): Promise<PromiseSettledResult<unknown>['status'][]> {
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const ends: PromiseSettledResult<unknown>['status'][] = [];
  for (const promise of start(client)) {
    promise.then(
      () => ends.push('fulfilled'),
      () => ends.push('rejected'),
    );
  }
  await vi.runAllTimersAsync();
  expect(client.isFetching() + client.isMutating()).toBe(0);
  client.clear();
  return ends;
}

const anySequence = fc.array(anyThrower, { minLength: 1, maxLength: 6 });
const anyMaxRetries = fc.integer({ min: 0, max: 5 });

describe(`whatever is thrown, there are at most maxRetries + 1 attempts (seed ${seed})`, () => {
  test('of a query', async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(anySequence, anyMaxRetries, async (throwers, maxRetries) => {
        const steady = createSteadfetch({ policy: withoutDelay(maxRetries) });
        const { run, thrown } = failing(throwers);
        const ends = await inClient(steady, (client) => [
          client.fetchQuery({ queryKey: ['q'], queryFn: run }),
        ]);
        expect(thrown.length).toBeLessThanOrEqual(maxRetries + 1);
        expect(ends).toEqual(['rejected']);
        seen.add(thrown.length);
      }),
      histories(seed, 400),
    );
    expect([...seen].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('of a query that is fetched again: as many as the first time', async () => {
    await fc.assert(
      fc.asyncProperty(anySequence, anyMaxRetries, async (throwers, maxRetries) => {
        const steady = createSteadfetch({ policy: withoutDelay(maxRetries) });
        const [first, second] = [failing(throwers), failing(throwers)];
        await inClient(steady, (client) => [
          client
            .fetchQuery({ queryKey: ['q'], queryFn: first.run })
            .catch(() => client.fetchQuery({ queryKey: ['q'], queryFn: second.run })),
        ]);
        expect(second.thrown.length).toBe(first.thrown.length);
      }),
      histories(seed, 400),
    );
  });

  test('of a query whose own persister has replaced ours', async () => {
    vi.spyOn(console, 'warn').mockReturnValue(undefined);
    await fc.assert(
      fc.asyncProperty(anySequence, anyMaxRetries, async (throwers, maxRetries) => {
        const steady = createSteadfetch({ policy: withoutDelay(maxRetries) });
        const { run, thrown } = failing(throwers);
        const ends = await inClient(steady, (client) => [
          client.fetchQuery({ queryKey: ['q'], queryFn: run, persister: () => run() }),
        ]);
        expect(thrown.length).toBeLessThanOrEqual(maxRetries + 1);
        expect(ends).toEqual(['rejected']);
      }),
      histories(seed, 300),
    );
  });

  test('of each of several queries that run at once and throw the same things', async () => {
    await fc.assert(
      fc.asyncProperty(
        anySequence,
        fc.array(anyMaxRetries, { minLength: 2, maxLength: 4 }),
        async (throwers, limits) => {
          const steady = createSteadfetch({ policy: withoutDelay(9) });
          const works = limits.map((maxRetries) => ({ maxRetries, ...failing(throwers) }));
          const ends = await inClient(steady, (client) =>
            works.map(({ maxRetries, run }, index) =>
              client.fetchQuery({
                ...steady.queryPolicy({ maxRetries }),
                queryKey: [index],
                queryFn: run,
              }),
            ),
          );
          // They have nothing to do with one another: only their own limits tell them apart.
          const most = Math.max(...works.map(({ thrown }) => thrown.length));
          for (const { maxRetries, thrown } of works)
            expect(thrown.length).toBe(Math.min(maxRetries + 1, most));
          expect(ends).toEqual(works.map(() => 'rejected'));
        },
      ),
      histories(seed, 400),
    );
  });

  test('of a plain mutation, and of several with one policy', async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(
        anySequence,
        anyMaxRetries,
        fc.integer({ min: 1, max: 3 }),
        async (throwers, maxRetries, count) => {
          const steady = createSteadfetch({ policy: withoutDelay(maxRetries) });
          const works = Array.from({ length: count }, () => failing(throwers));
          const ends = await inClient(steady, (client) =>
            works.map(({ run }) =>
              client.getMutationCache().build(client, { mutationFn: run }).execute(undefined),
            ),
          );
          for (const { thrown } of works) {
            expect(thrown.length).toBeLessThanOrEqual(maxRetries + 1);
            expect(thrown.length).toBe(works[0]?.thrown.length);
            seen.add(thrown.length);
          }
          expect(ends).toEqual(works.map(() => 'rejected'));
        },
      ),
      histories(seed, 400),
    );
    expect(seen.size).toBeGreaterThan(1);
  });

  test('of retry, which rejects with the last thing thrown', async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(
        anySequence,
        anyMaxRetries,
        fc.boolean(),
        async (throwers, maxRetries, idempotent) => {
          const steady = createSteadfetch();
          const { run, thrown } = failing(throwers);
          const rejectedWith = vi.fn<(error: unknown) => void>();
          void retry(steady, run, { ...withoutDelay(maxRetries), idempotent }).catch(rejectedWith);
          await vi.runAllTimersAsync();
          expect(thrown.length).toBeLessThanOrEqual(maxRetries + 1);
          expect(rejectedWith).toHaveBeenCalledOnce();
          expect(Object.is(rejectedWith.mock.lastCall?.[0], thrown.at(-1))).toBe(true);
          seen.add(thrown.length);
        },
      ),
      histories(seed, 400),
    );
    expect([...seen].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
