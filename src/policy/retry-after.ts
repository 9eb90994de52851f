import { parseHttpDate } from './http-date.ts';

/**
 * The longest wait that is reported, about 31,700 years. Any run of digits is a valid
 * delay-seconds; this bound is longer than the time between any two HTTP-dates, and the present
 * plus it is still a time that JavaScript's Date can hold.
 */
const longestDelayMs = 1e15;

/** What {@link parseRetryAfter} needs to know besides the header itself. */
export interface RetryAfterContext {
  /** When the response was received: epoch milliseconds by the local clock. */
  nowMs: number;
  /**
   * The Date header of the same response. A date in Retry-After is compared with it, so that a
   * wrong local clock does not matter. If it is absent or invalid, `nowMs` takes its place.
   */
  dateHeader?: string | null | undefined;
}

/** The value without the whitespace around it (RFC 9110 §5.5); '' if it is no ASCII text. */
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
 * reported as this), or `undefined` if there is no valid value. It is the server's wish as it
 * stands: the caller decides how long is too long.
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
  // NaN as a delay would be a retry without a wait, so a broken clock yields no answer.
  if (retryAtMs === undefined || !Number.isFinite(receivedMs)) return undefined;
  // Rounded up: never before the server's time.
  return Math.min(Math.max(0, Math.ceil(retryAtMs - receivedMs)), longestDelayMs);
}
