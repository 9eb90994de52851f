import { checkNames, reject } from '../../core/lib/input/check.ts';
import { systemClock } from '../../core/lib/clock.ts';
import { failTimes } from './answer-faults.ts';
import { createFault, type Fault, requireResolver, type ResolverInfo } from './fault.ts';

/** The times of an outage, and its fault. */
export interface OutageOptions<Info extends ResolverInfo = ResolverInfo> {
  /** When it begins, in milliseconds after the first request: a number from 0. @default 0 */
  fromMs?: number;
  /** When it ends, in milliseconds after the first request: more than `fromMs`, or Infinity. */
  toMs: number;
  /** The fault of requests during it, for example `networkError()` or `hang()`. @default failTimes(Infinity, 503) */
  fault?: Fault<Info>;
}

/**
 * A server outage: requests during it fail, and all others are let through. Its time starts with the first
 * request after creation or the last `reset()`, whatever the outcome of that request.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { networkError, outage } from 'steadfetch/testing';
 *
 * http.get('/api/products', outage({ fromMs: 5000, toMs: 35_000, fault: networkError() }));
 * ```
 */
export function outage<Info extends ResolverInfo = ResolverInfo>(
  options: OutageOptions<Info>,
): Fault<Info> {
  checkNames('outage', options, ['fromMs', 'toMs', 'fault']);
  const { fromMs = 0, toMs, fault = failTimes(Infinity, 503) } = options;
  requireResolver('outage', 'fault', fault);
  if (!(fromMs >= 0 && fromMs < Infinity)) reject('outage', 'fromMs', fromMs, 'a number from 0');
  if (!(toMs > fromMs)) reject('outage', 'toMs', toMs, `more than fromMs, which is ${fromMs}`);
  let startedAt: number | undefined;
  return createFault<Info>({
    description: `${fault.description}, from ${fromMs} ms to ${toMs} ms after the first one, and lets the others through`,
    answer: (_request, _count, info) => {
      const now = systemClock.now();
      startedAt ??= now;
      const afterMs = now - startedAt;
      return afterMs >= fromMs && afterMs < toMs ? fault(info) : undefined;
    },
    reset: () => {
      startedAt = undefined;
      fault.reset();
    },
  });
}
