import type { Failure } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { type FailureRow, forAll, spellOut } from './expected-decisions.ts';
import { anOperation, brief, decideOn, operations } from './samples.ts';

const processedAlready: FailureRow = {
  read: 'retry: body',
  write: 'stop: processed',
  keyed: 'retry: body',
  unkeyed: 'stop: processed',
};

const anAnswer = (
  own: Pick<Extract<Failure, { kind: 'http' }>, 'status' | 'shouldRetry' | 'processed'>,
): Failure => ({
  kind: 'http',
  retryAfterMs: undefined,
  inProgress: false,
  ...own,
});

/** What showed that something went wrong, and what each column of the table makes of it. */
const rows: readonly (readonly [what: string, failure: Failure, expected: FailureRow])[] = [
  [
    'no answer at all',
    { kind: 'network', processed: 'unknown' },
    { ...forAll('retry: network'), unkeyed: 'stop: not-idempotent' },
  ],
  [
    'our own time-out before the headers',
    { kind: 'timeout', phase: 'headers', processed: 'unknown' },
    { ...forAll('retry: timeout'), unkeyed: 'stop: not-idempotent' },
  ],
  [
    'our own time-out in the body of a 2xx answer',
    { kind: 'timeout', phase: 'body', processed: 'yes' },
    { ...processedAlready, read: 'retry: timeout', keyed: 'retry: timeout' },
  ],
  ['a 200 whose body fails', { kind: 'body', status: 200, processed: 'yes' }, processedAlready],
  ['a 201 whose body fails', { kind: 'body', status: 201, processed: 'yes' }, processedAlready],
  ['a 206 whose body fails', { kind: 'body', status: 206, processed: 'yes' }, processedAlready],
  ["the caller's abort", { kind: 'aborted', processed: 'unknown' }, forAll('stop: aborted')],
  [
    'a request that cannot be sent',
    { kind: 'invalid', processed: 'no' },
    forAll('stop: not-retryable'),
  ],
  [
    'a key that is older than its API keeps it',
    { kind: 'expired', processed: 'unknown' },
    forAll('stop: expired'),
  ],
  [
    'an answer that the API says is worth another attempt',
    anAnswer({ status: 400, shouldRetry: true, processed: 'no' }),
    forAll('retry: should-retry'),
  ],
  [
    'one that it says so of, and that may have been done',
    anAnswer({ status: 500, shouldRetry: true, processed: 'unknown' }),
    { ...forAll('retry: internal-error'), unkeyed: 'stop: not-idempotent' },
  ],
  [
    'one that it says is not worth it',
    anAnswer({ status: 503, shouldRetry: false, processed: 'unknown' }),
    forAll('stop: should-retry'),
  ],
  [
    'an error that nothing is known about',
    { kind: 'error', processed: 'unknown' },
    { ...forAll('retry: error'), unkeyed: 'stop: not-idempotent' },
  ],
];

describe.each(rows)('after %s', (_, failure, row) => {
  const expected = Object.entries(spellOut(row));

  test('every operation of the samples has its place in the table', () => {
    expect(expected.map(([name]) => name)).toEqual(Object.keys(operations));
  });

  test.each(expected)('%s: %s', (name, decision) => {
    expect(brief(decideOn(failure, operations[name]))).toBe(decision);
  });
});

describe('a POST that is declared to be idempotent, such as a search', () => {
  const search = anOperation({ method: 'POST', idempotent: true });

  test.each(rows)('is, after %s, what a GET is', (_, failure, { read }) => {
    expect(brief(decideOn(failure, search))).toBe(read);
  });
});

test('a stop without Retry-After has no time to come back at', () => {
  expect(decideOn({ kind: 'aborted', processed: 'unknown' })).toEqual({
    kind: 'stop',
    reason: 'aborted',
    retryAt: undefined,
  });
});

test('a retry says why, how long, and when', () => {
  expect(decideOn({ kind: 'network', processed: 'unknown' })).toEqual({
    kind: 'retry',
    reason: 'network',
    delayMs: 500,
    backoffMs: 500,
    retryAt: 1_795_219_200_500,
  });
});
