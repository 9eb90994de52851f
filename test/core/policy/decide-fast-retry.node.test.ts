import {
  decide,
  type DecideContext,
  type Failure,
  type OperationFacts,
  type PolicyOptions,
  presets,
} from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { layer } from '../../../src/core/policy/options.ts';
import { failures } from '../../../src/core/policy/outcome.ts';
import { anOperation, nowMs } from './samples.ts';

const http = (status: number, retryAfterMs?: number): Failure => ({
  kind: 'http',
  status,
  retryAfterMs,
  inProgress: false,
  processed: 'unknown',
});
const alone = { nowMs, random: () => 0.5, isAlone: true };

/** The wait before the next attempt, or why there is none. */
function waitOf(
  failure: Failure,
  {
    operation = anOperation(),
    policy,
    context = alone,
  }: { operation?: OperationFacts; policy?: PolicyOptions; context?: DecideContext } = {},
): number | string {
  const decision = decide(failure, operation, layer(presets.interactive, policy), context);
  return decision.kind === 'retry' ? decision.delayMs : decision.reason;
}

describe('a failure that stands alone', () => {
  test.each<[what: string, failure: Failure, waitMs: number]>([
    ['without an answer', failures.network, 25],
    ...[502, 503, 504, 520, 521, 522, 523, 524, 530].map((status): [string, Failure, number] => [
      `that is a ${status}`,
      http(status),
      25,
    ]),
    ['that is a 529: the server is overloaded', http(529), 500],
    ['that is a 500: it may be an error that stays', http(500), 500],
    ['that is a 511: the network is not there yet', http(511), 500],
    ['that is a 408', http(408), 500],
    ['that is a 425', http(425), 500],
    ['that is a 429', http(429), 500],
    ['with a Retry-After', http(503, 2000), 2100],
    ['with a Retry-After of no time at all', http(503, 0), 500],
    ['by a time-out', { kind: 'timeout', phase: 'headers', processed: 'unknown' }, 500],
    ['within its body', { kind: 'body', status: 200, processed: 'yes' }, 500],
    ['of another kind', failures.error, 500],
  ])('%s', (_what, failure, waitMs) => {
    expect(waitOf(failure)).toBe(waitMs);
    expect(waitOf(failure, { context: { ...alone, isAlone: false } })).toBe(
      waitMs === 25 ? 500 : waitMs,
    );
  });
});

test('only the first retry of an operation is fast', () => {
  const second = anOperation({ attempt: 2, retriedFor: ['network'], previousBackoffMs: 25 });
  expect(waitOf(failures.network, { operation: second })).toBe(1000);
  const decorrelated = { policy: { backoff: 'decorrelated' }, operation: second } as const;
  expect(waitOf(failures.network, decorrelated)).toBe(1000);
});

test('it is one of `maxRetries`, within the deadline, and not of what must not be sent twice', () => {
  expect(waitOf(failures.network, { policy: { maxRetries: 0 } })).toBe('max-retries');
  expect(waitOf(failures.network, { policy: { deadlineMs: 24 } })).toBe('deadline');
  expect(waitOf(failures.network, { policy: { deadlineMs: 25 } })).toBe(25);
  const post = anOperation({ method: 'POST' });
  expect(waitOf(failures.network, { operation: post })).toBe('not-idempotent');
  const keyed = anOperation({ method: 'POST', keyed: true });
  expect(waitOf(failures.network, { operation: keyed })).toBe(25);
});

test.each<[policy: PolicyOptions, waitMs: number]>([
  [{ backoff: 'none' }, 50],
  [{ backoff: 'equal' }, 37],
  [{ backoff: 'proportional' }, 50],
  [{ backoff: 'decorrelated' }, 100],
  [{ fastRetryMs: 0 }, 0],
  [{ fastRetryMs: 200 }, 100],
  [{ fastRetryMs: 5000 }, 500],
  [{ fastRetryMs: Infinity }, 500],
  [{ baseMs: 20 }, 10],
  [{ baseMs: 0 }, 0],
  [{ baseMs: 20_000, capMs: 20_000 }, 25],
  [{ preset: 'critical' }, 25],
  [{ preset: 'background' }, 30_000],
  [{ preset: 'background', fastRetryMs: 50 }, 37],
])('with the policy %j it goes after %d ms', (policy, waitMs) => {
  expect(waitOf(failures.network, { policy })).toBe(waitMs);
});

test('the wait is drawn from 0 to 50 ms', () => {
  const waits = [0, 0.2, 0.5, 0.999].map((draw) =>
    waitOf(failures.network, { context: { ...alone, random: () => draw } }),
  );
  expect(waits).toEqual([0, 10, 25, 49]);
});

/** The waits before four retries of a query that nothing pauses, whose first retry went after `firstMs`. */
function unpausedWaits(firstMs: number, policy: PolicyOptions): (number | string)[] {
  const waits: (number | string)[] = [firstMs];
  for (const attempt of [2, 3, 4]) {
    const waitedMs = waits.reduce<number>((sum, ms) => sum + Number(ms), 0);
    waits.push(
      waitOf(failures.network, {
        operation: anOperation({
          kind: 'query',
          attempt,
          retriedFor: Array.from({ length: attempt - 1 }, () => 'network' as const),
        }),
        policy: { maxRetries: 9, deadlineMs: 900_000, ...policy },
        context: { nowMs, random: () => 0, isUnpaused: true, waitedMs },
      }),
    );
  }
  return waits;
}

test.each<[what: string, firstMs: number, policy: PolicyOptions, waits: number[]]>([
  ['a fast retry', 25, {}, [25, 2975, 4000, 8000]],
  ['a drawn wait', 400, {}, [400, 2600, 4000, 8000]],
  ['a wait as long as React Query’s own', 1000, {}, [1000, 2000, 4000, 8000]],
  ['a longer one', 1050, {}, [1050, 2000, 4000, 8000]],
  ['a fast retry, where waits do not grow', 25, { factor: 1 }, [25, 1975, 1000, 1000]],
  ['a fast retry, up to a cap', 25, { capMs: 2000 }, [25, 2975, 2000, 2000]],
])(
  'after %s, a query that nothing pauses is asked no earlier than by React Query alone',
  (_what, firstMs, policy, waits) => {
    expect(unpausedWaits(firstMs, policy)).toEqual(waits);
  },
);
