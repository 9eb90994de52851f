import { checkNames, reject, requireWhole } from '../../core/lib/input/check.ts';
import { systemClock } from '../../core/lib/clock.ts';
import {
  createFault,
  describeTimes,
  type Fault,
  requireErrorStatus,
  requireTimes,
} from './fault.ts';
import { requireSeed, seededRandom } from '../seeded-random.ts';

/** The parts of an error answer besides its status. */
export interface ErrorAnswerInit {
  /** The headers of the answer, for example `{ 'Retry-After': '5' }`. */
  headers?: HeadersInit;
  /** The body of the answer. @default an empty one */
  body?: string;
}

/**
 * Answers the first requests with an error status, and lets the later ones through. The answer has no
 * reason phrase (`statusText` is empty), as over HTTP/2 (RFC 9113 §8.3.2).
 *
 * @param times - How many requests fail: a whole number from 0, or Infinity for all of them.
 * @param status - The status of the answer, from 400 to 599.
 * @throws TypeError that names the argument, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { failTimes } from 'steadfetch/testing';
 *
 * http.get('/api/products', failTimes(2, 503, { headers: { 'Retry-After': '5' } }));
 * ```
 */
export function failTimes(times: number, status: number, init: ErrorAnswerInit = {}): Fault {
  requireTimes('failTimes', times);
  checkNames('failTimes', init, ['headers', 'body']);
  requireErrorStatus('failTimes', status);
  // A copy, so that later changes to the caller's headers do not change the answers.
  const headers = new Headers(init.headers);
  const { body } = init;
  return createFault({
    description: describeTimes(times, (requests) => `answers ${status} to ${requests}`),
    answer: (_request, count) =>
      count > times ? undefined : new Response(body, { status, headers }),
  });
}

/** The limit of {@link rateLimited}. */
export interface RateLimitedOptions {
  /** The length of the window, in seconds: a whole number from 1 to 2^31 - 1. */
  retryAfterSeconds: number;
  /** The form of Retry-After: `'120'`, or `'Wed, 21 Oct 2015 07:28:00 GMT'`. @default 'seconds' */
  as?: 'seconds' | 'date';
  /** The status of the answer, from 400 to 599. @default 429 */
  status?: number;
}

/**
 * Limits the rate as an API does. The first request opens a window. Every request in the window,
 * including the first, is answered 429 with a Retry-After that points to the end of the window. All
 * later requests are let through.
 *
 * Retry-After has whole seconds only, so the rest of the window is rounded up: a client that waits for
 * the given time is never too early. Each answer also has a `Date` header, with which a date in
 * Retry-After is compared (RFC 9110 §10.2.3, §5.6.7). MSW shows both headers to the page, whatever the
 * origin. A real server of another origin must expose them.
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
  checkNames('rateLimited', options, ['retryAfterSeconds', 'as', 'status']);
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
        as === 'date'
          ? imfFixdate(Math.ceil(endsAt / 1000) * 1000)
          : `${Math.ceil((endsAt - now) / 1000)}`;
      return new Response(null, {
        status,
        headers: { 'Retry-After': retryAfter, Date: imfFixdate(now) },
      });
    },
    reset: () => {
      endsAt = undefined;
    },
  });
}

/** An HTTP-date (RFC 9110 §5.6.7): `toUTCString` has exactly this form, without milliseconds. */
function imfFixdate(timeMs: number): string {
  return new Date(timeMs).toUTCString();
}

/** The options of {@link flaky}. */
export interface FlakyOptions {
  /** The share of requests that fail, from 0 (none) to 1 (all). */
  ratio: number;
  /** Decides which requests fail: a whole number from 0 to 2^32 - 1. The same seed fails the same requests. */
  seed: number;
  /** The status of the answer, from 400 to 599. @default 503 */
  status?: number;
}

/**
 * Answers some requests with an error status, and lets the others through. The choice can be repeated:
 * whether the nth request fails depends only on the seed, the ratio and n.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { flaky } from 'steadfetch/testing';
 *
 * http.get('/api/products', flaky({ ratio: 0.3, seed: 7 }));
 * ```
 */
export function flaky(options: FlakyOptions): Fault {
  checkNames('flaky', options, ['ratio', 'seed', 'status']);
  const { ratio, seed, status = 503 } = options;
  if (!(ratio >= 0 && ratio <= 1)) reject('flaky', 'ratio', ratio, 'a number from 0 to 1');
  requireErrorStatus('flaky', status);
  requireSeed('flaky', seed);
  let random = seededRandom(seed);
  return createFault({
    description: `answers ${status} to a share of ${ratio} of the requests, chosen by seed ${seed}`,
    answer: () => (random() < ratio ? new Response(null, { status }) : undefined),
    reset: () => {
      random = seededRandom(seed);
    },
  });
}
