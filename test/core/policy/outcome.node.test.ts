import { describe, expect, test } from 'vitest';
import { type Answer, classifyAnswer } from '../../../src/core/policy/outcome.ts';
import { nowMs } from './samples.ts';

const answer = (status: number, headers: Record<string, string> = {}): Answer => {
  const bag = new Headers(headers);
  return { status, header: (name) => bag.get(name) };
};

const classify = (status: number, headers?: Record<string, string>, inProgress = false) =>
  classifyAnswer(answer(status, headers), nowMs, inProgress);

describe('whether the server did it', () => {
  /** From the specifications, by hand: [from, to, processed]. */
  const expected = [
    [300, 399, 'unknown'],
    [400, 407, 'no'],
    // An incomplete request, says RFC 9110 §15.5.9; but proxies answer it for complete ones too.
    [408, 408, 'unknown'],
    [409, 499, 'no'],
    // A 5xx proves nothing, a 503 included: shedding is usual and not promised.
    [500, 500, 'unknown'],
    // Not implemented: refused.
    [501, 501, 'no'],
    [502, 504, 'unknown'],
    // HTTP version not supported: refused.
    [505, 505, 'no'],
    [506, 599, 'unknown'],
  ] as const;

  const statuses = expected.flatMap(([from, to, processed]) =>
    Array.from({ length: to - from + 1 }, (_, index) => [from + index, processed] as const),
  );

  test('the expected table has every status from 300 to 599 once', () => {
    expect(statuses.map(([status]) => status)).toEqual(
      Array.from({ length: 300 }, (_, index) => 300 + index),
    );
  });

  test.each(statuses)('after %i: %s', (status, processed) => {
    expect(classify(status)).toEqual({
      kind: 'http',
      status,
      retryAfterMs: undefined,
      inProgress: false,
      processed,
    });
  });

  test('a first request that is still running may yet be processed', () => {
    expect(classify(409, {}, true)).toMatchObject({ inProgress: true, processed: 'unknown' });
  });

  test('Retry-After changes nothing about it', () => {
    expect(classify(503, { 'retry-after': '5' })).toMatchObject({ processed: 'unknown' });
    expect(classify(429, { 'retry-after': '5' })).toMatchObject({ processed: 'no' });
  });
});

describe('Retry-After', () => {
  const retryAfterMs = (headers: Record<string, string>, status = 503): number | undefined => {
    const failure = classify(status, headers);
    return failure.kind === 'http' ? failure.retryAfterMs : undefined;
  };

  test('in seconds', () => {
    expect(retryAfterMs({ 'Retry-After': '120' })).toBe(120_000);
  });

  test('as a date, against the clock', () => {
    expect(retryAfterMs({ 'retry-after': 'Sat, 21 Nov 2026 00:00:30 GMT' })).toBe(30_000);
  });

  test('as a date, against the Date header where it is readable', () => {
    expect(
      retryAfterMs({
        'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT',
        date: 'Sat, 21 Nov 2026 12:00:00 GMT',
      }),
    ).toBe(30_000);
  });

  test.each(['', '-1', '1.5', '10s', '120, 60', 'soon', '2026-11-21T00:00:30Z'])(
    '%j is ignored',
    (value) => expect(retryAfterMs({ 'retry-after': value })).toBeUndefined(),
  );

  test('a date in the past is no wait, which is not the same as none', () => {
    expect(retryAfterMs({ 'retry-after': 'Fri, 20 Nov 2026 00:00:00 GMT' })).toBe(0);
  });

  test.each([300, 400, 404, 408, 409, 413, 425, 429, 500, 502, 504])(
    'is read on a %i too',
    (status) => expect(retryAfterMs({ 'retry-after': '7' }, status)).toBe(7000),
  );

  test.each([
    ['retry-after-ms', '1500.2', 1501],
    ['retry-after-ms', '1500.125', 1501],
    ['x-ms-retry-after-ms', '250', 250],
  ])('%s says it in milliseconds, and comes before it', (name, value, ms) => {
    expect(retryAfterMs({ [name]: value, 'retry-after': '7' })).toBe(ms);
  });

  test.each(['', '-1', '1e3', '0x10', 'soon', '1500, 20', '9'.repeat(16)])(
    'a retry-after-ms of %j is ignored',
    (value) => expect(retryAfterMs({ 'retry-after-ms': value, 'retry-after': '7' })).toBe(7000),
  );

  test.each([null, undefined])('a header reader that returns %s has none', (none) => {
    const failure = classifyAnswer({ status: 503, header: () => none }, nowMs, false);
    expect(failure).toMatchObject({ status: 503, retryAfterMs: undefined });
  });
});
