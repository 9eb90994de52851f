import {
  compose,
  cutBody,
  duplicateDelivery,
  duplicates,
  failTimes,
  flaky,
  hang,
  keysSeen,
  loseAnswer,
  networkError,
  outage,
  rateLimited,
  renderWithSteadfetch,
  seededRandom,
  slow,
  virtualTime,
  withoutCors,
} from 'steadfetch/testing';
import { expect, test, vi } from 'vitest';

type Any = (...given: unknown[]) => unknown;
const any = (given: unknown): Any => given as Any;

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

/** What JavaScript lets one write, from habits with other libraries: it would do nothing, or fail at a request. */
const guesses: [message: string, create: () => unknown][] = [
  ['hang: its argument is 2, and must be an object.', () => any(hang)(2)],
  ['hang: count is 2, and must be left out: the options are times', () => any(hang)({ count: 2 })],
  ['networkError: its argument is 1, and', () => any(networkError)(1)],
  ['slow: its argument is 300, and', () => any(slow)(300)],
  ['slow: its argument is undefined, and', () => any(slow)()],
  ['slow: ms is 300, and must be left out: the options are delayMs', () => any(slow)({ ms: 300 })],
  ['rateLimited: its argument is 30, and', () => any(rateLimited)(30)],
  [
    'rateLimited: retryAfterMs is 1000, and must be left out',
    () => any(rateLimited)({ retryAfterMs: 1000 }),
  ],
  ['flaky: its argument is 0.3, and', () => any(flaky)(0.3)],
  ['cutBody: after is 5, and must be left out', () => any(cutBody)({ after: 5 })],
  ['failTimes: times is undefined, and', () => any(failTimes)()],
  ['failTimes: status is 2, and', () => any(failTimes)(503, 2)],
  [
    'failTimes: retryAfter is 5, and must be left out',
    () => any(failTimes)(2, 503, { retryAfter: 5 }),
  ],
  ['outage: its argument is 5000, and', () => any(outage)(5000)],
  ['outage: from is 1, and must be left out', () => any(outage)({ from: 1, toMs: 2 })],
  ['outage: fault is 503, and must be a function', () => any(outage)({ toMs: 5, fault: 503 })],
  [
    'compose: argument 1 is [null,null], and must be a function',
    () => any(compose)([hang(), hang()]),
  ],
  [
    'compose: argument 2 is {"method":"GET"}, and must be a function',
    () => any(compose)(hang(), { method: 'GET' }),
  ],
  ['loseAnswer: its first argument is undefined, and must be a function', () => any(loseAnswer)()],
  ['loseAnswer: its first argument is {}, and', () => any(loseAnswer)(new Response())],
  [
    'loseAnswer: count is 1, and must be left out',
    () => any(loseAnswer)(() => undefined, { count: 1 }),
  ],
  [
    'duplicateDelivery: its first argument is {"method":"GET"}, and',
    () => any(duplicateDelivery)({ method: 'GET' }),
  ],
  ['withoutCors: its argument is undefined, and must be a function', () => any(withoutCors)()],
  ['keysSeen: its first argument is undefined, and must be a fault', () => any(keysSeen)()],
  ['duplicates: its first argument is {}, and must be a fault', () => any(duplicates)({})],
  [
    `virtualTime: its first argument is undefined, and must be Vitest's vi`,
    () => any(virtualTime)(),
  ],
  ['virtualTime: its first argument is {}, and', () => any(virtualTime)({})],
  ['virtualTime: start is 0, and must be left out', () => any(virtualTime)(vi, { start: 0 })],
  ['virtualTime: act is true, and', () => any(virtualTime)(vi, { act: true })],
  [
    'renderWithSteadfetch: its first argument is {}, and must be the render',
    () => any(renderWithSteadfetch)({}, () => {}),
  ],
  [
    'renderWithSteadfetch: queryClient is 1, and must be left out',
    () => any(renderWithSteadfetch)(() => ({}), null, { queryClient: 1 }),
  ],
];

test.each(guesses)('a guess is refused where it is made: %s', (message, create) => {
  expect(create).toThrow(TypeError);
  expect(create).toThrow(message);
  expect(vi.isFakeTimers()).toBe(false);
});

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
