import { describe, expect, test } from 'vitest';
import { rateLimitFields } from 'steadfetch';
import {
  type DeclaredRateLimit,
  type RateLimitDialect,
  readRateLimit,
} from '../../../src/core/headers/rate-limit.ts';

/** Saturday, 21 November 2026, 00:00:00 UTC. */
const nowMs = 1_795_219_200_000;

const read = (headers: Record<string, string>, declared?: DeclaredRateLimit | RateLimitDialect) => {
  const answer = new Headers(headers);
  return readRateLimit((name) => answer.get(name), nowMs, declared);
};

const inSeconds = (remaining: number, seconds: number) => ({
  remaining,
  resetAt: nowMs + seconds * 1000,
});

describe('RateLimit', () => {
  test('r are left for t seconds', () => {
    expect(read({ RateLimit: '"default";r=50;t=30' })).toEqual(inSeconds(50, 30));
    expect(read({ RateLimit: 'default; t=30; r=0' })).toEqual(inSeconds(0, 30));
  });

  test('an answer without it says nothing', () => {
    expect(read({})).toBeUndefined();
    expect(readRateLimit(() => undefined, nowMs)).toBeUndefined();
    expect(read({ RateLimit: '' })).toBeUndefined();
  });

  test('the legacy names mean nothing unless they are declared', () => {
    const headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '60' };
    expect(read(headers)).toBeUndefined();
    expect(
      read({ 'RateLimit-Limit': '9', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '60' }),
    ).toBeUndefined();
  });

  test.each([
    ['"a";r=5;t=10, "b";r=4;t=99', 4, 99],
    ['"a";r=4;t=99, "b";r=5;t=10', 4, 99],
    ['"burst";r=2;t=1, "day";r=100;t=80000', 2, 1],
    ['"a";r=0;t=5, "b";r=0;t=60, "c";r=0;t=7', 0, 60],
    ['"a";r=3;t=60, "b";r=3;t=5', 3, 60],
    ['"a";r=0;t=5, "b";r=1;t=600', 0, 5],
  ])('%s: the fewest left are the strictest limit, then the last end', (field, r, t) => {
    expect(read({ RateLimit: field })).toEqual(inSeconds(r, t));
  });

  test('repeated headers are one list', () => {
    const headers = new Headers({ RateLimit: '"a";r=9;t=9' });
    headers.append('RateLimit', '"b";r=1;t=8');
    expect(readRateLimit((name) => headers.get(name), nowMs)).toEqual(inSeconds(1, 8));
  });

  test.each([
    ['r is missing', '"a";t=5'],
    ['r is not an Integer', '"a";r=1.0;t=5'],
    ['r is a String', '"a";r="1";t=5'],
    ['r is negative', '"a";r=-1;t=5'],
    ['r has no value', '"a";r;t=5'],
    ['t is not an Integer', '"a";r=0;t=5.5'],
    ['t is a Date', '"a";r=0;t=@5'],
    ['t is over', '"a";r=0;t=0'],
    ['it has no end', '"a";r=0'],
    ['it is an Inner List', '("a");r=0;t=5'],
  ])('a limit is ignored, and not those beside it, if %s', (_, limit) => {
    expect(read({ RateLimit: limit })).toBeUndefined();
    expect(read({ RateLimit: `${limit}, "b";r=7;t=8` })).toEqual(inSeconds(7, 8));
    expect(read({ RateLimit: `"b";r=7;t=8, ${limit}` })).toEqual(inSeconds(7, 8));
  });

  test('a malformed field is ignored with all of its limits', () => {
    expect(read({ RateLimit: '"a";r=0;t=5, "b";r=' })).toBeUndefined();
    expect(read({ RateLimit: 'limit=100, remaining=0, reset=5' })).toBeUndefined();
  });

  test('the longest t is a finite time', () => {
    expect(read({ RateLimit: '"a";r=0;t=999999999999999' })?.resetAt).toBe(
      nowMs + 999999999999999e3,
    );
  });

  test('no number is made of a clock that has none', () => {
    const fields: Record<string, string> = { ratelimit: '"a";r=0;t=5' };
    for (const broken of [NaN, Infinity, -Infinity]) {
      expect(readRateLimit((name) => fields[name], broken)).toBeUndefined();
    }
  });

  test('an answer that a cache has kept for a while is ignored', () => {
    expect(read({ RateLimit: '"a";r=0;t=5', Age: '1' })).toBeUndefined();
    expect(read({ RateLimit: '"a";r=0;t=5', Age: '0' })).toEqual(inSeconds(0, 5));
    expect(read({ RateLimit: '"a";r=0;t=5', Age: 'young' })).toEqual(inSeconds(0, 5));
  });
});

