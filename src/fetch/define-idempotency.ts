import { code, type MadeBy } from '../lib/made-by.ts';
import { checkIdempotency, type IdempotencyDeclaration } from './idempotency-profile.ts';
import { keyCode } from './keys.ts';

/**
 * Declares what an API does about idempotency keys, for `apis: [{ match, idempotency }]`. An app that
 * declares none does not pay for the code of keys.
 *
 * @throws TypeError when the declaration is not as it must be.
 *
 * @example
 * ```ts
 * const keyed = createSteadfetch({
 *   apis: [{ match: '/api', idempotency: defineIdempotency({ header: 'X-Request-Key', format: 'raw' }) }],
 * });
 * ```
 */
export function defineIdempotency<D extends IdempotencyDeclaration>(
  declaration: D,
): D & MadeBy<'defineIdempotency'> {
  if (process.env.NODE_ENV !== 'production') checkIdempotency('defineIdempotency', declaration);
  return Object.freeze(Object.assign({ ...declaration }, { [code]: keyCode }));
}
