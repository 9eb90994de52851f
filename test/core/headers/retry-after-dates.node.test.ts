import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseHttpDate } from '../../../src/core/headers/retry-after.ts';

/** 21 November 2026, 00:00:00 UTC. */
const nowMs = 1_795_219_200_000;
const seed = 9110;

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const monthNames = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

const twoDigits = (number: number): string => String(number).padStart(2, '0');

/** The three forms of one time, written with JavaScript's own calendar (an independent one). */
function formatAll(epochMs: number): { imfFixdate: string; rfc850: string; asctime: string } {
  const date = new Date(epochMs);
  const dayName = dayNames[date.getUTCDay()] ?? '';
  const month = monthNames[date.getUTCMonth()] ?? '';
  const day = date.getUTCDate();
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const time = date.toISOString().slice(-13, -5);
  return {
    imfFixdate: `${dayName.slice(0, 3)}, ${twoDigits(day)} ${month} ${year} ${time} GMT`,
    rfc850: `${dayName}, ${twoDigits(day)}-${month}-${year.slice(-2)} ${time} GMT`,
    asctime: `${dayName.slice(0, 3)} ${month} ${String(day).padStart(2, ' ')} ${time} ${year}`,
  };
}

/** RFC 9110 §5.6.7's own examples: the same second in its three forms. */
const examples = [
  'Sun, 06 Nov 1994 08:49:37 GMT',
  'Sunday, 06-Nov-94 08:49:37 GMT',
  'Sun Nov  6 08:49:37 1994',
];
const exampleMs = 784_111_777_000;

// HTTP-dates are in UTC, the asctime form too, which names no zone and which Date.parse reads in
// the zone of the machine. A run in UTC alone would not see that mistake.
describe.each(['UTC', 'America/New_York', 'Asia/Kolkata'])('on a machine in %s', (timeZone) => {
  const machineTimeZone = process.env.TZ;
  beforeEach(() => {
    process.env.TZ = timeZone;
  });
  afterEach(() => {
    if (machineTimeZone === undefined) delete process.env.TZ;
    else process.env.TZ = machineTimeZone;
  });

  test('the zone is in effect', () => {
    const offsets = { UTC: 0, 'America/New_York': 300, 'Asia/Kolkata': -330 };
    expect(offsets).toHaveProperty(timeZone, new Date(nowMs).getTimezoneOffset());
  });

  test.each(examples)("RFC 9110's example %j is read as that second in UTC", (value) => {
    expect(parseHttpDate(value, nowMs)).toBe(exampleMs);
  });

  // httpdate (Rust), src/lib.rs: its valid vectors, in epoch seconds.
  test.each([
    ['Sun, 02 Oct 2016 14:44:11 GMT', 1_475_419_451],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Thu, 01 Jan 1970 01:00:00 GMT', 3_600],
    ['Fri, 02 Jan 1970 01:00:00 GMT', 90_000],
    ['Sun, 01 Feb 1970 01:00:00 GMT', 2_682_000],
    ['Tue, 03 Mar 1970 01:00:00 GMT', 5_274_000],
    ['Wed, 03 Mar 1971 01:00:05 GMT', 36_810_005],
    ['Mon, 30 Aug 1971 01:00:05 GMT', 52_362_005],
    ['Mon, 08 Nov 1971 01:00:05 GMT', 58_410_005],
    ['Fri, 26 Mar 1999 01:00:05 GMT', 922_410_005],
  ])('%j is epoch second %i', (value, epochSeconds) => {
    expect(parseHttpDate(value, nowMs)).toBe(epochSeconds * 1000);
  });

  // http-tests/cache-tests, expires-parse: the forms that a cache reuses.
  test.each([
    ['Tue, 19 Jan 2038 14:14:08 GMT', 2_147_523_248],
    ['Sun, 21 Nov 2286 04:46:39 GMT', 10_000_039_599],
    ['Thursday, 18-Aug-50 02:01:18 GMT', 2_544_400_878],
    ['Thu Aug  8 02:01:18 2050', 2_543_536_878],
  ])('%j is epoch second %i', (value, epochSeconds) => {
    expect(parseHttpDate(value, nowMs)).toBe(epochSeconds * 1000);
  });
});

