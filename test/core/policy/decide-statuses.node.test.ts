import type { Failure } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { spellOut, type StatusRow, statusTable } from './expected-decisions.ts';
import { answered, anOperation, brief, decideOn, operations } from './samples.ts';

const decideForEach = (failure: Failure): Record<string, string> =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      brief(decideOn(failure, operation)),
    ]),
  );

const rowsFor = (status: number, retryAfter: 'absent' | 'given'): StatusRow[] =>
  statusTable.filter(
    (row) =>
      row.from <= status &&
      status <= row.to &&
      (row.retryAfter === 'either' || row.retryAfter === retryAfter),
  );

const statuses = Array.from({ length: 200 }, (_, index) => 400 + index);

test('the expected table has exactly one row for every status from 400 to 599, with and without Retry-After', () => {
  for (const status of statuses) {
    expect(rowsFor(status, 'absent'), `${status}`).toHaveLength(1);
    expect(rowsFor(status, 'given'), `${status} with Retry-After`).toHaveLength(1);
  }
});

const expectedFor = (status: number, retryAfter: 'absent' | 'given'): Record<string, string> => {
  const { repeatable = '', unkeyed = '' } = rowsFor(status, retryAfter)[0] ?? {};
  return spellOut({ read: repeatable, write: repeatable, keyed: repeatable, unkeyed });
};

test.each(statuses)('every method, with and without a key, follows the table on %i', (status) => {
  expect(decideForEach(answered(status))).toEqual(expectedFor(status, 'absent'));
});

test.each(statuses)(
  'every method, with and without a key, follows the table on %i with Retry-After',
  (status) => {
    const failure = answered(status, { retryAfterMs: 20_000 });
    expect(decideForEach(failure)).toEqual(expectedFor(status, 'given'));
  },
);

test('by default exactly these statuses are retried', () => {
  const isRetried = (failure: Failure): boolean => decideOn(failure).kind === 'retry';
  const serverErrors = statuses.filter((status) => ![501, 505].includes(status) && status >= 500);
  expect(statuses.filter((status) => isRetried(answered(status)))).toEqual([
    408,
    425,
    429,
    ...serverErrors,
  ]);
  expect(
    statuses.filter((status) => isRetried(answered(status, { retryAfterMs: 20_000 }))),
  ).toEqual([408, 413, 425, 429, ...serverErrors]);
});

test.each([408, 413, 425, 429, 500, 502, 503, 504])('a %i waits for its Retry-After', (status) => {
  const decision = decideOn(answered(status, { retryAfterMs: 20_000 }), anOperation(), { u: 0 });
  expect(decision).toMatchObject({ kind: 'retry', delayMs: 20_000 });
});

test.each([304, 399, 600, 999])('%i, an odd status outside 2xx, is not retried', (status) => {
  expect(brief(decideOn(answered(status)))).toBe('stop: not-retryable');
});

describe('a 409 which says that the first request with the key is still running', () => {
  const stillRunning = answered(409, { inProgress: true });

  test.each(['POST with key', 'PATCH with key', 'PURGE with key', 'PUT with key'])(
    '%s is sent again, by the policy',
    (name) => {
      expect(brief(decideOn(stillRunning, operations[name]))).toBe('retry: in-progress');
    },
  );

  test('waits for its Retry-After', () => {
    const failure = answered(409, { inProgress: true, retryAfterMs: 20_000 });
    const decision = decideOn(failure, operations['POST with key'], { u: 0 });
    expect(decision).toMatchObject({ kind: 'retry', reason: 'in-progress', delayMs: 20_000 });
  });

  test.each(['POST', 'PATCH', 'PURGE'])('%s without a key is never sent again', (name) => {
    expect(decideOn(stillRunning, operations[name]).kind).toBe('stop');
  });
});