describe('RateLimit-Policy', () => {
  test.each([
    ['"a";q=9;w=60', 60],
    ['"b";q=9;w=5, "a";w=60;q=9', 60],
    ['"a";q=9;w=5, "a";q=9;w=60', 60],
  ])('%s: its window is the end of the limit with its name that has none', (policy, seconds) => {
    const headers = { RateLimit: '"a";r=3', 'RateLimit-Policy': policy };
    expect(read(headers)).toEqual(inSeconds(3, seconds));
  });

  test.each(['"b";q=9;w=60', 'a;q=9;w=60', '"a";q=9', '"a";q=9;w=0', '"a";w=60, ='])(
    '%s gives "a" no end',
    (policy) => {
      expect(read({ RateLimit: '"a";r=3', 'RateLimit-Policy': policy })).toBeUndefined();
    },
  );

  test('t comes before the window, also an invalid one', () => {
    const policy = { 'RateLimit-Policy': '"a";q=9;w=60' };
    expect(read({ RateLimit: '"a";r=3;t=7', ...policy })).toEqual(inSeconds(3, 7));
    expect(read({ RateLimit: '"a";r=3;t="7"', ...policy })).toBeUndefined();
  });

  test('a policy is no limit by itself, and a name of Object.prototype no policy', () => {
    expect(read({ 'RateLimit-Policy': '"a";r=0;t=5;w=60' })).toBeUndefined();
    expect(read({ RateLimit: 'constructor;r=0' })).toBeUndefined();
  });
});

describe('declared headers', () => {
  const declare = (format: DeclaredRateLimit['format']): DeclaredRateLimit => ({
    remaining: 'X-Left',
    reset: 'X-Until',
    format,
  });
  const readDeclared = (
    format: DeclaredRateLimit['format'],
    left: string,
    until: string,
    others: Record<string, string> = {},
  ) => read({ 'X-Left': left, 'X-Until': until, ...others }, declare(format));

  test.each([
    ['epoch-seconds', '1795219260', 60_000],
    ['epoch-seconds', '1795219200.123', 123],
    ['epoch-ms', '1795219260000', 60_000],
    ['delta-seconds', '60', 60_000],
    ['delta-seconds', '64.57', 64_570],
    ['delta-seconds', '0.0001', 1],
  ] as const)('%s: %s is %i ms ahead', (format, until, delayMs) => {
    expect(readDeclared(format, '3', until)).toEqual({ remaining: 3, resetAt: nowMs + delayMs });
  });

  test('a fraction of what is left is not a request', () => {
    expect(readDeclared('delta-seconds', '598.9', '5')).toEqual(inSeconds(598, 5));
    expect(readDeclared('delta-seconds', '0.9', '5')).toEqual(inSeconds(0, 5));
  });

  test.each(['', '-1', '+1', '1e3', '1.', '.5', '0x10', '1,5', '1, 1', '60s', 'Infinity'])(
    '%j is no number',
    (text) => {
      expect(readDeclared('delta-seconds', text, '5')).toBeUndefined();
      expect(readDeclared('delta-seconds', '0', text)).toBeUndefined();
    },
  );

  test('at most 15 digits are read, and 15 of a fraction', () => {
    const most = '9'.repeat(15);
    expect(readDeclared('delta-seconds', '0', `5.${'0'.repeat(15)}`)).toEqual(inSeconds(0, 5));
    expect(readDeclared('delta-seconds', '0', `5.${'0'.repeat(16)}`)).toBeUndefined();
    expect(readDeclared('delta-seconds', most, most)).toEqual(inSeconds(+most, +most));
    expect(readDeclared('delta-seconds', `${most}9`, '5')).toBeUndefined();
    expect(readDeclared('delta-seconds', '0', `${most}9`)).toBeUndefined();
  });

  test('one header without the other says nothing', () => {
    expect(read({ 'X-Left': '0' }, declare('delta-seconds'))).toBeUndefined();
    expect(read({ 'X-Until': '5' }, declare('delta-seconds'))).toBeUndefined();
  });

  test('a reset that is past says nothing', () => {
    expect(readDeclared('epoch-seconds', '0', '1795219200')).toBeUndefined();
    expect(readDeclared('epoch-ms', '0', '1795219199999')).toBeUndefined();
    expect(readDeclared('delta-seconds', '0', '0')).toBeUndefined();
  });

  test.each(['epoch-seconds', 'epoch-ms'] as const)(
    '%s counts from the Date of the answer: a wrong local clock does not matter',
    (format) => {
      const until = String((1_795_219_200 + 3600 + 30) * (format === 'epoch-ms' ? 1000 : 1));
      const hourAhead = { Date: 'Sat, 21 Nov 2026 01:00:00 GMT' };
      expect(readDeclared(format, '0', until, hourAhead)).toEqual(inSeconds(0, 30));
      expect(readDeclared(format, '0', until, { Date: 'now' })).toEqual(inSeconds(0, 3630));
    },
  );

  test('seconds left count from receipt, whatever the Date', () => {
    const others = { Date: 'Sat, 21 Nov 2026 01:00:00 GMT' };
    expect(readDeclared('delta-seconds', '0', '30', others)).toEqual(inSeconds(0, 30));
  });

  test('the strictest of the declared and the standard limits counts', () => {
    const standard = { RateLimit: '"a";r=5;t=50' };
    expect(readDeclared('delta-seconds', '4', '30', standard)).toEqual(inSeconds(4, 30));
    expect(readDeclared('delta-seconds', '6', '30', standard)).toEqual(inSeconds(5, 50));
    expect(readDeclared('delta-seconds', '5', '60', standard)).toEqual(inSeconds(5, 60));
    expect(readDeclared('delta-seconds', '-', '60', standard)).toEqual(inSeconds(5, 50));
  });
});

