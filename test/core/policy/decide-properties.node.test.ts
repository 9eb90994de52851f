import fc from 'fast-check';
import { backoffDelay, decide, type Decision } from 'steadfetch';
import { isOwed } from '../../../src/core/policy/decide.ts';
import { seededRandom } from 'steadfetch/testing';
import { describe, expect, test } from 'vitest';
import {
  anyDraw,
  anyElapsedMs,
  anyFailure,
  anyOperation,
  anyPolicy,
  anyPolicyOptions,
} from './arbitraries.ts';

// Where a property returns false, fast-check prints what it was false for, the seed and the path.
const seed = 20_150_304;
const runs = { seed, numRuns: 4000 };
const timerMaxMs = 2_147_483_647;

const anything = [anyFailure, anyOperation, anyPolicy, anyElapsedMs, anyDraw] as const;

const isWithin = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most;

const freezeDeep = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
};

describe(`decide (seed ${seed})`, () => {
  test('answers every failure, with a delay that a timer can hold', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(...anything, (failure, operation, policy, elapsedMs, u) => {
        const nowMs = operation.startedAt + elapsedMs;
        const decision = decide(failure, operation, policy, { nowMs, random: () => u });
        seen.add(`${decision.kind}: ${decision.reason}`);
        if (decision.kind === 'stop') return true;
        const { delayMs, retryAt } = decision;
        return isWithin(delayMs, 0, timerMaxMs) && retryAt === nowMs + delayMs;
      }),
      runs,
    );
    // It is about all of these, so the arbitraries must reach them.
    expect([...seen].toSorted()).toEqual([
      'retry: body',
      'retry: error',
      'retry: in-progress',
      'retry: internal-error',
      'retry: network',
      'retry: rate-limited',
      'retry: request-timeout',
      'retry: should-retry',
      'retry: timeout',
      'retry: too-early',
      'retry: unavailable',
      'stop: aborted',
      'stop: deadline',
      'stop: expired',
      'stop: max-retries',
      'stop: not-idempotent',
      'stop: not-retryable',
      'stop: processed',
      'stop: retry-after',
      'stop: should-retry',
    ]);
  });

  test('never grants a retry beyond maxRetries, the deadline or maxRetryAfterMs', () => {
    fc.assert(
      fc.property(...anything, (failure, operation, policy, elapsedMs, u) => {
        const nowMs = operation.startedAt + elapsedMs;
        const decision = decide(failure, operation, policy, { nowMs, random: () => u });
        const askedMs = failure.kind === 'http' ? (failure.retryAfterMs ?? 0) : 0;
        // Its request is still running, and the server says that or when to ask again.
        const isToldToWait =
          failure.kind === 'http' &&
          failure.inProgress &&
          (failure.retryAfterMs !== undefined || failure.shouldRetry === true) &&
          policy.maxRetries > 0;
        return (
          decision.kind === 'stop' ||
          ((operation.attempt <= policy.maxRetries || isToldToWait) &&
            (isOwed(operation, policy) ||
              decision.retryAt <= operation.startedAt + operation.pausedMs + policy.deadlineMs) &&
            askedMs <= policy.maxRetryAfterMs)
        );
      }),
      runs,
    );
  });

  test('waits from 0 to the cap, or from Retry-After to 1.2 times it', () => {
    fc.assert(
      fc.property(...anything, (failure, operation, policy, elapsedMs, u) => {
        const nowMs = operation.startedAt + elapsedMs;
        const decision = decide(failure, operation, policy, { nowMs, random: () => u });
        if (decision.kind === 'stop') return true;
        const { delayMs, backoffMs } = decision;
        // Without a Retry-After, both bounds are the backoff.
        const askedMs = failure.kind === 'http' ? (failure.retryAfterMs ?? 0) : 0;
        return (
          isWithin(backoffMs, 0, policy.capMs) &&
          isWithin(delayMs, Math.max(askedMs, backoffMs), Math.max(askedMs * 1.2, backoffMs))
        );
      }),
      runs,
    );
  });

  test('never sends an unkeyed POST again that may have been done, whatever shouldRetry says, but one of a query', () => {
    const mayNotBeDone = new Set([408, 425, 429, 503]);
    fc.assert(
      fc.property(...anything, (failure, operation, policy, elapsedMs, u) => {
        const nowMs = operation.startedAt + elapsedMs;
        const kind = operation.kind === 'query' ? 'call' : operation.kind;
        const unkeyed = { ...operation, kind, method: 'POST', keyed: false, idempotent: false };
        const decision = decide(failure, unkeyed, policy, { nowMs, random: () => u });
        return (
          decision.kind === 'stop' ||
          failure.processed === 'no' ||
          (failure.processed === 'unknown' &&
            failure.kind === 'http' &&
            mayNotBeDone.has(failure.status))
        );
      }),
      runs,
    );
  });

  test('is pure: it changes nothing that it is given, and decides the same again', () => {
    fc.assert(
      fc.property(...anything, fc.nat(), (failure, operation, policy, elapsedMs, _, randomSeed) => {
        const decideOnce = (): Decision =>
          decide(freezeDeep(failure), freezeDeep(operation), Object.freeze(policy), {
            nowMs: operation.startedAt + elapsedMs,
            random: seededRandom(randomSeed),
          });
        expect(decideOnce()).toEqual(decideOnce());
      }),
      { seed, numRuns: 1000 },
    );
  });
});

test(`a series of backoffs is whole milliseconds from 0 to the cap (seed ${seed})`, () => {
  fc.assert(
    fc.property(anyPolicyOptions, fc.array(anyDraw, { maxLength: 60 }), (options, draws) => {
      const { backoff = 'full', baseMs = 0, capMs = 0, factor = 2 } = options;
      let previousBackoffMs: number | undefined;
      return draws.every((u, index) => {
        const input = { backoff, baseMs, capMs, factor, retry: index + 1, previousBackoffMs };
        previousBackoffMs = backoffDelay(input, () => u);
        return isWithin(previousBackoffMs, 0, capMs);
      });
    }),
    { seed, numRuns: 2000 },
  );
});
