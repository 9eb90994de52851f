import { createSteadfetch, limitConcurrency, rateLimitFields } from 'steadfetch';
import { expect, test } from 'vitest';

const makers: Readonly<Record<string, (options: never) => unknown>> = {
  limitConcurrency,
  rateLimitFields,
  'createSteadfetch: health': (health) => createSteadfetch({ health }),
};

const range = (least: number): string => `a number from ${least} to Infinity`;
const fields = { remaining: 'x-left', reset: 'x-reset' };

test.each<[string, object, string, string]>([
  ['createSteadfetch: health', { maxChance: 1.1 }, 'maxChance is 1.1', 'a number from 0 to 1'],
  ['createSteadfetch: health', { maxChance: NaN }, 'maxChance is NaN', 'a number from 0 to 1'],
  [
    'createSteadfetch: health',
    { threshold: 5 },
    'threshold is 5',
    'left out: the options are maxChance',
  ],
  ['limitConcurrency', { maxInFlight: 0 }, 'maxInFlight is 0', range(1)],
  ['limitConcurrency', { maxInFlight: null }, 'maxInFlight is null', range(1)],
  ['limitConcurrency', { maxQueued: -1 }, 'maxQueued is -1', range(0)],
  ['limitConcurrency', { queueTimeoutMs: -1 }, 'queueTimeoutMs is -1', range(0)],
  [
    'limitConcurrency',
    { max: 8 },
    'max is 8',
    'left out: the options are maxInFlight, maxQueued, queueTimeoutMs',
  ],
  ['rateLimitFields', { remaining: 'x left' }, "remaining is 'x left'", 'the name of a header'],
  [
    'rateLimitFields',
    { ...fields, format: 'seconds' },
    "format is 'seconds'",
    'one of epoch-seconds, epoch-ms, delta-seconds',
  ],
])('%s(%j) is a TypeError that says what is wrong and what is right', (name, options, is, rule) => {
  expect(() => makers[name]?.(options as never)).toThrow(
    new TypeError(`${name}: ${is}, and must be ${rule}.`),
  );
});

test.each<[string, object | false | undefined]>([
  ['createSteadfetch: health', false],
  ['createSteadfetch: health', undefined],
  ['createSteadfetch: health', { maxChance: 0 }],
  ['limitConcurrency', { maxInFlight: Infinity, maxQueued: 0, queueTimeoutMs: 0 }],
  ['rateLimitFields', undefined],
  ['rateLimitFields', { ...fields, format: 'epoch-ms' }],
])('%s(%j) is as it must be', (name, options) => {
  expect(() => makers[name]?.(options as never)).not.toThrow();
});
