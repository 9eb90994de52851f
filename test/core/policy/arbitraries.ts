import fc from 'fast-check';
import {
  createSteadfetch,
  type Failure,
  type OperationFacts,
  type Policy,
  type PolicyOptions,
  type RetryReason,
} from 'steadfetch';
import { methods } from './samples.ts';

const timerMaxMs = 2_147_483_647;

/** Any time that Date can hold. */
export const anyTimeMs: fc.Arbitrary<number> = fc.integer({ min: -8.64e15, max: 8.64e15 });

/** How long ago an operation began; a clock may have been set back meanwhile. */
export const anyElapsedMs: fc.Arbitrary<number> = fc.oneof(
  fc.nat({ max: 120_000 }),
  fc.integer({ min: -1e12, max: 1e12 }),
);

/** Any number in [0, 1), its ends more often than by chance. */
export const anyDraw: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, 0.9999999999999999),
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
);

const anyRetryAfterMs = fc.option(
  fc.oneof(fc.integer({ min: 0, max: 120_000 }), fc.integer({ min: 0, max: 1e15 })),
  { nil: undefined, freq: 2 },
);

const anyProcessed = fc.constantFrom('no', 'yes', 'unknown');

const anyAnswer = fc.record({
  kind: fc.constant('http' as const),
  status: fc.oneof(
    fc.constantFrom(408, 413, 425, 429, 500, 503),
    fc.constantFrom(425, 500),
    fc.integer({ min: 300, max: 999 }),
  ),
  retryAfterMs: anyRetryAfterMs,
  inProgress: fc.oneof(fc.constant(false), fc.boolean()),
  shouldRetry: fc.constantFrom(undefined, undefined, true, false),
  processed: anyProcessed,
});

export const anyFailure: fc.Arbitrary<Failure> = fc.oneof(
  { weight: 6, arbitrary: anyAnswer },
  fc.constant({ kind: 'network' as const, processed: 'unknown' as const }),
  fc.record({
    kind: fc.constant('timeout' as const),
    phase: fc.constantFrom('headers', 'body'),
    processed: anyProcessed,
  }),
  fc.record({
    kind: fc.constant('body' as const),
    status: fc.integer({ min: 200, max: 299 }),
    processed: fc.constant('yes' as const),
  }),
  fc.constant({ kind: 'aborted' as const, processed: 'unknown' as const }),
  fc.constant({ kind: 'invalid' as const, processed: 'no' as const }),
  fc.constant({ kind: 'expired' as const, processed: 'unknown' as const }),
  fc.constant({ kind: 'error' as const, processed: 'unknown' as const }),
);

const reasons: readonly RetryReason[] = [
  'network',
  'too-early',
  'unavailable',
  'internal-error',
  'should-retry',
];

export const anyOperation: fc.Arbitrary<OperationFacts> = fc.record({
  id: fc.nat(),
  kind: fc.constantFrom('query', 'mutation', 'call'),
  method: fc.oneof(fc.constantFrom(...Object.keys(methods)), fc.string()),
  url: fc.option(fc.webUrl(), { nil: undefined }),
  attempt: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2 ** 31 })),
  startedAt: anyTimeMs,
  pausedMs: fc.oneof(fc.constant(0), fc.nat()),
  keyed: fc.boolean(),
  idempotent: fc.boolean(),
  retriedFor: fc.array(fc.constantFrom(...reasons), { maxLength: 4 }),
  previousBackoffMs: fc.option(fc.integer({ min: 0, max: timerMaxMs }), { nil: undefined }),
});

const throwing = (): never => {
  throw new Error('a mistake of the app');
};

/** Answers of `shouldRetry`, the forbidden ones included. */
const anyShouldRetry = fc.oneof(
  fc.constantFrom(undefined, throwing),
  fc
    .oneof(fc.boolean(), fc.constant(undefined), fc.anything())
    .map((answer) => () => answer as boolean | undefined),
  fc.constant(() => Promise.resolve(true) as unknown as boolean),
);

const orInfinity = (numbers: fc.Arbitrary<number>): fc.Arbitrary<number> =>
  fc.oneof(numbers, fc.constant(Infinity));

const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });

/** Options that pass validation: the base is never above the cap. */
export const anyPolicyOptions: fc.Arbitrary<PolicyOptions> = fc
  .record({
    preset: maybe(fc.constantFrom('interactive', 'background', 'critical')),
    backoff: maybe(fc.constantFrom('full', 'equal', 'decorrelated', 'proportional', 'none')),
    steps: fc.tuple(
      fc.oneof(fc.nat({ max: 5000 }), fc.nat({ max: timerMaxMs })),
      fc.oneof(fc.nat({ max: 5000 }), fc.nat({ max: timerMaxMs })),
    ),
    factor: maybe(fc.double({ min: 1, max: 100, noNaN: true })),
    maxRetries: maybe(orInfinity(fc.oneof(fc.nat({ max: 12 }), fc.nat({ max: 1000 })))),
    deadlineMs: maybe(orInfinity(fc.maxSafeNat())),
    timeout: maybe(orInfinity(fc.integer({ min: 1, max: timerMaxMs }))),
    uploadBytesPerSecond: maybe(fc.integer({ min: 1 })),
    maxRetryAfterMs: maybe(fc.oneof(fc.nat({ max: 120_000 }), fc.nat({ max: 1_789_569_705 }))),
    shouldRetry: anyShouldRetry,
  })
  .map(({ steps: [a, b], ...rest }) => ({
    ...rest,
    baseMs: Math.min(a, b),
    capMs: Math.max(a, b),
  }));

/** Any policy that an app can define. */
export const anyPolicy: fc.Arbitrary<Policy> = anyPolicyOptions.map(
  (policy) => createSteadfetch({ policy }).policy,
);
