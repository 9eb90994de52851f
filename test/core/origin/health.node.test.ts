import { expect, test } from 'vitest';
import { shownBy } from '../../../src/core/origin/health/health.ts';
import type { Outcome } from '../../../src/core/policy/outcome.ts';

const http = (status: number): Outcome => ({
  kind: 'http',
  status,
  retryAfterMs: undefined,
  inProgress: false,
  processed: 'unknown',
});
const statuses = Array.from({ length: 400 }, (_, index) => 200 + index);

/** A 501 and a 505 refuse the request, and a 511 is a portal's. */
const ofOutage = statuses.filter((status) => status >= 500 && ![501, 505, 511].includes(status));

test('of all statuses every 5xx that is not a refusal or a portal looks like an outage', () => {
  const outages = statuses.filter((status) => shownBy(http(status)) === 'outage');
  expect(outages).toEqual(ofOutage);
});

test('every other failed status is an answer, and no success, but for that of a captive portal', () => {
  expect(shownBy(http(511))).toBeUndefined();
  const others = statuses.filter((status) => status !== 511 && !ofOutage.includes(status));
  for (const status of others) {
    expect(shownBy(http(status))).toBe('alive');
  }
});

test.each<[what: string, outcome: Outcome, shown: string | undefined]>([
  ['a success', { kind: 'ok', status: 200, processed: 'yes' }, 'alive'],
  ['an opaque answer', { kind: 'ok', status: 0, processed: 'yes' }, 'alive'],
  ['an answer of somebody else', { kind: 'body', status: 200, processed: 'unknown' }, undefined],
  ['no connection', { kind: 'network', processed: 'unknown' }, 'outage'],
  ['a time-out', { kind: 'timeout', phase: 'headers', processed: 'unknown' }, 'outage'],
  ['an abort', { kind: 'aborted', processed: 'unknown' }, undefined],
  ['what was never sent', { kind: 'invalid', processed: 'no' }, undefined],
  [
    'a pause that ran out',
    { kind: 'paused-too-long', reason: 'server-down', retryAt: undefined, processed: 'no' },
    undefined,
  ],
  ['a key that is too old', { kind: 'expired', processed: 'unknown' }, undefined],
  ['an error of the app', { kind: 'error', processed: 'unknown' }, undefined],
])('%s shows this of its origin', (_what, outcome, shown) => {
  expect(shownBy(outcome)).toBe(shown);
});
