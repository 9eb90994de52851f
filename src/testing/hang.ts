import { HttpResponse } from 'msw';
import { createFault, type Fault } from './fault.ts';
import { describeTimes, requireTimes, type TimesOption } from './options.ts';
import { createWaits } from './waits.ts';

/**
 * Never answers. The request ends when its caller aborts it (a timeout, mostly), or with a network
 * error when the fault is reset.
 *
 * No timer runs meanwhile. Two limits are not ours: Node's own `fetch` gives up after 300 s without
 * headers, in virtual time too, and a service worker does not tell the page of an abort: there
 * `fetch` rejects at once all the same, but MSW keeps the request until `reset()`.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { hang } from 'steadfetch/testing';
 *
 * http.get('/api/products', hang({ times: 1 }));
 * ```
 */
export function hang({ times = Infinity }: TimesOption = {}): Fault {
  requireTimes('hang', times);
  const waits = createWaits();
  return createFault({
    description: describeTimes(times, (requests) => `leaves ${requests} without an answer`),
    answer: async (request, count) => {
      if (count > times) return undefined;
      await waits.wait(request.signal);
      return HttpResponse.error();
    },
    reset: waits.endAll,
  });
}
