import { createSteadfetch } from 'steadfetch';
import { expect, test } from 'vitest';
import { checkOrigin } from '../../src/origin/options.ts';

/** As it comes from JavaScript, or from JSON. */
const check = (options: object): void => checkOrigin('here', options);

const absent = 'left out: there is no such option';
const range = (least: number): string => `a number from ${least} to Infinity`;

test.each([
  [{ budget: { maxTokens: 0 } }, 'budget.maxTokens', range(1)],
  [{ budget: { maxTokens: '10' } }, 'budget.maxTokens', range(1)],
  [{ budget: { tokensPerSuccess: -0.1 } }, 'budget.tokensPerSuccess', range(0)],
  [{ budget: { maxToken: 10 } }, 'budget.maxToken', absent],
  [{ health: { maxChance: 1.1 } }, 'health.maxChance', 'a number from 0 to 1'],
  [{ health: { maxChance: NaN } }, 'health.maxChance', 'a number from 0 to 1'],
  [{ health: { threshold: 5 } }, 'health.threshold', absent],
  [{ concurrency: { maxInFlight: 0 } }, 'concurrency.maxInFlight', range(1)],
  [{ concurrency: { maxInFlight: null } }, 'concurrency.maxInFlight', range(1)],
  [{ concurrency: { maxQueued: -1 } }, 'concurrency.maxQueued', range(0)],
  [{ concurrency: { queueTimeoutMs: -1 } }, 'concurrency.queueTimeoutMs', range(0)],
  [{ concurrency: { max: 8 } }, 'concurrency.max', absent],
  [{ breaker: {} }, 'breaker', absent],
])('%j is a TypeError that names %s and what it must be', (options, name, rule) => {
  let error: unknown;
  try {
    check(options);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(TypeError);
  expect((error as TypeError).message).toMatch(/^here: /);
  expect((error as TypeError).message).toContain(name);
  expect((error as TypeError).message).toContain(rule);
});

test.each([
  {},
  { budget: false, health: false, share: false },
  { budget: undefined, health: undefined, concurrency: undefined, share: undefined },
  { budget: { maxTokens: 1, tokensPerSuccess: 0 } },
  { budget: { maxTokens: undefined } },
  { health: { maxChance: 0 } },
  { concurrency: { maxInFlight: Infinity, maxQueued: 0, queueTimeoutMs: 0 } },
])('%j is as it must be', (options) => {
  expect(() => check(options)).not.toThrow();
});

test('createSteadfetch checks what it is given, and names where it stands', () => {
  expect(() => createSteadfetch({ origin: { budget: { maxTokens: 0 } } })).toThrow(
    /^createSteadfetch: origin.*budget\.maxTokens/,
  );
});