describe('what is not an HTTP-date', () => {
  // Go, net/http/header_test.go: the values that http.ParseTime refuses.
  test.each(['', 'invalid', '1994-11-06T08:49:37Z00:00'])('%j is refused, as in Go', (value) => {
    expect(parseHttpDate(value, nowMs)).toBeUndefined();
  });

  // httpdate (Rust), src/lib.rs: its invalid vectors, but for year 1000 (see below).
  test.each(['Sun Nov 10 08*00:00 1000', 'Sunday, 06-Nov-94 08+49:37 GMT'])(
    '%j is refused, as in httpdate',
    (value) => {
      expect(parseHttpDate(value, nowMs)).toBeUndefined();
    },
  );

  // http-tests/cache-tests, expires-parse and expires-freshness: the values that no cache may use.
  test.each([
    'Thu, 18 Aug 2050 02:01:18 UTC',
    'Thu, 18 Aug 2050 02:01:18 AEST',
    'Thu, 18 Aug 50 02:01:18 GMT',
    'Thu 18 Aug 2050 02:01:18 GMT',
    'Thu, 18  Aug  2050 02:01:18 GMT',
    'Thu, 18-Aug-2050 02:01:18 GMT',
    'Thu, 18 Aug 2050 02.01.18 GMT',
    'Thu, 18 Aug 2050 2:01:18 GMT',
    'Thu, 18 Aug 2050 2:01:18 GMT, Thu, 18 Aug 2050 2:01:19 GMT',
    '0',
    'foo',
  ])('%j is refused, as in cache-tests', (value) => {
    expect(parseHttpDate(value, nowMs)).toBeUndefined();
  });

  // The same suite calls a cache optimal that accepts these: RFC 9111 §4.2 asks caches to ignore
  // case in Expires. That is a rule for caches; by RFC 9110 §5.6.7 an HTTP-date is case-sensitive.
  test.each([
    'THU, 18 Aug 2050 02:01:18 GMT',
    'Thu, 18 AUG 2050 02:01:18 GMT',
    'Thu, 18 Aug 2050 02:01:18 gMT',
  ])('%j is refused for its case, although a cache may accept it', (value) => {
    expect(parseHttpDate(value, nowMs)).toBeUndefined();
  });

  test.each(examples)('no letter of %j may change its case', (value) => {
    for (const [index, letter] of [...value].entries()) {
      if (!/[A-Za-z]/.test(letter)) continue;
      const swapped = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
      const changed = value.slice(0, index) + swapped + value.slice(index + 1);
      expect(parseHttpDate(changed, nowMs), changed).toBeUndefined();
    }
  });

  test.each(examples)('no character of %j may be missing, doubled or another sign', (value) => {
    for (const [index, character] of [...value].entries()) {
      for (const replacement of ['', character + character, ...' -:,.*\t\u00A0\u0661']) {
        if (replacement === character) continue;
        const changed = value.slice(0, index) + replacement + value.slice(index + 1);
        expect(parseHttpDate(changed, nowMs), changed).toBeUndefined();
      }
    }
  });

  test.each(examples)('nothing may stand before or after %j', (value) => {
    for (const extra of [' ', '\n', '\0', ',', ', 5', 'x', '0', value, `, ${value}`]) {
      expect(parseHttpDate(value + extra, nowMs), value + extra).toBeUndefined();
      expect(parseHttpDate(extra + value, nowMs), extra + value).toBeUndefined();
    }
  });

  test.each([
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun,  6 Nov 1994 08:49:37 GMT',
    'Sunday,  6-Nov-94 08:49:37 GMT',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sunday, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06-Nov-94 08:49:37 GMT',
    'Sunday Nov  6 08:49:37 1994',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov  6 08:49:37 94',
    'Sun Nov  6 08:49:37 1994 GMT',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49 GMT',
    'Sun, 06 Nov 1994 08:49:37.5 GMT',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 November 1994 08:49:37 GMT',
    '06 Nov 1994 08:49:37 GMT',
    'Son, 06 Nov 1994 08:49:37 GMT',
    'Tueday, 06-Nov-94 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'retry after May 5, 2099',
    'Jan 1 2099',
  ])('%j mixes or leaves the three forms and is refused', (value) => {
    expect(parseHttpDate(value, nowMs)).toBeUndefined();
  });

  test.each([
    ['spaces', ' '.repeat(1_000_000)],
    ['digits', '1'.repeat(1_000_000)],
    ['an unfinished date', `Sun, 06 Nov ${'1994 '.repeat(200_000)}`],
    ['dates', examples.join(' ').repeat(12_000)],
  ])('a megabyte of %s is refused without backtracking', (_, value) => {
    expect(parseHttpDate(value, nowMs)).toBeUndefined();
  });
});

