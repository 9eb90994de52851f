import { describe, expect, test } from 'vitest';
import {
  decide,
  type DecideContext,
  processedAtEnd,
  whyRetry,
} from '../../../src/core/policy/decide.ts';
import { type Failure, failures, isRefusal } from '../../../src/core/policy/outcome.ts';
import { type OperationFacts, type Policy, presets } from 'steadfetch';
import { answered, anOperation, brief, network, nowMs } from './samples.ts';

/** Decides with what the instance knows besides the failure. A backoff is 1000 ms, unless said otherwise. */
const decideIn = (
  context: Partial<DecideContext>,
  failure: Failure,
  operation: OperationFacts = anOperation(),
  policy: Partial<Policy> = {},
) =>
  decide(
    failure,
    operation,
    { ...presets.interactive, backoff: 'none', baseMs: 1000, factor: 1, ...policy },
    { nowMs, random: () => 0.5, ...context },
  );

const query = (more: Partial<Omit<OperationFacts, 'method'>> = {}): OperationFacts =>
  anOperation({ kind: 'query', ...more });

describe('a 429 that does not say for how long, after refusals alone', () => {
  const bare = answered(429, { processed: 'no' });
  const told = answered(429, { processed: 'no', retryAfterMs: 4000 });
  const often = (kind: OperationFacts['kind'], times: number): OperationFacts => {
    const retriedFor = Array.from({ length: times }, () => 'rate-limited' as const);
    return anOperation({ kind, method: 'POST', attempt: times + 1, trials: times, retriedFor });
  };

  test.each<[string, OperationFacts, limitedMs: number, Failure, ends: string]>([
    ['a mutation', often('mutation', 5), 6300, bare, 'stop: max-retries'],
    ['one that was refused less often', often('mutation', 4), 6300, bare, 'retry: rate-limited'],
    ['where others come through', often('mutation', 5), 525, bare, 'retry: rate-limited'],
    ['one that is told when', often('mutation', 5), 6300, told, 'retry: rate-limited'],
    ['a query', often('query', 5), 6300, bare, 'retry: rate-limited'],
    ['a loader, or an entry of an outbox', often('call', 5), 6300, bare, 'retry: rate-limited'],
  ])('%s', (_, operation, limitedMs, failure, ends) => {
    expect(brief(decideIn({ limitedMs }, failure, operation))).toBe(ends);
  });

  test('a mutation whose policy allows more retries', () => {
    const endOf = (times: number): string =>
      brief(decideIn({ limitedMs: 6300 }, bare, often('mutation', times), { maxRetries: 9 }));
    expect([8, 9].map(endOf)).toEqual(['retry: rate-limited', 'stop: max-retries']);
  });
});

