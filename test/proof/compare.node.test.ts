import { expect, test } from 'vitest';
import type { Told } from './contender.ts';
import { compare } from './compare.ts';

test('every end is counted, beside what the ledger says', () => {
  const ends: Told[] = [
    'success',
    'success',
    'success',
    'failed',
    'failed',
    'failed',
    'unknown',
    'unknown',
  ];
  const told = new Map(ends.map((end, no) => [no, end]));
  const ledger = {
    orders: { 0: 1, 1: 2, 3: 1, 4: 3, 6: 1 },
    arrivals: { none: 7, hang: 2, late: 1 },
  };
  expect(compare(told, ledger)).toEqual({
    orders: 8,
    toldSuccess: 3,
    duplicated: 2,
    successNotDone: 1,
    failedButDone: 2,
    failedNotDone: 1,
    unknownDone: 1,
    unknownNotDone: 1,
    arrivals: 10,
    disturbed: 3,
  });
});
