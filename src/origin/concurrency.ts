import { code, type MadeBy } from '../lib/input/made-by.ts';
import { checkNames, checkValue } from '../lib/input/check.ts';

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
  const operation = 'limitConcurrency';
  if (process.env.NODE_ENV !== 'production')
    checkNames(operation, options, ['maxInFlight', 'maxQueued', 'queueTimeoutMs']);
  const number = (name: keyof ConcurrencyOptions, least: number): number | undefined =>
    checkValue(
      operation,
      name,
      options[name],
      (value) => typeof value === 'number' && value >= least,
      process.env.NODE_ENV !== 'production' && `a number from ${least} to Infinity`,
    );
  const made: ConcurrencyCode = {
    by: operation,
    maxInFlight: number('maxInFlight', 1),
    maxQueued: number('maxQueued', 0),
    queueTimeoutMs: number('queueTimeoutMs', 0),
  };
  return { [code]: made };
}
