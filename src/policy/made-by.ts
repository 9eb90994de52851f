/** Where a value keeps the code that it brings: an app that does not make one does not bundle it. */
export const code: unique symbol = Symbol('code');

/** What one function of the package makes, and nobody else: an object of the same form is refused. */
export interface MadeBy<Maker extends string> {
  readonly [code]: { readonly by: Maker };
}

/** The code that a value brings. */
export function codeOf<Code extends { readonly by: string }>(value: MadeBy<Code['by']>): Code {
  return value[code] as Code;
}
