/** What a fallback is made from. */
export interface FallbackContext {
  /** The failure that the operation ended in. */
  readonly error: unknown;
  /** The last good data of the query; undefined when there is none, or no query. */
  readonly lastData: unknown;
}

/**
 * The answer of an app to an operation that fails for good; undefined when it has none, and the
 * failure stands. A function that throws has none.
 */
export function resolveFallback(fallback: unknown, context: FallbackContext): unknown {
  if (typeof fallback !== 'function') return fallback;
  try {
    return (fallback as (context: FallbackContext) => unknown)(context);
  } catch {
    return undefined;
  }
}
