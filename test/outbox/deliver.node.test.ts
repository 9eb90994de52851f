import { describe, expect, test } from 'vitest';
import { nextStepOf } from '../../src/outbox/handler.ts';
import { shorten } from '../../src/outbox/errors.ts';
import type { Decision, StopReason } from '../../src/core/policy/decide.ts';
import { type Failure, failures } from '../../src/core/policy/outcome.ts';

const nowMs = 100_000;
const backoffMs = (): number => 4000;
const row = { attempts: 2, createdAt: 40_000, conflicts: 0 };
const endless = { maxAttempts: Infinity, maxAgeMs: Infinity };
const held: Failure = {
  kind: 'paused-too-long',
  reason: 'server-down',
  retryAt: 130_000,
  processed: 'no',
};

const stop = (reason: StopReason, retryAt?: number): Decision => ({
  kind: 'stop',
  reason,
  retryAt,
});
const retry: Decision = {
  kind: 'retry',
  reason: 'network',
  delayMs: 7000,
  backoffMs: 7000,
  retryAt: 107_000,
};

const next = (
  decision: Decision,
  { failure = failures.network, wasSent = true, isInDoubt = true, limits = endless } = {},
) => nextStepOf({ failure, decision, wasSent, isInDoubt }, row, limits, { nowMs, backoffMs });

test('what is decided to go again goes at its time', () => {
  expect(next(retry)).toEqual({ kind: 'again', nextRetryAt: 107_000, attempts: 3 });
});

describe.each([
  ['not-retryable', 'refused'],
  ['should-retry', 'refused'],
  ['not-idempotent', 'not-repeatable'],
  ['processed', 'answer-lost'],
  ['expired', 'expired'],
  ['age-unknown', 'age-unknown'],
] as const)('a stop for %s', (reason, deadReason) => {
  test(`needs a user: ${deadReason}`, () => {
    expect(next(stop(reason))).toEqual({ kind: 'dead', reason: deadReason });
  });
});

describe.each([
  'max-retries',
  'deadline',
  'aborted',
  'cancelled',
  'paused-too-long',
  'retry-after',
] as const)('a stop for %s', (reason) => {
  test('is only a longer wait', () => {
    expect(next(stop(reason))).toEqual({ kind: 'again', nextRetryAt: 104_000, attempts: 3 });
  });
});

test('a Retry-After beyond the cap is waited for, however long', () => {
  const told = (retryAfterMs: number): Failure => ({
    kind: 'http',
    status: 503,
    retryAfterMs,
    inProgress: false,
    processed: 'no',
  });
  expect(next(stop('retry-after'), { failure: told(5_000_000) })).toEqual({
    kind: 'again',
    nextRetryAt: 5_100_000,
    notBefore: 5_100_000,
    attempts: 3,
  });
  expect(next(stop('retry-after'), { failure: told(1000) })).toMatchObject({
    nextRetryAt: 104_000,
    notBefore: 101_000,
  });
});

test('what was paused, and not sent, was no attempt, and asks again soon, whatever its gate has planned', () => {
  const decision = stop('paused-too-long', 130_000);
  expect(next(decision, { failure: held, wasSent: false })).toEqual({
    kind: 'again',
    nextRetryAt: 104_000,
    attempts: 2,
  });
  // Of several requests, one has gone.
  expect(next(decision, { failure: held, wasSent: true })).toMatchObject({ attempts: 3 });
});

test('a user is asked after so many attempts, those that were paused not counted', () => {
  const limits = { ...endless, maxAttempts: 3 };
  expect(next(retry, { limits })).toEqual({ kind: 'dead', reason: 'max-attempts' });
  const options = { failure: held, wasSent: false, limits };
  expect(next(stop('paused-too-long'), options)).toMatchObject({ kind: 'again', attempts: 2 });
  expect(next(retry, { limits: { ...endless, maxAttempts: 4 } })).toMatchObject({ kind: 'again' });
});

test('a user is asked when the next attempt would come after its age', () => {
  expect(next(retry, { limits: { ...endless, maxAgeMs: 66_999 } })).toEqual({
    kind: 'dead',
    reason: 'max-age',
  });
  expect(next(retry, { limits: { ...endless, maxAgeMs: 67_000 } })).toMatchObject({
    kind: 'again',
  });
});

test('what is final is so whatever the limits say', () => {
  expect(next(stop('not-retryable'), { limits: { maxAttempts: 1, maxAgeMs: 0 } })).toEqual({
    kind: 'dead',
    reason: 'refused',
  });
});

test('of an error its name, a line and the status are kept', () => {
  expect(shorten(Object.assign(new RangeError('far'), { status: 418 }))).toEqual({
    name: 'RangeError',
    message: 'far',
    status: 418,
  });
  expect(shorten(new Error('x'.repeat(300))).message).toBe(`${'x'.repeat(199)}…`);
});

test('whatever was thrown can be kept', () => {
  expect(shorten(undefined)).toEqual({ name: 'Error', message: 'undefined' });
  expect(shorten('no')).toEqual({ name: 'Error', message: 'no' });
  expect(shorten(null)).toEqual({ name: 'Error', message: 'null' });
  expect(shorten(Symbol('s'))).toEqual({ name: 'Error', message: 'Symbol(s)' });
  expect(shorten({ name: 1, message: 2, status: 'three' })).toEqual({
    name: 'Error',
    message: '[object Object]',
  });
  expect(shorten(Object.create(null)).name).toBe('Error');
  const trap = {
    get message(): string {
      throw new Error('trap');
    },
  };
  expect(shorten(trap).name).toBe('Error');
});
