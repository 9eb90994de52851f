import { HttpResponse } from 'msw';
import { createFault, type Fault } from './fault.ts';
import { requireDelay } from './options.ts';
import { createWaits } from './waits.ts';

/** How slow {@link slow} is. */
export interface SlowOptions {
  /** How long each request waits, in milliseconds: a whole number from 0 to 2^31 - 1. */
  delayMs: number;
}

/**
 * Delays every request and then lets it through, so that the next handler answers it late. A
 * request that is aborted meanwhile, or that still waits when the fault is reset, goes no further.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http, HttpResponse } from 'msw';
 * import { slow } from 'steadfetch/testing';
 *
 * const handlers = [
 *   http.get('/api/products', slow({ delayMs: 3000 })),
 *   http.get('/api/products', () => HttpResponse.json([])),
 * ];
 * ```
 */
export function slow({ delayMs }: SlowOptions): Fault {
  requireDelay('slow', 'delayMs', delayMs);
  const waits = createWaits();
  return createFault({
    description: `delays every request by ${delayMs} ms, then lets it through`,
    answer: async (request) => {
      const elapsed = await waits.wait(request.signal, delayMs);
      // An answer that nobody hears: it keeps MSW from asking the next handler.
      return elapsed ? undefined : HttpResponse.error();
    },
    reset: waits.endAll,
  });
}