describe('a rate limit that is known', () => {
  test.each<[limitedMs: number, failure: Failure, delayMs: number]>([
    // Its end is when it goes, as exactly as that is known.
    [500, answered(429), 500],
    [30_000, answered(429), 30_000],
    [500, answered(429, { retryAfterMs: 500 }), 500],
    // None is known.
    [0, answered(429), 1000],
    // Retry-After has jitter on top; a limit that lasts as long, or longer, has its own.
    [19_999, answered(429, { retryAfterMs: 20_000 }), 21_000],
    [20_000, answered(429, { retryAfterMs: 20_000 }), 20_000],
    [25_000, answered(429, { retryAfterMs: 20_000 }), 25_000],
    // Other failures wait for it only where they name a time themselves.
    [30_000, answered(503), 1000],
    [30_000, network, 1000],
    [19_999, answered(503, { retryAfterMs: 20_000 }), 21_000],
    [20_000, answered(503, { retryAfterMs: 20_000 }), 20_000],
    [25_000, answered(503, { retryAfterMs: 20_000 }), 25_000],
  ])('of %i ms more, after %j: a wait of %i ms', (limitedMs, failure, delayMs) => {
    expect(decideIn({ limitedMs }, failure)).toMatchObject({ kind: 'retry', delayMs });
  });

  test.each<
    [limitedMs: number, failure: Failure, policy: Partial<Policy>, reason: string, ms?: number]
  >([
    [60_001, answered(429), { maxRetryAfterMs: 60_000 }, 'retry-after', 60_001],
    [60_001, answered(429), { deadlineMs: 60_000, maxRetryAfterMs: 70_000 }, 'deadline', 60_001],
    [60_001, answered(429), { maxRetries: 0 }, 'max-retries'],
    [
      61_000,
      answered(429, { retryAfterMs: 60_500 }),
      { maxRetryAfterMs: 60_000 },
      'retry-after',
      60_500,
    ],
    [
      61_000,
      answered(429, { retryAfterMs: 60_500 }),
      { deadlineMs: 60_000, maxRetryAfterMs: 70_000 },
      'deadline',
      61_000,
    ],
    [50_000, answered(429, { retryAfterMs: 40_000 }), { maxRetries: 0 }, 'max-retries', 40_000],
    // That limit is not what this one waits for.
    [60_001, answered(503), { deadlineMs: 500 }, 'deadline'],
  ])('of %i ms more, after %j with %j: stop, %s', (limitedMs, failure, policy, reason, ms) => {
    expect(decideIn({ limitedMs }, failure, anOperation(), policy)).toEqual({
      kind: 'stop',
      reason,
      retryAt: ms === undefined ? undefined : nowMs + ms,
    });
  });

  test('does not end a query of another failure, whose wait is short', () => {
    const decision = decideIn({ limitedMs: 90_000 }, network, anOperation(), {
      maxRetryAfterMs: 60_000,
    });
    expect(decision).toMatchObject({ kind: 'retry', delayMs: 1000 });
  });
});

describe('while the endpoint is down', () => {
  test('no wait of its own comes before its pause', () => {
    expect(decideIn({ isDown: true }, network)).toMatchObject({ backoffMs: 1000, delayMs: 0 });
  });

  test('Retry-After is waited for', () => {
    const failure = answered(503, { retryAfterMs: 20_000 });
    expect(decideIn({ isDown: true }, failure)).toMatchObject({ delayMs: 21_000 });
  });
});

describe('where nothing pauses a query', () => {
  const full = { backoff: 'full', baseMs: 1000, factor: 2 } as const;
  const delayOf = (
    operation: OperationFacts,
    policy: Partial<Policy> = full,
    waitedMs?: number,
  ): unknown =>
    decideIn(
      { isUnpaused: true, ...(waitedMs !== undefined && { waitedMs }) },
      network,
      operation,
      policy,
    );

  test.each<[what: string, operation: OperationFacts, backoffMs: number, waitedMs?: number]>([
    ['its first retry', query(), 1025],
    ['its second retry', query({ attempt: 2 }), 2050, 1000],
    // 600 ms of the first are owed.
    ['a second retry after a fast one', query({ attempt: 2 }), 2665, 400],
    ['a second retry after one that was slow', query({ attempt: 2 }), 2050, 3000],
    ['a third retry after two fast ones', query({ attempt: 3 }), 6300, 800],
    ['a third retry after a pause', query({ attempt: 3, pausedMs: 2200 }), 4100, 800],
    // With full jitter, as always.
    ['another operation', anOperation(), 500],
  ])('%s waits as React Query does, and a little longer', (_, operation, backoffMs, waitedMs) => {
    expect(delayOf(operation, full, waitedMs)).toMatchObject({
      kind: 'retry',
      backoffMs,
      delayMs: backoffMs,
    });
  });

  test('another backoff of the app is as it says', () => {
    expect(delayOf(query(), { backoff: 'equal', baseMs: 1000, factor: 2 })).toMatchObject({
      delayMs: 750,
    });
  });
});

