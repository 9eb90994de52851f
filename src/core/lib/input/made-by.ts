import { inDevelopment } from '../development.ts';
import { checkValue } from './check.ts';

/** The key under which a value carries its code: an app that does not create the value does not bundle the code. */
export const code: unique symbol = Symbol('code');

/** A value that only the named function of the package can create: TypeScript refuses any other object. */
export interface MadeBy<Maker extends string> {
  readonly [code]: { readonly by: Maker };
}

/** The code that a value carries; undefined without a value. */
export function codeOf<Code extends { readonly by: string }>(value: MadeBy<Code['by']>): Code;
export function codeOf<Code extends { readonly by: string }>(
  value: MadeBy<Code['by']> | undefined,
): Code | undefined;
export function codeOf<Code extends { readonly by: string }>(
  value: MadeBy<Code['by']> | undefined,
): Code | undefined {
  return value?.[code] as Code | undefined;
}

/**
 * Returns the value if the named function created it. Any other value throws in development, and counts as
 * not set in production.
 *
 * @throws TypeError that names the function.
 */
export function checkMade<By extends string, Value extends MadeBy<By>>(
  operation: string,
  option: string,
  value: Value | undefined,
  by: By,
): Value | undefined {
  const isMade = (made: Partial<Value> | null): boolean => made?.[code]?.by === by;
  const allowed = inDevelopment(
    () =>
      `what ${by}() returns${by === 'defineIdempotency' ? ", such as profiles.draft, or 'none'" : ''}`,
  );
  return checkValue(operation, option, value, isMade, allowed);
}
