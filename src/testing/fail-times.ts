import { HttpResponse } from 'msw';
import { createFault, type Fault } from './fault.ts';
import { describeTimes, requireErrorStatus, requireTimes } from './options.ts';

/** What an error answer carries besides its status. */
export interface ErrorAnswerInit {
  /** Its headers, for example `{ 'Retry-After': '5' }`. */
  headers?: HeadersInit;
  /** Its body. @default an empty one */
  body?: string;
}

/**
 * Answers the first requests with an error status, and lets the later ones through.
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
  requireErrorStatus('failTimes', status);
  // Copied now: what the caller does with its own headers later must not change the answers.
  const headers = new Headers(init.headers);
  const { body } = init;
  return createFault({
    description: describeTimes(times, (requests) => `answers ${status} to ${requests}`),
    answer: (_request, count) =>
      count > times ? undefined : new HttpResponse(body, { status, headers }),
  });
}
