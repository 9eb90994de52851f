import { expect, test } from 'vitest';
import { signOf } from '../../src/origin/sign.ts';
import type { Outcome } from '../../src/policy/outcome.ts';

const http = (status: number): Outcome => ({
  kind: 'http',
  status,
  retryAfterMs: undefined,
  inProgress: false,
  processed: 'unknown',
});
const statuses = Array.from({ length: 400 }, (_, index) => 200 + index);

test('of all statuses only 500, 502, 503 and 504 look like an outage, and each weighs one', () => {
  const outages = statuses.filter((status) => signOf(http(status)).kind === 'outage');
  expect(outages).toEqual([500, 502, 503, 504]);
  for (const status of outages) {
    expect(signOf(http(status))).toEqual({ kind: 'outage', weight: 1 });
  }
});

test('every other failed status is an answer, and no success', () => {
  const others = statuses.filter((status) => ![500, 502, 503, 504].includes(status));
  for (const status of others) {
    expect(signOf(http(status))).toEqual({ kind: 'alive', isSuccess: false });
  }
});

test.each<[what: string, outcome: Outcome, sign: object]>([
  ['a success', { kind: 'ok', status: 200, processed: 'yes' }, { kind: 'alive', isSuccess: true }],
  [
    'an opaque answer',
    { kind: 'ok', status: 0, processed: 'yes' },
    { kind: 'alive', isSuccess: true },
  ],
  [
    'an answer of somebody else',
    { kind: 'body', status: 200, processed: 'unknown' },
    { kind: 'nothing' },
  ],
  ['no connection', { kind: 'network', processed: 'unknown' }, { kind: 'outage', weight: 1 }],
  [
    'a time-out, which has cost the server its work',
    { kind: 'timeout', phase: 'headers', processed: 'unknown' },
    { kind: 'outage', weight: 2 },
  ],
  ['an abort', { kind: 'aborted', processed: 'unknown' }, { kind: 'nothing' }],
  ['what was never sent', { kind: 'invalid', processed: 'no' }, { kind: 'nothing' }],
  [
    'a hold that ran out',
    { kind: 'held-too-long', reason: 'server-down', retryAt: undefined, processed: 'no' },
    { kind: 'nothing' },
  ],
  ['a spent budget', { kind: 'over-budget', processed: 'no' }, { kind: 'nothing' }],
  ['a key that is too old', { kind: 'expired', processed: 'unknown' }, { kind: 'nothing' }],
  ['an error of the app', { kind: 'error', processed: 'unknown' }, { kind: 'nothing' }],
])('%s says this about its origin', (_what, outcome, sign) => {
  expect(signOf(outcome)).toEqual(sign);
});