describe('what ends an operation, whatever it is', () => {
  test.each(['aborted', 'paused-too-long', 'expired', 'age-unknown', 'superseded'] as const)(
    '%s',
    (kind) => {
      const failure = { kind, processed: 'no', reason: 'offline', retryAt: undefined } as Failure;
      for (const shouldRetry of [undefined, () => true])
        expect(brief(decideIn({}, failure, anOperation(), { shouldRetry }))).toBe(`stop: ${kind}`);
    },
  );

  test.each<[context: Partial<DecideContext>, reason: string]>([
    [{ isUnrepeatable: true }, 'not-idempotent'],
    [{ isSuperseded: true }, 'superseded'],
  ])('%j: %s', (context, reason) => {
    expect(brief(decideIn(context, network))).toBe(`stop: ${reason}`);
  });

  test('an invalid request is never sent again', () => {
    const shouldRetry = (): boolean => true;
    const decision = decideIn({}, failures.invalid, anOperation(), { shouldRetry });
    expect(brief(decision)).toBe('stop: not-retryable');
  });

  test('shouldRetry is not asked about an abort', () => {
    const asked: unknown[] = [];
    const shouldRetry = (failure: Failure): boolean => !!asked.push(failure.kind);
    decideIn({}, failures.aborted, anOperation(), { shouldRetry });
    decideIn({}, network, anOperation(), { shouldRetry });
    expect(asked).toEqual(['network']);
  });
});

describe('shouldRetry, for a POST without a key', () => {
  const post = anOperation({ method: 'POST' });
  test.each<[failure: Failure, decision: string]>([
    [answered(408), 'retry: request-timeout'],
    [answered(503, { retryAfterMs: 1000 }), 'retry: unavailable'],
    [answered(418, { processed: 'no' }), 'retry: should-retry'],
    [answered(503), 'stop: not-idempotent'],
    [answered(502, { retryAfterMs: 1000 }), 'stop: not-idempotent'],
    [answered(500), 'stop: not-idempotent'],
    [network, 'stop: not-idempotent'],
  ])('%j: %s', (failure, decision) => {
    const shouldRetry = (): boolean => true;
    expect(brief(decideIn({}, failure, post, { shouldRetry }))).toBe(decision);
  });
});

test('a first attempt that was a probe has spent nothing, unless there are no retries at all', () => {
  const operation = anOperation({ attempt: 1, trials: 1 });
  expect(brief(decideIn({}, network, operation, { maxRetries: 0 }))).toBe('stop: max-retries');
  const second = { ...operation, attempt: 2 };
  expect(brief(decideIn({}, network, second, { maxRetries: 1 }))).toBe('retry: network');
});

test.each<[failure: Failure, reason: string | undefined]>([
  [network, 'network'],
  [{ kind: 'timeout', phase: 'body', processed: 'unknown' }, 'timeout'],
  [{ kind: 'body', status: 200, processed: 'yes' }, 'body'],
  [failures.error, 'error'],
  [failures.aborted, undefined],
  [failures.invalid, undefined],
])('%j passes by itself: %s', (failure, reason) => {
  expect(whyRetry(failure)).toBe(reason);
});

test.each<
  [processed: Failure['processed'], kind: OperationFacts['kind'], isUnknown: boolean, end: string]
>([
  ['no', 'query', false, 'no'],
  ['no', 'query', true, 'unknown'],
  ['yes', 'query', false, 'yes'],
  ['unknown', 'call', false, 'unknown'],
  ['yes', 'call', true, 'yes'],
  ['no', 'mutation', false, 'no'],
  ['no', 'mutation', true, 'unknown'],
  ['yes', 'mutation', false, 'no'],
  ['unknown', 'mutation', false, 'no'],
  ['unknown', 'mutation', true, 'unknown'],
])('the last failure says %s of a %s with doubts (%s): %s', (processed, kind, isUnknown, end) => {
  expect(processedAtEnd({ kind: 'network', processed }, { kind }, isUnknown)).toBe(end);
});

test.each<[failure: Failure, is: boolean]>([
  [answered(429), true],
  [{ ...answered(429), code: 'RATE' } as Failure, false],
  [answered(503), false],
  [{ kind: 'body', status: 429, processed: 'unknown' }, false],
  [network, false],
])('%j is a refusal for a limit: %s', (failure, is) => {
  expect(isRefusal(failure)).toBe(is);
});

test('the failures without a detail', () => {
  expect(failures).toEqual({
    network: { kind: 'network', processed: 'unknown' },
    aborted: { kind: 'aborted', processed: 'unknown' },
    invalid: { kind: 'invalid', processed: 'no' },
    error: { kind: 'error', processed: 'unknown' },
  });
});
