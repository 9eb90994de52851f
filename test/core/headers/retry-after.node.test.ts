import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../../src/core/headers/retry-after.ts';

// The asctime form names no zone and means UTC: a zone with an offset shows a reading in local time.
const machineTimeZone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = 'America/New_York';
});
afterAll(() => {
  if (machineTimeZone === undefined) delete process.env.TZ;
  else process.env.TZ = machineTimeZone;
});

/** Saturday, 21 November 2026, 00:00:00 UTC. */
const nowMs = 1_795_219_200_000;
const longestDelayMs = 1e15;
const seed = 10_203;

test('these tests run in a zone that is not UTC', () => {
  expect(new Date(nowMs).getTimezoneOffset()).toBe(300);
});

describe('seconds', () => {
  test.each([
    ['0', 0],
    ['1', 1000],
    ['120', 120_000],
    ['007', 7000],
    ['2147484', 2_147_484_000],
  ])('%j is %i ms', (value, delayMs) => {
    expect(parseRetryAfter(value, { nowMs })).toBe(delayMs);
  });

  test('spaces and tabs around the value do not count', () => {
    expect(parseRetryAfter(' \t120\t ', { nowMs })).toBe(120_000);
  });

  test('neither clock nor Date header changes them: they count from receipt', () => {
    const dateHeader = 'Sat, 21 Nov 2026 01:00:00 GMT';
    expect(parseRetryAfter('120', { nowMs, dateHeader })).toBe(120_000);
    expect(parseRetryAfter('120', { nowMs: NaN })).toBe(120_000);
  });

  test('more digits than a number can hold are the longest wait, a finite one', () => {
    expect(parseRetryAfter('1000000000000', { nowMs })).toBe(longestDelayMs);
    expect(parseRetryAfter('1000000000001', { nowMs })).toBe(longestDelayMs);
    expect(parseRetryAfter('99999999999999999999', { nowMs })).toBe(longestDelayMs);
    expect(parseRetryAfter('9'.repeat(100_000), { nowMs })).toBe(longestDelayMs);
  });

  test('now plus the longest wait is still a time that Date can hold', () => {
    expect(new Date(nowMs + longestDelayMs).getTime()).toBe(nowMs + longestDelayMs);
  });
});

describe('a date', () => {
  test.each([
    'Sat, 21 Nov 2026 00:00:30 GMT',
    'Saturday, 21-Nov-26 00:00:30 GMT',
    'Sat Nov 21 00:00:30 2026',
    ' \tSat, 21 Nov 2026 00:00:30 GMT ',
  ])('%j, half a minute from now, is 30 s', (value) => {
    expect(parseRetryAfter(value, { nowMs })).toBe(30_000);
  });

  test.each([
    'Sat, 21 Nov 2026 00:00:00 GMT',
    'Fri, 20 Nov 2026 23:59:59 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'Sat, 01 Jan 0000 00:00:00 GMT',
  ])('%j, not in the future, is no wait', (value) => {
    expect(parseRetryAfter(value, { nowMs })).toBe(0);
  });

  test('the last second of the year 9999 is a finite wait, to the second', () => {
    const value = 'Fri, 31 Dec 9999 23:59:59 GMT';
    expect(parseRetryAfter(value, { nowMs })).toBe(251_607_081_599_000);
  });

  test('a fraction of a millisecond on the clock is rounded up, never to before the date', () => {
    const value = 'Sat, 21 Nov 2026 00:00:30 GMT';
    expect(parseRetryAfter(value, { nowMs: nowMs + 0.25 })).toBe(30_000);
    expect(parseRetryAfter(value, { nowMs: nowMs + 29_999.75 })).toBe(1);
    expect(parseRetryAfter(value, { nowMs: nowMs + 30_000.25 })).toBe(0);
  });

  test('a broken clock gives no answer rather than NaN', () => {
    const value = 'Sat, 21 Nov 2026 00:00:30 GMT';
    expect(parseRetryAfter(value, { nowMs: NaN })).toBeUndefined();
    expect(parseRetryAfter(value, { nowMs: Infinity })).toBeUndefined();
    expect(parseRetryAfter(value, { nowMs: -Infinity })).toBeUndefined();
    expect(parseRetryAfter(value, { nowMs: -1e300 })).toBe(longestDelayMs);
  });
});

