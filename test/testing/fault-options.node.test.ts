import {
  compose,
  cutBody,
  failTimes,
  flaky,
  hang,
  networkError,
  rateLimited,
  seededRandom,
  slow,
} from 'steadfetch/testing';
import { expect, test } from 'vitest';

const wrongTimes = 'and must be a whole number from 0, or Infinity.';
const wrongStatus = 'and must be a whole number from 400 to 599.';
const wrongSeed = 'and must be a whole number from 0 to 4294967295.';
const wrongDelay = 'and must be a whole number of milliseconds from 0 to 2147483647.';
const wrongSeconds = 'and must be a whole number from 1 to 2147483647.';

const cases: [message: string, create: () => unknown][] = [
  [`failTimes: times is -1, ${wrongTimes}`, () => failTimes(-1, 503)],
  [`failTimes: times is NaN, ${wrongTimes}`, () => failTimes(NaN, 503)],
  [`failTimes: status is 200, ${wrongStatus}`, () => failTimes(1, 200)],
  [`failTimes: status is 600, ${wrongStatus}`, () => failTimes(1, 600)],
  [`hang: times is 1.5, ${wrongTimes}`, () => hang({ times: 1.5 })],
  [`networkError: times is -Infinity, ${wrongTimes}`, () => networkError({ times: -Infinity })],
  [`cutBody: times is -2, ${wrongTimes}`, () => cutBody({ times: -2 })],
  [
    'cutBody: status is 204, and must be a whole number from 200 to 599, but not 204, 205 or 304.',
    () => cutBody({ status: 204 }),
  ],
  [
    'cutBody: status is 199, and must be a whole number from 200 to 599, but not 204, 205 or 304.',
    () => cutBody({ status: 199 }),
  ],
  [
    'cutBody: afterBytes is 4, and must be a whole number from 0 to 3.',
    () => cutBody({ body: 'abcd', afterBytes: 4 }),
  ],
  ["cutBody: body is '', and must be at least one byte long.", () => cutBody({ body: '' })],
  [`slow: delayMs is Infinity, ${wrongDelay}`, () => slow({ delayMs: Infinity })],
  [`slow: delayMs is 2147483648, ${wrongDelay}`, () => slow({ delayMs: 2 ** 31 })],
  [
    `rateLimited: retryAfterSeconds is 0, ${wrongSeconds}`,
    () => rateLimited({ retryAfterSeconds: 0 }),
  ],
  [
    `rateLimited: retryAfterSeconds is 0.5, ${wrongSeconds}`,
    () => rateLimited({ retryAfterSeconds: 0.5 }),
  ],
  [
    `rateLimited: status is 200, ${wrongStatus}`,
    () => rateLimited({ retryAfterSeconds: 1, status: 200 }),
  ],
  [
    "rateLimited: as is 'minutes', and must be 'seconds' or 'date'.",
    // @ts-expect-error: the types forbid it, plain JavaScript does not.
    () => rateLimited({ retryAfterSeconds: 1, as: 'minutes' }),
  ],
  ['flaky: ratio is 1.1, and must be a number from 0 to 1.', () => flaky({ ratio: 1.1, seed: 1 })],
  ['flaky: ratio is NaN, and must be a number from 0 to 1.', () => flaky({ ratio: NaN, seed: 1 })],
  [`flaky: seed is -1, ${wrongSeed}`, () => flaky({ ratio: 1, seed: -1 })],
  [`flaky: status is 0, ${wrongStatus}`, () => flaky({ ratio: 1, seed: 1, status: 0 })],
  [`seededRandom: seed is 4294967296, ${wrongSeed}`, () => seededRandom(2 ** 32)],
  ['compose: faults is [], and must be at least one fault.', () => compose()],
];

test.each(cases)('a wrong argument is refused at creation: %s', (message, create) => {
  expect(create).toThrow(new TypeError(message));
});

test('the ends of each range are allowed', () => {
  const ends = [
    () => failTimes(0, 400),
    () => failTimes(Infinity, 599),
    () => slow({ delayMs: 0 }),
    () => slow({ delayMs: 2 ** 31 - 1 }),
    () => rateLimited({ retryAfterSeconds: 2 ** 31 - 1, as: 'date' }),
    () => flaky({ ratio: 0, seed: 0 }),
    () => flaky({ ratio: 1, seed: 2 ** 32 - 1 }),
    () => cutBody({ body: 'a', afterBytes: 0, status: 599 }),
  ];
  for (const create of ends) expect(create).not.toThrow();
});