describe('the calendar', () => {
  test('exactly the days that exist are accepted, in leap years and others', () => {
    for (const year of [1900, 1970, 2000, 2023, 2024, 2100, 2400]) {
      for (const [month, monthName] of monthNames.entries()) {
        const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
        for (let day = 0; day <= 99; day += 1) {
          const value = `Sun, ${twoDigits(day)} ${monthName} ${year} 00:00:00 GMT`;
          const expected = day >= 1 && day <= days ? Date.UTC(year, month, day) : undefined;
          expect(parseHttpDate(value, nowMs), value).toBe(expected);
        }
      }
    }
  });

  test.each([
    ['Mon, 29 Feb 2100 00:00:00 GMT', undefined],
    ['Tue, 29 Feb 2000 00:00:00 GMT', 951_782_400_000],
    ['Wed, 31 Feb 2027 00:00:00 GMT', undefined],
    ['Wednesday, 31-Feb-27 00:00:00 GMT', undefined],
    ['Wed Feb 31 00:00:00 2027', undefined],
    ['Wed Feb  0 00:00:00 2027', undefined],
  ])('%j is %s', (value, expected) => {
    expect(parseHttpDate(value, nowMs)).toBe(expected);
  });

  test('the asctime form takes a day below ten with a space or with a zero', () => {
    expect(parseHttpDate('Sun Nov  6 08:49:37 1994', nowMs)).toBe(exampleMs);
    expect(parseHttpDate('Sun Nov 06 08:49:37 1994', nowMs)).toBe(exampleMs);
  });

  test('hours end at 23, minutes at 59 and seconds at 60', () => {
    const at = (time: string): number | undefined =>
      parseHttpDate(`Thu, 01 Jan 1970 ${time} GMT`, nowMs);
    for (let number = 0; number <= 99; number += 1) {
      const digits = twoDigits(number);
      expect(at(`${digits}:00:00`), digits).toBe(number <= 23 ? number * 3_600_000 : undefined);
      expect(at(`00:${digits}:00`), digits).toBe(number <= 59 ? number * 60_000 : undefined);
      expect(at(`00:00:${digits}`), digits).toBe(number <= 60 ? number * 1000 : undefined);
    }
  });

  test('a leap second is the second after it', () => {
    const newYear2017Ms = 1_483_228_800_000;
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT', nowMs)).toBe(newYear2017Ms);
    expect(parseHttpDate('Saturday, 31-Dec-16 23:59:60 GMT', nowMs)).toBe(newYear2017Ms);
    expect(parseHttpDate('Sat Dec 31 23:59:60 2016', nowMs)).toBe(newYear2017Ms);
  });

  test('four digits are the year as it stands, from 0000 to 9999', () => {
    // httpdate (Rust) refuses year 1000: a limit of its clock type, not of the grammar.
    expect(parseHttpDate('Sun Nov 10 08:00:00 1000', nowMs)).toBe(-30_583_152_000_000);
    expect(parseHttpDate('Sat, 01 Jan 0000 00:00:00 GMT', nowMs)).toBe(-62_167_219_200_000);
    expect(parseHttpDate('Sat, 01 Jan 0050 00:00:00 GMT', nowMs)).toBe(-60_589_296_000_000);
    expect(parseHttpDate('Fri, 31 Dec 9999 23:59:59 GMT', nowMs)).toBe(253_402_300_799_000);
  });

  test('the day name has to be a day name, not the right one', () => {
    // The grammar does not tie it to the date, and the date is unambiguous without it.
    for (const dayName of dayNames) {
      const short = dayName.slice(0, 3);
      expect(parseHttpDate(`${short}, 06 Nov 1994 08:49:37 GMT`, nowMs)).toBe(exampleMs);
      expect(parseHttpDate(`${dayName}, 06-Nov-94 08:49:37 GMT`, nowMs)).toBe(exampleMs);
      expect(parseHttpDate(`${short} Nov  6 08:49:37 1994`, nowMs)).toBe(exampleMs);
    }
  });
});

