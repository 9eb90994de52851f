import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RateLimitState, readRateLimit } from '../../../src/core/headers/rate-limit.ts';
import { anyTimeMs } from '../policy/arbitraries.ts';

const seed = 4651;

/** Any bytes, as a browser turns them into a header's text: one character for each. */
const anyBytes = fc.uint8Array({ maxLength: 64 }).map((bytes) => String.fromCharCode(...bytes));

const anyMember = fc
  .tuple(
    fc.constantFrom('"a"', 'b', '5', '(b)'),
    fc.constantFrom('', ';r=0;t=9', ';r=5;t=60', ';r=5;t=9', ';r=5'),
    fc.array(fc.constantFrom(';r=0', ';t=0', ';w=60', ';t', ';r=0.5'), { maxLength: 1 }),
  )
  .map(([name, limit, parameters]) => name + limit + parameters.join(''));

const almostValid = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aA"\\;=, \t0159.-@:?%*()rtw'), maxLength: 40 }),
  fc.array(anyMember, { minLength: 1, maxLength: 3 }).map((members) => members.join(', ')),
  fc.array(anyMember, { minLength: 1, maxLength: 3 }).map((members) => members.join()),
  fc.nat().map(String),
  fc.double({ min: 0, noNaN: true }).map(String),
);

const anyHeader = fc.oneof(
  anyBytes,
  almostValid,
  almostValid,
  almostValid,
  fc.constantFrom(null, undefined),
);

const anyDeclared = fc.oneof(
  fc
    .constantFrom('epoch-seconds', 'epoch-ms', 'delta-seconds')
    .map((format) => ({ remaining: 'left', reset: 'until', format })),
  fc.constantFrom('github', 'shopify', 'draft-6').map((dialect) => ({ dialect })),
);

const anyBucket = fc.oneof(
  anyHeader,
  fc.tuple(fc.nat(), fc.nat()).map((pair) => pair.join('/')),
  fc.tuple(fc.integer(), fc.double()).map((pair) => pair.join('/')),
);

test(`any bytes give a whole number left until a finite time ahead, or nothing (seed ${seed})`, () => {
  let found = 0;
  let ignored = 0;
  fc.assert(
    fc.property(
      fc.record({
        ratelimit: anyHeader,
        'ratelimit-policy': anyHeader,
        left: anyHeader,
        until: anyHeader,
        'x-ratelimit-remaining': anyHeader,
        'x-ratelimit-reset': anyHeader,
        'ratelimit-remaining': anyHeader,
        'ratelimit-reset': anyHeader,
        'retry-after': anyHeader,
        'x-shopify-shop-api-call-limit': anyBucket,
        date: anyHeader,
      }),
      fc.option(anyDeclared, { nil: undefined }),
      fc.oneof({ weight: 4, arbitrary: anyTimeMs }, fc.double()),
      (headers: Record<string, string | null | undefined>, declared, nowMs) => {
        const state = readRateLimit((name) => headers[name], nowMs, declared);
        if (!state) {
          ignored++;
          return true;
        }
        found++;
        const { remaining, resetAt } = state;
        return (
          Number.isInteger(remaining) &&
          remaining >= 0 &&
          Number.isFinite(resetAt) &&
          resetAt > nowMs
        );
      },
    ),
    { seed, numRuns: 5000 },
  );
  // Both ways were taken, often.
  expect(found).toBeGreaterThan(500);
  expect(ignored).toBeGreaterThan(500);
});

const anyLimits = fc.array(
  fc.record({ remaining: fc.nat({ max: 5 }), seconds: fc.integer({ min: 1, max: 9 }) }),
  { minLength: 1 },
);

test(`who keeps to what is read exceeds no limit before it ends (seed ${seed})`, () => {
  fc.assert(
    fc.property(anyLimits, (limits) => {
      const field = limits.map(({ remaining, seconds }, i) => `"${i}";r=${remaining};t=${seconds}`);
      const state = readRateLimit((name) => (name === 'ratelimit' ? field.join() : null), 0);
      const all = limits.map(({ remaining, seconds }): RateLimitState => ({
        remaining,
        resetAt: seconds * 1000,
      }));
      const { remaining, resetAt } = state ?? { remaining: NaN, resetAt: NaN };
      expect(all).toContainEqual({ remaining, resetAt });
      const allowsLess = (limit: RateLimitState): boolean =>
        limit.remaining < remaining || (limit.remaining === remaining && limit.resetAt > resetAt);
      expect(all.filter(allowsLess)).toEqual([]);
    }),
    { seed, numRuns: 1000 },
  );
});

/** A megabyte and more of what a pattern that backtracks would take for ever, or a stack, to refuse. */
const megabyte = 2 ** 20;
test.each([
  ['an open String', `"${'a'.repeat(8 * megabyte)}`],
  ['escapes', `"${'\\"'.repeat(megabyte)}`],
  ['an open Inner List', `(${'a '.repeat(8 * megabyte)}`],
  ['spaces', `a${' '.repeat(megabyte)}b`],
  ['parameters', `a${';b'.repeat(megabyte)};`],
  ['limits without an end', '"a";r=1,'.repeat(megabyte)],
  ['digits', '1'.repeat(megabyte)],
  ['a fraction', `1.${'1'.repeat(megabyte)}`],
])('a hostile field is ignored: %s', (_, hostile) => {
  for (const format of ['epoch-seconds', 'epoch-ms', 'delta-seconds'] as const) {
    const declared = { remaining: 'left', reset: 'until', format };
    expect(readRateLimit(() => hostile, 0, declared)).toBeUndefined();
  }
});

test.each([
  ['an open String', '"', 'a', ''],
  ['Strings in an open Inner List', '(', '"a" ', ''],
  ['Display Strings in an open Inner List', '(', '%"a" ', ''],
  ['parameters in an open Inner List', '(a', ';b=1.1', ''],
  ['spaces in an open Inner List', '(', 'a        ', ''],
  ['a Token with a bad end', 'a', 'a', '"'],
  ['spaces before a bad key', 'a;', ' ', '='],
])('a field of the longest length that is read is refused: %s', (_, first, many, end) => {
  const field = (first + many.repeat(16_000 / many.length)).concat(end);
  expect(readRateLimit(() => field, 0)).toBeUndefined();
});
