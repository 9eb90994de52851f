import { fromIso, toIso } from '../lib/clock.ts';

/**
 * The longest wait that is reported, about 31,700 years. Any number of digits is a valid
 * delay-seconds. This bound is longer than the time between any two HTTP-dates, and the present time
 * plus this bound still fits JavaScript's Date.
 */
const longestDelayMs = 1e15;

/** The context of {@link parseRetryAfter}. */
export interface RetryAfterContext {
  /** When the response was received: epoch milliseconds by the local clock. */
  nowMs: number;
  /**
   * The Date header of the same response. A date in Retry-After is compared with it, so that a
   * wrong local clock does not matter. If it is absent or invalid, `nowMs` takes its place.
   */
  dateHeader?: string | null | undefined;
}

/** The value without surrounding whitespace (RFC 9110 §5.5); '' if it is not ASCII text. */
function fieldText(value: unknown): string {
  return typeof value === 'string' && /^[\t -~]*$/.test(value) ? value.trim() : '';
}

/**
 * Reads a Retry-After header: how long the server asks to wait, counted from the receipt of the
 * response (RFC 9110 §10.2.3).
 *
 * The value is either digits (seconds) or an HTTP-date (§5.6.7). Everything else is ignored: a
 * sign, a fraction, a unit, and the list that `Headers.get` makes of a repeated header. Never
 * throws, whatever the value.
 *
 * @param value - The field value, as `response.headers.get('retry-after')` returns it.
 * @returns Whole milliseconds from 0 (also for a date in the past) to 1e15 (a longer wait is
 * reported as this), or `undefined` if there is no valid value. The caller decides how long is too
 * long.
 *
 * @example
 * ```ts
 * import { parseRetryAfter } from 'steadfetch';
 *
 * const nowMs = 1_795_219_200_000;
 * parseRetryAfter('120', { nowMs }); // 120000
 * parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', {
 *   nowMs,
 *   dateHeader: 'Sun, 06 Nov 1994 08:49:07 GMT',
 * }); // 30000
 * parseRetryAfter('120, 60', { nowMs }); // undefined
 * ```
 */
export function parseRetryAfter(
  value: string | null | undefined,
  { nowMs, dateHeader }: RetryAfterContext,
): number | undefined {
  const text = fieldText(value);
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, longestDelayMs);
  const receivedMs = parseHttpDate(fieldText(dateHeader), nowMs) ?? nowMs;
  const retryAtMs = parseHttpDate(text, receivedMs);
  // With a broken clock the delay would be NaN, which is a retry without a wait.
  if (retryAtMs === undefined || !Number.isFinite(receivedMs)) return undefined;
  // Rounded up, so that no retry comes before the server's time.
  return Math.min(Math.max(0, Math.ceil(retryAtMs - receivedMs)), longestDelayMs);
}

const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const timeOfDay = '(?<time>\\d\\d:\\d\\d:\\d\\d)';

/** The preferred form, that of RFC 850, and that of asctime. */
const forms: readonly RegExp[] = [
  `${weekday}, (?<day>\\d\\d) (?<month>[A-Z]..) (?<year>\\d{4}) ${timeOfDay} GMT`,
  `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d\\d)-(?<month>[A-Z]..)-(?<year>\\d\\d) ${timeOfDay} GMT`,
  `${weekday} (?<month>[A-Z]..) (?<day>[ \\d]\\d) ${timeOfDay} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/**
 * Reads an HTTP-date: all three forms of RFC 9110 §5.6.7, by their grammar, in UTC.
 *
 * `Date.parse` is no substitute: it reads the asctime form as local time, and accepts text that is no
 * HTTP-date. Case and spaces matter, the date must exist in the calendar, and second 60 (a leap second)
 * is the second after 59. The day name must be a day name, but need not fit the date: the grammar does
 * not tie them together.
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

/** Goes through ISO 8601: JavaScript reads and writes one form of it, so a date that exists comes back unchanged. */
function toEpochMs({ year, month, day, time }: DateParts, nowMs: number): number | undefined {
  const monthNumber = `${months.indexOf(month) / 3 + 1}`.padStart(2, '0');
  const second = time.replace(/60$/, '59');
  const rest = `-${monthNumber}-${day.replace(' ', '0')}T${second}.000Z`;
  const now = `${toIso(nowMs)}`;
  // The latest year that is at most 50 years ahead, and the year up to it that ends in these two digits.
  const latest = +now.slice(0, 4) + (rest > now.slice(4) ? 49 : 50);
  const text = (year.length > 2 ? year : latest - ((latest - +year) % 100)) + rest;
  const epochMs = fromIso(text);
  if (toIso(epochMs) !== text) return undefined;
  return second === time ? epochMs : epochMs + 1000;
}
