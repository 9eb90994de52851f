/** The key under which a value carries its code: an app that does not create the value does not bundle the code. */
export const code: unique symbol = Symbol('code');

/** A value that only the named function of the package can create: TypeScript refuses any other object. */
export interface MadeBy<Maker extends string> {
  readonly [code]: { readonly by: Maker };
}

/** The code that a value carries. */
export function codeOf<Code extends { readonly by: string }>(value: MadeBy<Code['by']>): Code {
  return value[code] as Code;
}
