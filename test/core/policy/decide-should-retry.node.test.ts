import type { Failure, OperationFacts, ShouldRetry } from 'steadfetch';
import { describe, expect, test, vi } from 'vitest';
import { answered, anOperation, brief, decideOn, network, nowMs, operations } from './samples.ts';

const decided = (
  shouldRetry: ShouldRetry,
  failure: Failure,
  operation: OperationFacts | undefined = anOperation(),
): string => brief(decideOn(failure, operation, { policy: { shouldRetry } }));

const broken: Failure = { kind: 'body', status: 200, processed: 'yes' };
const late: Failure = { kind: 'timeout', phase: 'headers', processed: 'unknown' };
const aborted: Failure = { kind: 'aborted', processed: 'unknown' };
const unsendable: Failure = { kind: 'invalid', processed: 'no' };
const unknown: Failure = { kind: 'error', processed: 'unknown' };

test('it is asked once about each failure, with the failure and the operation', () => {
  const shouldRetry = vi.fn<ShouldRetry>(() => undefined);
  const failure = answered(404);
  const operation = anOperation({ method: 'PUT', attempt: 2 });
  decided(shouldRetry, failure, operation);
  expect(shouldRetry.mock.calls).toEqual([[failure, operation]]);
});

describe('true', () => {
  const yes = (): boolean => true;

  test.each([400, 401, 403, 404, 409, 410, 412, 413, 421, 422, 501, 505])(
    'sends a GET again after %i, which the table would not',
    (status) => expect(decided(yes, answered(status))).toBe('retry: should-retry'),
  );

  test.each(['PUT', 'DELETE', 'POST with key', 'PATCH with key', 'PURGE with key'])(
    '%s is sent again too: repeating it does no harm',
    (name) => {
      for (const failure of [answered(404), network, late, broken, unknown])
        expect(decided(yes, failure, operations[name])).toMatch(/^retry/);
    },
  );

  const sevens = Array.from({ length: 7 }, () => 'internal-error' as const);

  test.each([500, 425])('sends again after as many %i as the table allows', (status) => {
    const operation = anOperation({ attempt: 3, retriedFor: [...sevens, 'too-early'] });
    expect(decided(() => undefined, answered(status), operation)).toBe('stop: max-retries');
    expect(decided(yes, answered(status), operation)).toMatch(/^retry/);
  });

  test('leaves the wait as it is: backoff, or Retry-After where that is longer', () => {
    const policy = { shouldRetry: yes };
    const retryAfterMs = 20_000;
    expect(decideOn(answered(403), anOperation(), { policy })).toMatchObject({ delayMs: 500 });
    expect(decideOn(answered(403, { retryAfterMs }), anOperation(), { policy })).toMatchObject({
      delayMs: 21_000,
    });
  });

  test("never overrides the caller's abort: it is not even asked", () => {
    const shouldRetry = vi.fn<ShouldRetry>(yes);
    for (const operation of Object.values(operations))
      expect(decided(shouldRetry, aborted, operation)).toBe('stop: aborted');
    expect(shouldRetry).not.toHaveBeenCalled();
  });

  test('never sends what cannot be sent', () => {
    expect(decided(yes, unsendable)).toBe('stop: not-retryable');
  });

  test('never goes over maxRetries', () => {
    const policy = { shouldRetry: yes, maxRetries: 2 };
    expect(decideOn(answered(503), anOperation({ attempt: 2 }), { policy }).kind).toBe('retry');
    expect(brief(decideOn(answered(503), anOperation({ attempt: 3 }), { policy }))).toBe(
      'stop: max-retries',
    );
  });

  test('never goes over the deadline', () => {
    const policy = { shouldRetry: yes, deadlineMs: 499 };
    expect(brief(decideOn(answered(503), anOperation(), { policy }))).toBe('stop: deadline');
  });

  test('never waits for a Retry-After over maxRetryAfterMs, and never goes before it', () => {
    const policy = { shouldRetry: yes, maxRetryAfterMs: 10_000 };
    const decision = decideOn(answered(503, { retryAfterMs: 10_001 }), anOperation(), { policy });
    expect(decision).toEqual({ kind: 'stop', reason: 'retry-after', retryAt: nowMs + 10_001 });
  });
});

describe.each(['POST', 'PATCH', 'PURGE'])('true, for %s without a key', (name) => {
  const yes = (failure: Failure): string => decided(() => true, failure, operations[name]);

  test.each([
    ['408', answered(408)],
    ['408 with Retry-After', answered(408, { retryAfterMs: 1000 })],
    ['503 with Retry-After', answered(503, { retryAfterMs: 1000 })],
  ])('opts in to %s', (_, failure) => {
    expect(yes(failure)).toMatch(/^retry/);
  });

  test.each([400, 403, 404, 409, 413, 422, 425, 429])(
    'opts in to %i: the server says that it did not do it',
    (status) => expect(yes(answered(status, { processed: 'no' }))).toMatch(/^retry/),
  );

  test.each([500, 502, 503, 504])('never sends it again after a bare %i', (status) => {
    expect(yes(answered(status))).toBe('stop: not-idempotent');
  });

  test.each([500, 502, 504])('nor after a %i with Retry-After', (status) => {
    expect(yes(answered(status, { retryAfterMs: 1000 }))).toBe('stop: not-idempotent');
  });

  test.each([
    ['no answer', network],
    ['our time-out', late],
    ['an unknown error', unknown],
    ['a 409 that says "still running"', answered(409, { inProgress: true })],
  ])('nor after %s', (_, failure) => {
    expect(yes(failure)).toBe('stop: not-idempotent');
  });

  test.each([
    ['whose body fails', broken],
    ['whose body is late', { kind: 'timeout', phase: 'body', processed: 'yes' }],
  ] as const)('nor after a 2xx answer %s', (_, failure) => {
    expect(yes(failure)).toBe('stop: processed');
  });
});

describe('false', () => {
  test.each([
    ['a 503', answered(503)],
    ['a 429', answered(429)],
    ['a 404', answered(404)],
    ['no answer', network],
    ['our time-out', late],
    ['a broken body', broken],
    ['an unknown error', unknown],
  ])('stops after %s', (_, failure) => {
    for (const operation of Object.values(operations))
      expect(decided(() => false, failure, operation)).toBe('stop: should-retry');
  });

  test('still says when the server would have us back', () => {
    const policy = { shouldRetry: () => false };
    const decision = decideOn(answered(503, { retryAfterMs: 1000 }), anOperation(), { policy });
    expect(decision).toEqual({ kind: 'stop', reason: 'should-retry', retryAt: nowMs + 1000 });
  });
});

describe.each<[string, () => unknown]>([
  ['undefined', () => undefined],
  ['null', () => null],
  ['a promise of true', () => Promise.resolve(true)],
  ['a promise of false', () => Promise.resolve(false)],
  ['the string "true"', () => 'true'],
  ['0', () => 0],
  ['1', () => 1],
  ['an object', () => ({ retry: true })],
  [
    'nothing, for it throws',
    () => {
      throw new Error('my own mistake');
    },
  ],
])('what returns %s', (_, answer) => {
  const shouldRetry = answer as ShouldRetry;

  test('leaves it to the table', () => {
    expect(decided(shouldRetry, answered(503))).toBe('retry: unavailable');
    expect(decided(shouldRetry, answered(404))).toBe('stop: not-retryable');
    expect(decided(shouldRetry, network, operations['POST'])).toBe('stop: not-idempotent');
    expect(decided(shouldRetry, answered(429), operations['POST'])).toBe('retry: rate-limited');
  });
});