describe('the headers of a well-known API', () => {
  const remaining = (left: number, ms: number) => ({ remaining: left, resetAt: nowMs + ms });
  const inAnHour = String(nowMs / 1000 + 3600);

  test.each<[RateLimitDialect['dialect'], Record<string, string>, number, number]>([
    ['github', { 'X-RateLimit-Remaining': '42', 'X-RateLimit-Reset': inAnHour }, 42, 3_600_000],
    ['github', { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': inAnHour }, 0, 3_600_000],
    ['draft-6', { 'RateLimit-Remaining': '3', 'RateLimit-Reset': '50' }, 3, 50_000],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '32/40' }, 8, 1000],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '40/40' }, 0, 1000],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '41/40' }, 0, 1000],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '40/40', 'Retry-After': '2.0' }, 0, 2000],
    ['shopify', { 'Retry-After': '0.0015' }, 0, 2],
    ['shopify', { 'Retry-After': '12.5' }, 0, 12_500],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '3/8' }, 5, 1000],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '1/400' }, 399, 1000],
  ])('%s: %j', (dialect, headers, left, ms) => {
    expect(read(headers, { dialect })).toEqual(remaining(left, ms));
  });

  test.each<[RateLimitDialect['dialect'], Record<string, string>]>([
    ['github', { 'X-RateLimit-Remaining': '42' }],
    ['github', { 'X-RateLimit-Remaining': '42', 'X-RateLimit-Reset': '60' }],
    ['github', { 'X-RateLimit-Remaining': '-1', 'X-RateLimit-Reset': inAnHour }],
    ['draft-6', { 'RateLimit-Remaining': '3', 'RateLimit-Reset': '0' }],
    ['draft-6', { 'X-RateLimit-Remaining': '3', 'X-RateLimit-Reset': '50' }],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '0/0' }],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '32' }],
    ['shopify', { 'Retry-After': '-2.0' }],
    ['shopify', { 'Retry-After': '2.0 or more' }],
    ['github', { 'Retry-After': '2.0' }],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '-1/40' }],
    ['shopify', { 'X-Shopify-Shop-Api-Call-Limit': '32/40, 1/40' }],
  ])('%s: %j says nothing', (dialect, headers) => {
    expect(read(headers, { dialect })).toBeUndefined();
  });

  test('a name that nobody has is refused', () => {
    expect(() => rateLimitFields({ dialect: 'gitlab' as 'github' })).toThrow(
      "rateLimitFields: dialect is 'gitlab', and must be one of github, shopify, draft-6.",
    );
    expect(() => rateLimitFields({ dialect: 'github', reset: 'x' } as never)).toThrow(
      'rateLimitFields: reset is',
    );
  });
});

describe('what rateLimitFields is given', () => {
  const own = { remaining: 'X-Left', reset: 'X-Reset_1', format: 'epoch-ms' } as const;

  test.each<DeclaredRateLimit | RateLimitDialect>([
    own,
    { ...own, format: 'epoch-seconds' },
    { ...own, format: 'delta-seconds' },
    { dialect: 'github' },
    { dialect: 'shopify' },
    { dialect: 'draft-6' },
  ])('%j is taken', (given) => {
    expect(() => rateLimitFields(given)).not.toThrow();
  });

  test.each<[change: object, message: string]>([
    [{ remaining: undefined }, 'remaining is undefined, and must be the name of a header.'],
    [{ remaining: ' x-left' }, "remaining is ' x-left', and must be the name of a header."],
    [{ remaining: 'x-left ' }, "remaining is 'x-left ', and must be the name of a header."],
    [{ reset: 60 }, 'reset is 60, and must be the name of a header.'],
    [{ reset: '' }, "reset is '', and must be the name of a header."],
    [{ reset: ['x-reset'] }, 'reset is ["x-reset"], and must be the name of a header.'],
    [
      { format: 'seconds' },
      "format is 'seconds', and must be one of epoch-seconds, epoch-ms, delta-seconds.",
    ],
    [{ resets: 'x-reset' }, 'resets'],
    [{ dialects: 'github' }, 'did you mean dialect?'],
  ])('%j is refused', (change, message) => {
    const declare = (): unknown => rateLimitFields({ ...own, ...change });
    expect(declare).toThrow(message);
    expect(declare).toThrow(/^rateLimitFields\b/);
  });
});
