/**
 * Runs a check or a warning, or makes a text, in development. In production this function returns undefined: minifiers
 * drop the call, and the code that only its argument uses. Not in a `try`, where Rollup drops nothing.
 */
export function inDevelopment<T>(work: () => T): T | undefined {
  return process.env.NODE_ENV === 'production' ? undefined : work();
}

/** A text that production builds leave out. */
export type DevelopmentText = string | undefined;
