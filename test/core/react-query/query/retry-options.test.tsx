import { useQuery } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import fc from 'fast-check';
import { createSteadfetch, type HttpError } from 'steadfetch';
import { seededRandom } from 'steadfetch/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createRig } from '../rig.tsx';

const maxTimerMs = 2 ** 31 - 1;
const seed = 20_501;

// Asked without a query behind it, the pair of queries warns that its persister is missing.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));

function pairs() {
  const steady = createSteadfetch({ random: seededRandom(seed) });
  const { queries, mutations } = steady.defaultOptions;
  return { queries, mutations };
}

function response(status: number): Error {
  return Object.assign(new Error('failed'), {
    config: { method: 'get' },
    response: { status, headers: {} },
  });
}

describe.each(['queries', 'mutations'] as const)('the pair of %s', (kind) => {
  test('gives the same answers however often and in whatever order it is asked', () => {
    for (const status of [500, 503, 404, 429]) {
      for (const order of [['retry', 'retryDelay'] as const, ['retryDelay', 'retry'] as const]) {
        const pair = pairs()[kind];
        const error = response(status);
        const first = { retry: pair.retry(0, error), retryDelay: pair.retryDelay(0, error) };
        for (let time = 0; time < 3; time++) {
          for (const name of order) expect(pair[name](0, error)).toBe(first[name]);
        }
      }
    }
  });

  test('asking about other failures in between changes no answer', () => {
    const pair = pairs()[kind];
    const errors = [response(503), response(404), response(429), new Error('unknown')];
    const answers = errors.map((error) => [pair.retryDelay(0, error), pair.retry(0, error)]);
    for (const [index, error] of errors.toReversed().entries()) {
      const [delay, verdict] = answers.toReversed()[index] ?? [];
      expect(pair.retry(0, error)).toBe(verdict);
      expect(pair.retryDelay(0, error)).toBe(delay);
    }
  });

  test('asking about a later failure of the same Error is a new decision', () => {
    const pair = pairs()[kind];
    const error = response(503);
    const delays = [0, 1, 2].map((count) => {
      const delayMs = pair.retryDelay(count, error);
      // Of the same failure, it is the same.
      expect(pair.retryDelay(count, error)).toBe(delayMs);
      return delayMs;
    });
    expect(new Set(delays).size).toBe(3);
    expect([0, 1, 2, 3, 4].map((count) => pair.retry(count, error))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

const hostile: [string, () => unknown][] = [
  ['a frozen Error', () => Object.freeze(new Error('frozen'))],
  ['an object without prototype', () => Object.create(null) as unknown],
  [
    'a revoked Proxy',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
  ],
  [
    'a Proxy whose every trap throws',
    () => {
      const trap = (): never => {
        throw new Error('trap');
      };
      return new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap });
    },
  ],
  [
    'getters that throw',
    () => ({
      get response(): never {
        throw new Error('getter');
      },
      get status(): never {
        throw new Error('getter');
      },
    }),
  ],
  [
    'headers that throw',
    () => ({
      status: 503,
      headers: {
        get: () => {
          throw new Error('headers');
        },
      },
    }),
  ],
  ['a status that is an object', () => ({ response: { status: {}, headers: {} } })],
  ['a status of NaN', () => ({ status: NaN, headers: new Headers() })],
  ['a status of Infinity', () => ({ status: Infinity, headers: new Headers() })],
  [
    'a huge Retry-After',
    () => new Response(null, { status: 503, headers: { 'retry-after': '9'.repeat(400) } }),
  ],
  ['a method that is no string', () => ({ config: { method: { toUpperCase: 1 } } })],
  [
    'a cycle',
    () => {
      const error: { response?: unknown } = {};
      error.response = error;
      return error;
    },
  ],
];

describe.each(hostile)('%s', (name, make) => {
  test.each(['queries', 'mutations'] as const)(
    'the pair of %s does not throw, and its delay fits a timer',
    (kind) => {
      const pair = pairs()[kind];
      const error = make();
      const delay = pair.retryDelay(0, error);
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThanOrEqual(maxTimerMs);
      expect(pair.retry(0, error)).toBeTypeOf('boolean');
      expect(pair.retryDelay(0, error)).toBe(delay);
    },
  );

  // React Query itself asks `instanceof`, and hangs on these two, with or without Steadfetch.
  test.skipIf(name.includes('Proxy'))(
    'a query that throws it ends, and is no hot loop',
    async () => {
      const rig = createRig();
      let runs = 0;
      function It() {
        const { status } = useQuery({
          queryKey: ['it'],
          queryFn: () => {
            runs++;
            throw make();
          },
        });
        return <p>{status}</p>;
      }
      rig.show(<It />);
      await rig.time.advance(200_000);
      expect(screen.getByText('error')).toBeDefined();
      expect(runs).toBeLessThanOrEqual(4);
    },
  );
});

test('any value at any count: no throw, a boolean, and a finite delay within a timer', () => {
  fc.assert(
    fc.property(fc.anything(), fc.nat(1000), fc.boolean(), (error, failureCount, ofQuery) => {
      const { queries, mutations } = pairs();
      const pair = ofQuery ? queries : mutations;
      const delay = pair.retryDelay(failureCount, error);
      expect(delay >= 0 && delay <= maxTimerMs).toBe(true);
      expect(pair.retry(failureCount, error)).toBeTypeOf('boolean');
    }),
    { seed },
  );
});

test('a frozen HttpError is retried like any other', async () => {
  const rig = createRig();
  rig.server.plan('/a', 503, 503, { body: 'A' });
  const result = rig.client.fetchQuery({
    queryKey: ['it'],
    queryFn: async () => {
      try {
        return await rig.steady.json<string>('/a');
      } catch (error) {
        // It stays the HttpError that it is.
        throw Object.freeze(error) as HttpError;
      }
    },
  });
  result.catch(() => {});
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 500, 1500]);
  expect(await result).toBe('A');
});
