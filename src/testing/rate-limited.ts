import { HttpResponse } from 'msw';
import { systemClock } from '../lib/clock.ts';
import { reject, requireWhole } from '../lib/check.ts';
import { createFault, type Fault } from './fault.ts';
import { requireErrorStatus } from './options.ts';

/** How {@link rateLimited} limits. */
export interface RateLimitedOptions {
  /** How long the window is, in seconds: a whole number from 1 to 2^31 - 1. */
  retryAfterSeconds: number;
  /** The form of Retry-After: `'120'`, or `'Wed, 21 Oct 2015 07:28:00 GMT'`. @default 'seconds' */
  as?: 'seconds' | 'date';
  /** The status of the answer, from 400 to 599. @default 429 */
  status?: number;
}

/**
 * Limits the rate as an API does: the first request opens a window, and every request inside it,
 * the first included, is answered 429 with a Retry-After that leads to the end of the window.
 * After it all requests are let through.
 *
 * Retry-After has whole seconds only. What is left of the window is rounded up to them, so that a
 * client that waits as long as it is told is always late enough. Each answer also has a `Date`
 * header, which a date in Retry-After is to be compared with (RFC 9110 §10.2.3, §5.6.7). MSW shows
 * both headers to the page whatever the origin; a real server of another origin must expose them.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { rateLimited } from 'steadfetch/testing';
 *
 * http.get('/api/products', rateLimited({ retryAfterSeconds: 30, as: 'date' }));
 * ```
 */
export function rateLimited(options: RateLimitedOptions): Fault {
  const { retryAfterSeconds, as = 'seconds', status = 429 } = options;
  requireWhole('rateLimited', 'retryAfterSeconds', retryAfterSeconds, { min: 1, max: 2 ** 31 - 1 });
  requireErrorStatus('rateLimited', status);
  if (as !== 'seconds' && as !== 'date') {
    reject('rateLimited', 'as', as, `'seconds' or 'date'`);
  }
  let endsAt: number | undefined;
  return createFault({
    description: `answers ${status} with Retry-After (as ${as === 'date' ? 'a date' : 'seconds'}) for ${retryAfterSeconds} s from the first request on, then lets them through`,
    answer: () => {
      const now = systemClock.now();
      endsAt ??= now + retryAfterSeconds * 1000;
      if (now >= endsAt) return undefined;
      const retryAfter =
        as === 'date' ? imfFixdate(roundUpToSecond(endsAt)) : `${Math.ceil((endsAt - now) / 1000)}`;
      return new HttpResponse(null, {
        status,
        headers: { 'Retry-After': retryAfter, Date: imfFixdate(now) },
      });
    },
    reset: () => {
      endsAt = undefined;
    },
  });
}

function roundUpToSecond(timeMs: number): number {
  return Math.ceil(timeMs / 1000) * 1000;
}

/** RFC 9110 §5.6.7. `toUTCString` gives exactly this form, and drops the milliseconds. */
function imfFixdate(timeMs: number): string {
  return new Date(timeMs).toUTCString();
}