describe('a date and the Date header of the same response', () => {
  const retryAfter = 'Sat, 21 Nov 2026 12:00:30 GMT';

  test.each([
    'Sat, 21 Nov 2026 12:00:00 GMT',
    'Saturday, 21-Nov-26 12:00:00 GMT',
    'Sat Nov 21 12:00:00 2026',
    '\tSat, 21 Nov 2026 12:00:00 GMT ',
  ])('the wait is counted from %j, not from a clock that is wrong', (dateHeader) => {
    for (const clockMs of [nowMs - 86_400_000, nowMs, nowMs + 86_400_000]) {
      expect(parseRetryAfter(retryAfter, { nowMs: clockMs, dateHeader })).toBe(30_000);
    }
  });

  test('with a valid Date header no clock is needed', () => {
    const dateHeader = 'Sat, 21 Nov 2026 12:00:00 GMT';
    expect(parseRetryAfter(retryAfter, { nowMs: NaN, dateHeader })).toBe(30_000);
  });

  test('a date before the Date header is no wait, although the clock is behind both', () => {
    const dateHeader = 'Sat, 21 Nov 2026 12:00:31 GMT';
    expect(parseRetryAfter(retryAfter, { nowMs, dateHeader })).toBe(0);
  });

  test('the Date header also decides the century of a two-digit year', () => {
    const context = { nowMs: 0, dateHeader: 'Sat, 21 Nov 2026 00:00:00 GMT' };
    expect(parseRetryAfter('Saturday, 21-Nov-26 00:00:30 GMT', context)).toBe(30_000);
  });

  // http-tests/cache-tests, expires-freshness: with an invalid Date ("foo") the clock is used.
  test.each([
    null,
    undefined,
    '',
    'foo',
    '2026-11-21T12:00:00Z',
    'Sat, 31 Feb 2026 12:00:00 GMT',
    'Sat, 21 Nov 2026 12:00:00 GMT, Sat, 21 Nov 2026 12:00:00 GMT',
    '1795262400',
  ])('a Date header of %j is passed over for the clock', (dateHeader) => {
    const clockMs = nowMs + 12 * 3_600_000 + 25_000;
    const context = { nowMs: clockMs, ...(dateHeader === undefined ? {} : { dateHeader }) };
    expect(parseRetryAfter(retryAfter, context)).toBe(5000);
  });
});

