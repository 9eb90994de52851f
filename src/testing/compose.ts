import { reject } from '../lib/check.ts';
import { createFault, type Fault } from './fault.ts';

/**
 * Several faults as one: each request is put to them in order, and the first that answers ends it.
 * A fault that lets a request through hands it to the next, so `failTimes(1, 503)` before
 * `networkError({ times: 1 })` fails the first request in one way and the second in the other.
 *
 * It counts what it saw; each of its faults goes on counting what it was asked.
 * `reset()` resets them all.
 *
 * @throws TypeError if there is no fault.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { compose, failTimes, slow } from 'steadfetch/testing';
 *
 * http.get('/api/products', compose(slow({ delayMs: 300 }), failTimes(2, 503)));
 * ```
 */
export function compose(...faults: readonly Fault[]): Fault {
  if (faults.length === 0) reject('compose', 'faults', faults, 'at least one fault');
  return createFault({
    description: faults.map((fault) => fault.description).join('; then '),
    answer: async (request) => {
      for (const fault of faults) {
        const response = await fault({ request });
        if (response) return response;
      }
      return undefined;
    },
    reset: () => {
      for (const fault of faults) fault.reset();
    },
  });
}
