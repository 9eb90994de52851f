import { code, type MadeBy } from '../lib/made-by.ts';
import { checkNumbers } from '../lib/check.ts';

/** How many attempts may be in flight at once, and wait for a place: a bulkhead. */
export interface ConcurrencyOptions {
  /** Attempts in flight: sent, and without headers yet. @default Infinity */
  readonly maxInFlight?: number | undefined;
  /** Attempts that wait for a place; one more is refused at once. @default Infinity */
  readonly maxQueued?: number | undefined;
  /** The longest wait for a place, in milliseconds. @default `maxPauseMs` */
  readonly queueTimeoutMs?: number | undefined;
}

/** What a concurrency limit brings. */
export interface ConcurrencyCode extends ConcurrencyOptions {
  readonly by: 'limitConcurrency';
}

/**
 * Limits how many attempts to each origin are in flight at once, for `concurrency` of the instance or
 * of an API with a `partition`.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * const few = createSteadfetch({ concurrency: limitConcurrency({ maxInFlight: 8 }) });
 * ```
 */
export function limitConcurrency(options: ConcurrencyOptions): MadeBy<'limitConcurrency'> {
  const checked = checkNumbers('limitConcurrency', options, {
    maxInFlight: [1, Infinity],
    maxQueued: [0, Infinity],
    queueTimeoutMs: [0, Infinity],
  });
  const made: ConcurrencyCode = { by: 'limitConcurrency', ...checked };
  return { [code]: made };
}
