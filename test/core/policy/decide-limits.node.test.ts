import { describe, expect, test } from 'vitest';
import { answered, anOperation, brief, decideOn, decisionsOn, network, nowMs } from './samples.ts';

/** A first backoff of exactly 1000 ms, whatever the draw. */
const oneSecond = { backoff: 'none', baseMs: 1000, factor: 1 } as const;

describe('maxRetries', () => {
  test.each([0, 1, 2, 3, 10])('%i allows so many retries after the first attempt', (maxRetries) => {
    const policy = { ...oneSecond, maxRetries, deadlineMs: Infinity };
    const decisions = decisionsOn(Array(20).fill(network), anOperation(), { policy });
    expect(decisions.map(brief)).toEqual([
      ...Array<string>(maxRetries).fill('retry: network'),
      'stop: max-retries',
    ]);
  });

  test('Infinity allows them without end', () => {
    const policy = { ...oneSecond, maxRetries: Infinity, deadlineMs: Infinity };
    const operation = anOperation({ attempt: 1_000_000 });
    expect(brief(decideOn(network, operation, { policy }))).toBe('retry: network');
  });

  test('a stop on it still says when the server would have us back', () => {
    const failure = answered(503, { retryAfterMs: 30_000 });
    const decision = decideOn(failure, anOperation({ attempt: 4 }));
    expect(decision).toEqual({ kind: 'stop', reason: 'max-retries', retryAt: nowMs + 30_000 });
  });

  test('what is never sent again says so rather than that there are no more retries', () => {
    expect(brief(decideOn(answered(404), anOperation({ attempt: 4 })))).toBe('stop: not-retryable');
  });
});

describe('deadlineMs', () => {
  test.each([
    ['query', 1, 90_000, 'retry: network'],
    ['query', 3, 90_000, 'retry: network'],
    ['query', 1, 120_000, 'retry: network'],
    ['query', 4, 90_000, 'stop: deadline'],
    ['query', 1, 89_999, 'stop: deadline'],
    ['mutation', 1, 90_000, 'stop: deadline'],
    ['call', 1, 90_000, 'stop: deadline'],
  ] as const)(
    'long after it, attempt %2$i of a %1$s with %3$i ms: %4$s',
    (kind, attempt, deadlineMs, decision) => {
      const policy = { ...oneSecond, deadlineMs, maxRetries: 10 };
      const operation = anOperation({ kind, attempt, startedAt: nowMs - 10_000_000 });
      expect(brief(decideOn(network, operation, { policy }))).toBe(decision);
    },
  );

  test('a wait that ends exactly at the deadline is allowed', () => {
    const policy = { ...oneSecond, deadlineMs: 1000 };
    expect(decideOn(network, anOperation(), { policy })).toMatchObject({
      kind: 'retry',
      retryAt: nowMs + 1000,
    });
  });

  test('a wait that ends one millisecond after it stops at once', () => {
    const policy = { ...oneSecond, deadlineMs: 999 };
    expect(brief(decideOn(network, anOperation(), { policy }))).toBe('stop: deadline');
  });

  test("counts from the operation's start, not from the attempt's", () => {
    const policy = { ...oneSecond, deadlineMs: 10_000 };
    const startedAt = nowMs - 9000;
    expect(brief(decideOn(network, anOperation({ startedAt }), { policy }))).toBe('retry: network');
    const earlier = anOperation({ startedAt: startedAt - 1 });
    expect(brief(decideOn(network, earlier, { policy }))).toBe('stop: deadline');
  });

  test('does not count the time that the operation was paused', () => {
    const policy = { ...oneSecond, deadlineMs: 10_000 };
    const held = { startedAt: nowMs - 69_000, pausedMs: 60_000 };
    expect(brief(decideOn(network, anOperation(held), { policy }))).toBe('retry: network');
    const pausedLess = anOperation({ ...held, pausedMs: 59_999 });
    expect(brief(decideOn(network, pausedLess, { policy }))).toBe('stop: deadline');
  });

  test('of 0 allows a retry without a wait only', () => {
    const policy = { ...oneSecond, deadlineMs: 0 };
    const noWait = { ...policy, baseMs: 0 };
    expect(brief(decideOn(network, anOperation(), { policy }))).toBe('stop: deadline');
    expect(brief(decideOn(network, anOperation(), { policy: noWait }))).toBe('retry: network');
  });

  test('of Infinity never stops anything', () => {
    const policy = { ...oneSecond, deadlineMs: Infinity };
    const operation = anOperation({ startedAt: 0 });
    expect(brief(decideOn(network, operation, { policy }))).toBe('retry: network');
  });

  test('holds for the wait with its jitter, so Retry-After counts with what goes on top of it', () => {
    const failure = answered(503, { retryAfterMs: 10_000 });
    const at = (deadlineMs: number): string =>
      brief(decideOn(failure, anOperation(), { policy: { deadlineMs }, u: 0.5 }));
    expect(at(10_500)).toBe('retry: unavailable');
    expect(at(10_499)).toBe('stop: deadline');
  });

  test('a stop on it says when the server would have us back, without jitter', () => {
    const failure = answered(503, { retryAfterMs: 10_000 });
    const decision = decideOn(failure, anOperation(), { policy: { deadlineMs: 5000 } });
    expect(decision).toEqual({ kind: 'stop', reason: 'deadline', retryAt: nowMs + 10_000 });
  });

  test('a stop on it without Retry-After has no such time', () => {
    const decision = decideOn(network, anOperation(), { policy: { ...oneSecond, deadlineMs: 0 } });
    expect(decision).toEqual({ kind: 'stop', reason: 'deadline', retryAt: undefined });
  });

  test('stops a series of waits as soon as the next would pass it', () => {
    const policy = { backoff: 'none', baseMs: 1000, maxRetries: 10, deadlineMs: 7000 } as const;
    const decisions = decisionsOn(Array(20).fill(network), anOperation(), { policy });
    expect(decisions.map((decision) => (decision.retryAt ?? NaN) - nowMs)).toEqual([
      1000,
      3000,
      7000,
      NaN,
    ]);
    expect(decisions.map(brief).at(-1)).toBe('stop: deadline');
  });
});

describe('the defaults: 3 retries within 90 s', () => {
  test('three waits and then the failure', () => {
    const decisions = decisionsOn(Array(9).fill(network));
    expect(decisions.map(brief)).toEqual([
      'retry: network',
      'retry: network',
      'retry: network',
      'stop: max-retries',
    ]);
  });

  test('a wait that would end more than 90 s after the start is not begun', () => {
    const failure = answered(503, { retryAfterMs: 60_000 });
    const decisions = decisionsOn([failure, failure], anOperation(), { u: 0 });
    expect(decisions.map(brief)).toEqual(['retry: unavailable', 'stop: deadline']);
  });
});

describe('a POST without a key in a query is a read: React Query runs a queryFn again by contract', () => {
  test.each([
    [network, 'retry: network'],
    [answered(500), 'retry: internal-error'],
    [answered(503), 'retry: unavailable'],
    [{ kind: 'timeout', phase: 'headers', processed: 'unknown' } as const, 'retry: timeout'],
    [{ kind: 'body', status: 200, processed: 'yes' } as const, 'retry: body'],
    [answered(404), 'stop: not-retryable'],
  ])('%j', (failure, decision) => {
    const post = { method: 'POST', idempotent: false, keyed: false } as const;
    expect(brief(decideOn(failure, anOperation({ ...post, kind: 'query' })))).toBe(decision);
    for (const kind of ['mutation', 'call'] as const)
      expect(decideOn(failure, anOperation({ ...post, kind })).kind).toBe('stop');
  });
});