describe('the two-digit year of the RFC 850 form', () => {
  test.each([
    ['2026-11-21T00:00:00Z', 'Saturday, 21-Nov-26 00:00:30 GMT', '2026-11-21T00:00:30Z'],
    ['2026-11-21T00:00:00Z', 'Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37Z'],
    ['2026-11-21T00:00:00Z', 'Sunday, 01-Jan-00 00:00:00 GMT', '2000-01-01T00:00:00Z'],
    ['2026-11-21T00:00:00Z', 'Sunday, 01-Jan-76 00:00:00 GMT', '2076-01-01T00:00:00Z'],
    // Exactly 50 years ahead is not more than 50 years; one second later is.
    ['2026-11-21T00:00:00Z', 'Saturday, 21-Nov-76 00:00:00 GMT', '2076-11-21T00:00:00Z'],
    ['2026-11-21T00:00:00Z', 'Saturday, 21-Nov-76 00:00:01 GMT', '1976-11-21T00:00:01Z'],
    ['2026-11-21T00:00:00Z', 'Friday, 31-Dec-76 23:59:59 GMT', '1976-12-31T23:59:59Z'],
    ['2026-11-21T00:00:00Z', 'Saturday, 01-Jan-77 00:00:00 GMT', '1977-01-01T00:00:00Z'],
    // The window moves with the clock, also at the turn of a year or a century.
    ['2026-12-31T23:59:59Z', 'Saturday, 31-Dec-76 23:59:59 GMT', '2076-12-31T23:59:59Z'],
    ['2026-12-31T23:59:59Z', 'Saturday, 01-Jan-77 00:00:00 GMT', '1977-01-01T00:00:00Z'],
    ['2027-01-01T00:00:00Z', 'Saturday, 01-Jan-77 00:00:00 GMT', '2077-01-01T00:00:00Z'],
    ['2028-01-01T00:00:00Z', 'Saturday, 01-Jan-78 00:00:00 GMT', '2078-01-01T00:00:00Z'],
    ['2099-12-31T23:59:50Z', 'Friday, 01-Jan-00 00:00:00 GMT', '2100-01-01T00:00:00Z'],
    ['2100-01-01T00:00:10Z', 'Thursday, 31-Dec-99 23:59:59 GMT', '2099-12-31T23:59:59Z'],
    ['1970-01-01T00:00:00Z', 'Wednesday, 01-Jan-20 00:00:00 GMT', '2020-01-01T00:00:00Z'],
    ['1970-01-01T00:00:00Z', 'Wednesday, 01-Jan-20 00:00:01 GMT', '1920-01-01T00:00:01Z'],
    // 50 years before a 29 February there is none: the day after stands for it.
    ['2026-03-01T00:00:00Z', 'Saturday, 29-Feb-76 00:00:00 GMT', '2076-02-29T00:00:00Z'],
    ['2026-02-28T23:59:59Z', 'Saturday, 29-Feb-76 00:00:00 GMT', '1976-02-29T00:00:00Z'],
  ])('at %s, %j is %s', (now, value, expected) => {
    expect(parseHttpDate(value, Date.parse(now))).toBe(Date.parse(expected));
  });

  test('29-Feb-00 is a date only while it means a leap year', () => {
    const value = 'Tuesday, 29-Feb-00 00:00:00 GMT';
    expect(parseHttpDate(value, Date.parse('2026-11-21T00:00:00Z'))).toBe(951_782_400_000);
    expect(parseHttpDate(value, Date.parse('2060-01-01T00:00:00Z'))).toBeUndefined();
  });

  test('there is no year without a clock, and the other forms need none', () => {
    for (const noTime of [NaN, Infinity, -Infinity]) {
      expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', noTime)).toBeUndefined();
      expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT', noTime)).toBe(exampleMs);
      expect(parseHttpDate('Sun Nov  6 08:49:37 1994', noTime)).toBe(exampleMs);
    }
  });
});

describe(`properties (seed ${seed})`, () => {
  const secondsOf = (from: string, to: string): fc.Arbitrary<number> =>
    fc.integer({ min: Date.parse(from) / 1000, max: Date.parse(to) / 1000 });

  test('every second of the years 0000 to 9999 comes back from the two four-digit forms', () => {
    fc.assert(
      fc.property(secondsOf('0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'), (seconds) => {
        const { imfFixdate, asctime } = formatAll(seconds * 1000);
        expect(parseHttpDate(imfFixdate, nowMs)).toBe(seconds * 1000);
        expect(parseHttpDate(asctime, nowMs)).toBe(seconds * 1000);
      }),
      { seed, numRuns: 2000 },
    );
  });

  test('every second from 49 years ago to 50 years ahead comes back from the RFC 850 form', () => {
    const now = secondsOf('1970-01-01T00:00:00Z', '9900-01-01T00:00:00Z');
    const yearSeconds = 31_536_000;
    const ahead = fc.integer({ min: -49 * yearSeconds, max: 50 * yearSeconds });
    fc.assert(
      fc.property(now, ahead, (nowSeconds, aheadSeconds) => {
        const epochMs = (nowSeconds + aheadSeconds) * 1000;
        expect(parseHttpDate(formatAll(epochMs).rfc850, nowSeconds * 1000)).toBe(epochMs);
      }),
      { seed, numRuns: 2000 },
    );
  });

  test('any string is epoch milliseconds in whole seconds, or undefined', () => {
    const nearDate = fc
      .tuple(fc.constantFrom(...examples), fc.nat({ max: 32 }), fc.nat({ max: 3 }), fc.string())
      .map(([value, at, cut, insert]) => value.slice(0, at) + insert + value.slice(at + cut));
    const anyString = fc.oneof(fc.string({ unit: 'binary', maxLength: 10_000 }), nearDate);
    fc.assert(
      fc.property(anyString, fc.integer(), (value, anyNowMs) => {
        const epochMs = parseHttpDate(value, anyNowMs);
        expect(epochMs === undefined || Number.isSafeInteger(epochMs / 1000)).toBe(true);
      }),
      { seed, numRuns: 2000 },
    );
  });
});
