import { type Clock, maxTimerMs } from '../lib/clock.ts';

/** What a fallback is made from. */
export interface FallbackContext {
  /** The failure that the operation ended in. */
  readonly error: unknown;
  /** The last good data of the query; undefined when there is none, or no query. */
  readonly lastData: unknown;
}

/**
 * The answer of an app to an operation that fails for good; undefined when it has none, and the
 * failure stands. A function that throws, rejects or has not settled within `limitMs` has none.
 */
export async function resolveFallback(
  fallback: unknown,
  context: FallbackContext,
  clock: Clock,
  limitMs: number,
): Promise<unknown> {
  let timer: unknown;
  try {
    const data: unknown =
      typeof fallback === 'function'
        ? (fallback as (context: FallbackContext) => unknown)(context)
        : fallback;
    if (typeof Object(data).then !== 'function' || limitMs > maxTimerMs) return await data;
    const late = new Promise<undefined>((resolve) => {
      timer = clock.setTimeout(() => resolve(undefined), limitMs);
    });
    return await Promise.race([data, late]);
  } catch {
    return undefined;
  } finally {
    clock.clearTimeout(timer);
  }
}
