import type { Failure } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import {
  answered,
  anOperation,
  brief,
  decideOn,
  decisionsOn,
  network,
  operations,
} from './samples.ts';

/** By a policy that would allow ten retries, and enough time for them. */
const after = (failures: readonly Failure[], name = 'GET'): string[] =>
  decisionsOn(failures, operations[name], { policy: { maxRetries: 10, deadlineMs: 600_000 } }).map(
    brief,
  );

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('a bare 500', () => {
  const bare = answered(500);
  const retry = 'retry: internal-error';

  test.each(['GET', 'PUT', 'DELETE', 'POST with key', 'PATCH with key'])(
    '%s: is tried again seven times at the most',
    (name) => {
      expect(after(times(8, bare), name)).toEqual([...times(7, retry), 'stop: max-retries']);
    },
  );

  test('is tried again as often as maxRetries says, where that is less', () => {
    expect(decisionsOn(times(4, bare)).map(brief)).toEqual([
      ...times(3, retry),
      'stop: max-retries',
    ]);
  });

  test('is counted where it was the answer to a probe, too', () => {
    const retriedFor = times(7, 'internal-error' as const);
    const probed = anOperation({ attempt: 8, trials: 7, retriedFor });
    expect(brief(decideOn(bare, probed))).toBe('stop: max-retries');
    expect(brief(decideOn(answered(503), probed))).toBe('retry: unavailable');
  });

  test('is counted within the whole operation, also when something else came between', () => {
    expect(after([...times(3, bare), answered(503), network, ...times(5, bare)])).toEqual([
      ...times(3, retry),
      'retry: unavailable',
      'retry: network',
      ...times(4, retry),
      'stop: max-retries',
    ]);
  });

  test('does not use up a 425, nor a 425 a 500', () => {
    expect(after([...times(7, bare), answered(425), bare])).toEqual([
      ...times(7, retry),
      'retry: too-early',
      'stop: max-retries',
    ]);
    expect(after([answered(425), bare, answered(425)])).toEqual([
      'retry: too-early',
      retry,
      'stop: max-retries',
    ]);
  });

  test('is one thing, a 500 with Retry-After another, which goes by the policy', () => {
    const invited = answered(500, { retryAfterMs: 1 });
    expect(after(times(11, invited))).toEqual([
      ...times(10, 'retry: unavailable'),
      'stop: max-retries',
    ]);
    expect(after([...times(7, bare), invited, bare])).toEqual([
      ...times(7, retry),
      'retry: unavailable',
      'stop: max-retries',
    ]);
  });
});

describe('a 425', () => {
  const tooEarly = answered(425, { processed: 'no' });

  test.each(Object.keys(operations))('%s: is tried again once', (name) => {
    expect(after([tooEarly, tooEarly], name)).toEqual(['retry: too-early', 'stop: max-retries']);
  });

  test('is tried once with Retry-After too', () => {
    const invited = answered(425, { retryAfterMs: 1000, processed: 'no' });
    expect(after([invited, invited])).toEqual(['retry: too-early', 'stop: max-retries']);
  });
});

describe.each([
  ['no answer', network, 'retry: network'],
  ['408', answered(408), 'retry: request-timeout'],
  ['429', answered(429), 'retry: rate-limited'],
  ['502', answered(502), 'retry: unavailable'],
  ['503', answered(503), 'retry: unavailable'],
  ['504', answered(504), 'retry: unavailable'],
  ['409, still running', answered(409, { inProgress: true }), 'retry: in-progress'],
] as const)('%s', (_, failure, retry) => {
  test('is tried again as often as the policy allows', () => {
    const operation = anOperation({ method: 'POST', keyed: true });
    const decisions = decisionsOn([failure, failure, failure, failure], operation).map(brief);
    expect(decisions).toEqual([retry, retry, retry, 'stop: max-retries']);
  });
});

test('a POST without a key is tried again after every 429, up to maxRetries', () => {
  const limited = answered(429, { processed: 'no' });
  expect(decisionsOn(times(4, limited), operations['POST']).map(brief)).toEqual([
    'retry: rate-limited',
    'retry: rate-limited',
    'retry: rate-limited',
    'stop: max-retries',
  ]);
});
