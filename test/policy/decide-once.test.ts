import type { Failure } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { answered, anOperation, brief, decisionsOn, network, operations } from './samples.ts';

const after = (failures: readonly Failure[], name = 'GET'): string[] =>
  decisionsOn(failures, operations[name]).map(brief);

describe('a bare 500', () => {
  const bare = answered(500);

  test('is tried again at most once', () => {
    expect(after([bare, bare])).toEqual(['retry: internal-error', 'stop: once']);
  });

  test('is counted within the whole operation, also when something else came between', () => {
    expect(after([bare, answered(503), bare])).toEqual([
      'retry: internal-error',
      'retry: unavailable',
      'stop: once',
    ]);
  });

  test('may come after other failures', () => {
    expect(after([network, bare, bare])).toEqual([
      'retry: network',
      'retry: internal-error',
      'stop: once',
    ]);
  });

  test.each(['PUT', 'DELETE', 'POST with key', 'PATCH with key'])('%s: too', (name) => {
    expect(after([bare, bare], name)).toEqual(['retry: internal-error', 'stop: once']);
  });

  test('does not use up a 425, nor a 425 a 500', () => {
    expect(after([bare, answered(425), answered(425)])).toEqual([
      'retry: internal-error',
      'retry: too-early',
      'stop: once',
    ]);
    expect(after([answered(425), bare, bare])).toEqual([
      'retry: too-early',
      'retry: internal-error',
      'stop: once',
    ]);
  });

  test('is one thing, a 500 with Retry-After another, which goes by the policy', () => {
    const invited = answered(500, { retryAfterMs: 1000 });
    expect(after([invited, invited, invited, invited])).toEqual([
      'retry: unavailable',
      'retry: unavailable',
      'retry: unavailable',
      'stop: max-retries',
    ]);
    expect(after([bare, invited, bare])).toEqual([
      'retry: internal-error',
      'retry: unavailable',
      'stop: once',
    ]);
  });
});

describe('a 425', () => {
  const tooEarly = answered(425, { processed: 'no' });

  test.each(Object.keys(operations))('%s: is tried again once', (name) => {
    expect(after([tooEarly, tooEarly], name)).toEqual(['retry: too-early', 'stop: once']);
  });

  test('is tried once with Retry-After too', () => {
    const invited = answered(425, { retryAfterMs: 1000, processed: 'no' });
    expect(after([invited, invited])).toEqual(['retry: too-early', 'stop: once']);
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
  expect(after([limited, limited, limited, limited], 'POST')).toEqual([
    'retry: rate-limited',
    'retry: rate-limited',
    'retry: rate-limited',
    'stop: max-retries',
  ]);
});
