import { QueryClient } from '@tanstack/react-query';
import fc from 'fast-check';
import { createSteadfetch } from 'steadfetch';
import { seededRandom } from 'steadfetch/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { histories } from '../../setup/histories.ts';

// Named in every failure, and the same on every machine.
const seed = 20_611;

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) }));
afterEach(() => void vi.useRealTimers());

const shared = new Error('one object for all');
const frozen = Object.freeze(new Error('frozen'));
const response = (status: number, retryAfter?: string): Response =>
  new Response(null, { status, headers: retryAfter ? { 'retry-after': retryAfter } : {} });

/** What a queryFn may throw: new objects, objects that are thrown again and again, and no objects. */
const thrown: fc.Arbitrary<() => unknown> = fc.constantFrom<(() => unknown)[]>(
  () => shared,
  () => frozen,
  () => 'a string',
  () => undefined,
  () => new Error('a new one'),
  () => response(503),
  () => response(500),
  () => response(429, '1'),
  () => response(404),
);

/** How one query behaves: what its runs throw (each of them undefined for a success), and how long they take. */
const plan = fc.array(fc.record({ thrown, ms: fc.constantFrom(0, 0, 1, 700) }), { maxLength: 12 });

test('no sequence of failures makes more attempts than the policy allows, or fewer waits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 4 }),
      fc.nat(4),
      fc.constantFrom('full', 'equal', 'decorrelated', 'proportional', 'none'),
      async (plans, maxRetries, backoff) => {
        const policy = { maxRetries, backoff, deadlineMs: 30_000 } as const;
        const steady = createSteadfetch({ policy, random: seededRandom(seed) });
        const client = new QueryClient({ defaultOptions: steady.defaultOptions });
        const runs = plans.map((): number[] => []);
        const fetches = plans.map((steps, index) =>
          client.fetchQuery({
            queryKey: [index],
            queryFn: async () => {
              const step = steps[(runs[index]?.push(Date.now()) ?? 0) - 1];
              if (!step) return 'fine';
              if (step.ms > 0) await new Promise((resolve) => setTimeout(resolve, step.ms));
              throw step.thrown();
            },
          }),
        );
        const settled = Promise.allSettled(fetches);
        await vi.advanceTimersByTimeAsync(200_000);
        await settled;
        for (const [index, times] of runs.entries()) {
          expect(times.length).toBeLessThanOrEqual(maxRetries + 1);
          expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThanOrEqual(30_000);
          const state = client.getQueryState([index]);
          expect(state?.fetchStatus).toBe('idle');
          expect(state?.status).not.toBe('pending');
        }
        client.clear();
      },
    ),
    histories(seed, 150),
  );
});

test('batched queries that share every failure have the attempts that the policy allows, each', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 6 }),
      fc.nat(4),
      thrown,
      async (count, maxRetries, fail) => {
        const steady = createSteadfetch({ policy: { maxRetries, backoff: 'none', factor: 1 } });
        const client = new QueryClient({ defaultOptions: steady.defaultOptions });
        const batches = new Map<number, Promise<never>>();
        const runs = Array.from({ length: count }, () => 0);
        const fetches = runs.map((_, index) =>
          client.fetchQuery({
            queryKey: [index],
            queryFn: () => {
              runs[index] = (runs[index] ?? 0) + 1;
              const batch = batches.get(Date.now()) ?? Promise.reject(fail());
              batches.set(Date.now(), batch);
              return batch;
            },
          }),
        );
        const settled = Promise.allSettled(fetches);
        await vi.advanceTimersByTimeAsync(200_000);
        await settled;
        // All share one fate, so all have the same number of attempts.
        expect(new Set(runs).size).toBe(1);
        expect(runs[0]).toBeLessThanOrEqual(maxRetries + 1);
        client.clear();
      },
    ),
    histories(seed, 100),
  );
});
