import { fromIso, toIso } from './clock.ts';

const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const timeOfDay = '(?<time>\\d\\d:\\d\\d:\\d\\d)';

/** The preferred form, RFC 850's, and asctime's. */
const forms: readonly RegExp[] = [
  `${weekday}, (?<day>\\d\\d) (?<month>[A-Z]..) (?<year>\\d{4}) ${timeOfDay} GMT`,
  `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d\\d)-(?<month>[A-Z]..)-(?<year>\\d\\d) ${timeOfDay} GMT`,
  `${weekday} (?<month>[A-Z]..) (?<day>[ \\d]\\d) ${timeOfDay} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/**
 * Reads an HTTP-date: all three forms of RFC 9110 §5.6.7, by their grammar, in UTC.
 *
 * `Date.parse` is no substitute: it takes the asctime form for local time, and takes much for a
 * date that is none. Case and spaces count, the date must exist in the calendar, and second 60 (a
 * leap second) is the second after 59. The day name must be one, but need not be the right one:
 * the grammar does not tie it to the date.
 *
 * @param value - The field value, without surrounding whitespace.
 * @param nowMs - The current time in epoch milliseconds. Used only for the two-digit year of the
 * RFC 850 form: a time more than 50 years ahead of it is read as the same date a century earlier.
 * @returns Epoch milliseconds, or `undefined` if the value is not an HTTP-date.
 *
 * @example
 * ```ts
 * const nowMs = 1_795_219_200_000; // 21 November 2026
 * parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT', nowMs); // 784111777000
 * parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', nowMs); // 784111777000
 * parseHttpDate('1994-11-06T08:49:37Z', nowMs); // undefined
 * ```
 */
export function parseHttpDate(value: string, nowMs: number): number | undefined {
  for (const form of forms) {
    const parts = form.exec(value)?.groups;
    if (parts) return toEpochMs(parts as typeof parts & DateParts, nowMs);
  }
  return undefined;
}

type DateParts = Readonly<Record<'year' | 'month' | 'day' | 'time', string>>;

/** By way of ISO 8601, of which JavaScript reads and writes one form: what exists comes back as it was. */
function toEpochMs({ year, month, day, time }: DateParts, nowMs: number): number | undefined {
  const monthNumber = `${months.indexOf(month) / 3 + 1}`.padStart(2, '0');
  const second = time.replace(/60$/, '59');
  const rest = `-${monthNumber}-${day.replace(' ', '0')}T${second}.000Z`;
  const now = `${toIso(nowMs)}`;
  // The latest year that puts the time at most 50 years after now, and the one with these digits.
  const latest = +now.slice(0, 4) + (rest > now.slice(4) ? 49 : 50);
  const text = (year.length > 2 ? year : latest - ((latest - +year) % 100)) + rest;
  const epochMs = fromIso(text);
  if (toIso(epochMs) !== text) return undefined;
  return second === time ? epochMs : epochMs + 1000;
}
