import { HttpResponse } from 'msw';
import { createFault, type Fault } from './fault.ts';
import { describeTimes, requireTimes, type TimesOption } from './options.ts';

/**
 * Breaks the connection before any answer: `fetch` rejects with a TypeError, as it does when the
 * server cannot be reached.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { networkError } from 'steadfetch/testing';
 *
 * http.get('/api/products', networkError({ times: 1 }));
 * ```
 */
export function networkError({ times = Infinity }: TimesOption = {}): Fault {
  requireTimes('networkError', times);
  return createFault({
    description: describeTimes(times, (requests) => `breaks the connection of ${requests}`),
    answer: (_request, count) => (count > times ? undefined : HttpResponse.error()),
  });
}