describe('what is ignored', () => {
  test.each([
    ['nothing', ''],
    ['only spaces', ' \t '],
    ['a minus sign', '-1'],
    ['a plus sign', '+1'],
    ['a fraction', '1.5'],
    ['a fraction of zero', '1.0'],
    ['a comma for a point', '1,5'],
    ['an exponent', '1e3'],
    ['a hexadecimal number', '0x10'],
    ['a digit separator', '1_000'],
    ['a unit', '10s'],
    ['letters after digits', '10abc'],
    ['a word', 'Infinity'],
    ['another word', 'NaN'],
    ['a space inside', '1 2'],
    ['quotes', '"120"'],
    ['a parameter', '120;x=1'],
    ['two values', '120, 60'],
    ['the same value twice', '120, 120'],
    ['two values without a space', '120,60'],
    ['an empty list member', '120,'],
    ['a date and a number', 'Sat, 21 Nov 2026 00:00:30 GMT, 5'],
    ['a number and a date', '5, Sat, 21 Nov 2026 00:00:30 GMT'],
    ['two dates', 'Sat, 21 Nov 2026 00:00:30 GMT, Sat, 21 Nov 2026 00:00:30 GMT'],
    ['an ISO 8601 date', '2026-11-21T00:00:30Z'],
    ['a date that does not exist', 'Sat, 31 Feb 2027 00:00:30 GMT'],
    ['a date in prose', 'retry after May 5, 2099'],
    ['a date without a time', 'Jan 1 2099'],
    ['digits of another script', '\u0661\u0662\u0660'],
    ['fullwidth digits', '\uFF11\uFF12'],
    ['a no-break space around', '\u00A0120'],
    ['a line feed around', '120\n'],
    ['a byte order mark around', '\uFEFF120'],
    ['a null character', '120\0'],
    ['a lone surrogate', '\uD800'],
  ])('%s (%j)', (_, value) => {
    expect(parseRetryAfter(value, { nowMs })).toBeUndefined();
  });

  test('a repeated header, as Headers combines it', () => {
    const headers = new Headers([
      ['retry-after', '120'],
      ['retry-after', '60'],
    ]);
    expect(headers.get('retry-after')).toBe('120, 60');
    expect(parseRetryAfter(headers.get('retry-after'), { nowMs })).toBeUndefined();
  });

  test('an absent header', () => {
    expect(parseRetryAfter(new Headers().get('retry-after'), { nowMs })).toBeUndefined();
    expect(parseRetryAfter(undefined, { nowMs })).toBeUndefined();
  });

  test('what is not a string, which untyped callers may pass', () => {
    const throws = {
      toString(): string {
        throw new Error('must not be called');
      },
    };
    const values: unknown[] = [120, 120n, true, ['120'], { length: 3 }, Symbol('120'), throws];
    for (const value of values) {
      expect(parseRetryAfter(value as string, { nowMs })).toBeUndefined();
      const dateHeader = value as string;
      expect(parseRetryAfter('Sat, 21 Nov 2026 00:00:30 GMT', { nowMs, dateHeader })).toBe(30_000);
    }
  });

  test.each([
    ['spaces', ' '.repeat(1_000_000)],
    ['spaces between two digits', `1${' '.repeat(1_000_000)}1`],
    ['digits before a letter', `${'1'.repeat(1_000_000)}x`],
    ['list members', '120, '.repeat(200_000)],
  ])('a megabyte of %s, without backtracking', (_, value) => {
    expect(parseRetryAfter(value, { nowMs })).toBeUndefined();
    expect(parseRetryAfter('120', { nowMs, dateHeader: value })).toBe(120_000);
    const date = 'Sat, 21 Nov 2026 00:00:30 GMT';
    expect(parseRetryAfter(date, { nowMs, dateHeader: value })).toBe(30_000);
  });
});

describe(`properties (seed ${seed})`, () => {
  /** The whole seconds of the years 0000 to 9999. */
  const epochMs = fc
    .integer({ min: -62_167_219_200, max: 253_402_300_799 })
    .map((seconds) => seconds * 1000);
  /** An IMF-fixdate, written by JavaScript's own calendar. */
  const format = (timeMs: number): string => new Date(timeMs).toUTCString();

  test('anything at all is a whole number of ms from 0 to the longest wait, or undefined', () => {
    const digits = fc.array(fc.constantFrom(...'0123456789'), { maxLength: 400 });
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 10_000 }),
      fc.string({ unit: fc.constantFrom(...'0123456789 \t,.-+eE:GMT'), maxLength: 40 }),
      digits.map((characters) => characters.join('')),
      epochMs.map(format),
      fc.anything(),
    );
    fc.assert(
      fc.property(value, value, fc.double(), (retryAfter, dateHeader, anyNowMs) => {
        const delayMs = parseRetryAfter(retryAfter as string, {
          nowMs: anyNowMs,
          dateHeader: dateHeader as string,
        });
        if (delayMs === undefined) return;
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(longestDelayMs);
      }),
      { seed, numRuns: 5000 },
    );
  });

  test('any count of seconds that fits is that count', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: longestDelayMs / 1000 }), (seconds) => {
        expect(parseRetryAfter(String(seconds), { nowMs })).toBe(seconds * 1000);
      }),
      { seed, numRuns: 1000 },
    );
  });

  test('a date waits for its distance from the Date header, whatever the clock says', () => {
    fc.assert(
      fc.property(epochMs, epochMs, fc.integer(), (retryAtMs, sentMs, clockMs) => {
        const context = { nowMs: clockMs, dateHeader: format(sentMs) };
        const delayMs = Math.max(0, retryAtMs - sentMs);
        expect(parseRetryAfter(format(retryAtMs), context)).toBe(delayMs);
      }),
      { seed, numRuns: 2000 },
    );
  });
});
