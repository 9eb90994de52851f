import { HttpResponse } from 'msw';
import { reject } from '../lib/check.ts';
import { createFault, type Fault } from './fault.ts';
import { requireErrorStatus, requireSeed } from './options.ts';
import { seededRandom } from './seeded-random.ts';

/** How often, and how, {@link flaky} fails. */
export interface FlakyOptions {
  /** The share of requests that fails, from 0 (none) to 1 (all). */
  ratio: number;
  /** Chooses which ones: a whole number from 0 to 2^32 - 1. The same seed fails the same ones. */
  seed: number;
  /** The status of the answer, from 400 to 599. @default 503 */
  status?: number;
}

/**
 * Answers some requests with an error status and lets the others through, by chance that repeats:
 * whether the nth request fails depends on the seed, the ratio and n alone.
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
export function flaky({ ratio, seed, status = 503 }: FlakyOptions): Fault {
  if (!(ratio >= 0 && ratio <= 1)) reject('flaky', 'ratio', ratio, 'a number from 0 to 1');
  requireErrorStatus('flaky', status);
  requireSeed('flaky', seed);
  let random = seededRandom(seed);
  return createFault({
    description: `answers ${status} to a share of ${ratio} of the requests, chosen by seed ${seed}`,
    answer: () => (random() < ratio ? new HttpResponse(null, { status }) : undefined),
    reset: () => {
      random = seededRandom(seed);
    },
  });
}
