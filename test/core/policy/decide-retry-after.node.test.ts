import { describe, expect, test } from 'vitest';
import {
  almostOne,
  answered,
  anOperation,
  brief,
  decideOn,
  decisionsOn,
  network,
  nowMs,
} from './samples.ts';

const delayOn = (retryAfterMs: number, u: number, baseMs = 1000): number | undefined => {
  const policy = { baseMs, capMs: 30_000, maxRetryAfterMs: 60_000, deadlineMs: Infinity };
  const decision = decideOn(answered(503, { retryAfterMs }), anOperation(), { policy, u });
  return decision.kind === 'retry' ? decision.delayMs : undefined;
};

test.each([
  [0, 10_000],
  [0.4, 10_400],
  [0.5, 10_500],
  [0.6, 10_600],
  [almostOne, 11_000],
])('with a draw of %f, a Retry-After of 10 s is waited for %i ms', (u, delayMs) => {
  expect(delayOn(10_000, u)).toBe(delayMs);
});

test('the wait is the longer of backoff and Retry-After, never their sum', () => {
  // A first full-jitter step of 20 s at a draw of 0.5 is 10 s.
  expect(delayOn(0, 0.5, 20_000)).toBe(10_000);
  expect(delayOn(5000, 0.5, 20_000)).toBe(10_000);
  expect(delayOn(9000, 0.5, 20_000)).toBe(10_000);
  expect(delayOn(10_000, 0.5, 20_000)).toBe(10_500);
});

test('a Retry-After of 0 leaves the backoff', () => {
  expect(delayOn(0, 0.5)).toBe(500);
});

test.each([1, 2, 3, 7, 999, 1001, 59_999])(
  'jitter never goes below a Retry-After of %i ms, nor above 1.1 times it',
  (retryAfterMs) => {
    for (const u of [0, Number.EPSILON, 0.1, 0.5, 0.9, almostOne]) {
      const delayMs = delayOn(retryAfterMs, u, 0);
      expect(delayMs).toBeGreaterThanOrEqual(retryAfterMs);
      expect(delayMs).toBeLessThanOrEqual(retryAfterMs * 1.1);
    }
  },
);

test('it may be longer than the cap of the backoff', () => {
  expect(delayOn(60_000, 0)).toBe(60_000);
});

describe('maxRetryAfterMs', () => {
  test('a Retry-After of exactly that long is waited for, with its jitter on top', () => {
    expect(delayOn(60_000, 0.5)).toBe(63_000);
  });

  test('one millisecond over it stops, with the time at which the server would have us back', () => {
    const decision = decideOn(answered(503, { retryAfterMs: 60_001 }));
    expect(decision).toEqual({ kind: 'stop', reason: 'retry-after', retryAt: nowMs + 60_001 });
  });

  test('is 60 s by default', () => {
    const seconds = (retryAfterMs: number): string =>
      brief(decideOn(answered(429, { retryAfterMs }), anOperation(), { u: 0 }));
    expect(seconds(60_000)).toBe('retry: rate-limited');
    expect(seconds(61_000)).toBe('stop: retry-after');
  });

  test.each([408, 413, 425, 429, 500, 502, 503, 504])('stops after a %i too', (status) => {
    expect(brief(decideOn(answered(status, { retryAfterMs: 61_000 })))).toBe('stop: retry-after');
  });

  test('of 0 allows no wait at all', () => {
    const policy = { maxRetryAfterMs: 0 };
    const decided = (retryAfterMs: number): string =>
      brief(decideOn(answered(503, { retryAfterMs }), anOperation(), { policy }));
    expect(decided(0)).toBe('retry: unavailable');
    expect(decided(1)).toBe('stop: retry-after');
  });

  test('stops after the longest Retry-After that there is', () => {
    const decision = decideOn(answered(503, { retryAfterMs: 1e15 }));
    expect(decision).toEqual({ kind: 'stop', reason: 'retry-after', retryAt: nowMs + 1e15 });
  });

  test('says nothing about a status that is not retried', () => {
    const decision = decideOn(answered(404, { retryAfterMs: 61_000 }));
    expect(decision).toEqual({ kind: 'stop', reason: 'not-retryable', retryAt: nowMs + 61_000 });
  });
});

test('a Retry-After does not make the backoff of later retries any longer', () => {
  const policy = { backoff: 'decorrelated' } as const;
  const asked = answered(503, { retryAfterMs: 20_000 });
  const decisions = decisionsOn([network, asked, network], anOperation(), { policy, u: 0.5 });
  expect(decisions).toMatchObject([
    { backoffMs: 2000, delayMs: 2000 },
    { backoffMs: 3500, delayMs: 21_000 },
    { backoffMs: 5750, delayMs: 5750 },
  ]);
});
