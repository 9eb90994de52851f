import { reject } from '../lib/check.ts';
import { code, type MadeBy } from '../lib/made-by.ts';
import {
  type DeclaredRateLimit,
  type RateLimitState,
  readRateLimit,
} from '../headers/rate-limit.ts';

/** What the reading of rate limits brings. */
export interface RateLimitCode {
  readonly by: 'rateLimitFields';
  readonly read: (headers: Headers, nowMs: number) => RateLimitState | undefined;
}

const formats = ['epoch-seconds', 'epoch-ms', 'delta-seconds'];

/**
 * Keeps to what answers say of how many requests are left, for `rateLimit` of the instance or of an
 * API: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) and, where they are
 * declared, the headers of an API from before these.
 *
 * @throws TypeError when the declaration is not as it must be.
 *
 * @example
 * ```ts
 * const polite = createSteadfetch({ rateLimit: rateLimitFields() });
 * ```
 */
export function rateLimitFields(declared?: DeclaredRateLimit): MadeBy<'rateLimitFields'> {
  if (process.env.NODE_ENV !== 'production' && declared) check(declared);
  const made: RateLimitCode = {
    by: 'rateLimitFields',
    read: (headers, nowMs) => readRateLimit((name) => headers.get(name), nowMs, declared),
  };
  return { [code]: made };
}

function check(declared: DeclaredRateLimit): void {
  for (const name of ['remaining', 'reset'] as const)
    if (typeof declared[name] !== 'string' || !/^[\w-]+$/.test(declared[name]))
      reject('rateLimitFields', name, declared[name], 'the name of a header');
  const { format } = declared;
  if (!formats.includes(format))
    reject('rateLimitFields', 'format', format, `one of ${formats.join(', ')}`);
}
