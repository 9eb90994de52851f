import type { Random } from '../lib/clock.ts';

/**
 * How the wait grows, and how jitter spreads it. With `v = min(capMs, baseMs × factor^(retry − 1))` and `U` a
 * uniform draw:
 *
 * | type | wait | mean of the last step |
 * |---|---|---|
 * | `full` | U(0, v) | capMs / 2 |
 * | `equal` | v/2 + U(0, v/2) | 3/4 capMs |
 * | `decorrelated` | U(baseMs, min(capMs, 3 × previous wait)) | |
 * | `proportional` | v × U(0.75, 1.25), where v is capped at capMs / 1.25 | 4/5 capMs |
 * | `none` | v | capMs |
 *
 * The cap applies before the jitter. Capping the jittered value would put most clients at exactly the
 * cap, and so in step again.
 *
 * Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export type BackoffType = 'full' | 'equal' | 'decorrelated' | 'proportional' | 'none';

/** The input of {@link backoffDelay}. */
export interface BackoffInput {
  /** The shape of the jitter. */
  readonly backoff: BackoffType;
  /** The first step, in milliseconds. */
  readonly baseMs: number;
  /** The factor from one step to the next. */
  readonly factor: number;
  /** The longest wait, in milliseconds. */
  readonly capMs: number;
  /** The retry that this wait precedes, counted from 1. */
  readonly retry: number;
  /** The wait before the previous retry, in milliseconds. Only `decorrelated` reads it. @default baseMs */
  readonly previousBackoffMs?: number | undefined;
}

/**
 * The wait before a retry, in whole milliseconds (rounded down) within [0, `capMs`].
 *
 * @example
 * ```ts
 * const options = { backoff: 'full', baseMs: 1000, factor: 2, capMs: 30_000 } as const;
 * backoffDelay({ ...options, retry: 3 }, () => 0.5); // 2000: half of 1000 × 2 × 2
 * ```
 */
export function backoffDelay(input: BackoffInput, random: Random): number {
  const { backoff, baseMs, factor, capMs, retry, previousBackoffMs = baseMs } = input;
  // 0 × Infinity is NaN, and a NaN delay would be a hot loop. Without a base there is no wait.
  const grown = baseMs && baseMs * factor ** (retry - 1);
  let high = Math.min(capMs, grown);
  let low = high;
  if (backoff === 'full') low = 0;
  else if (backoff === 'equal') low = high / 2;
  else if (backoff === 'proportional') {
    const fifthBelow = Math.min(capMs / 1.25, grown);
    low = 0.75 * fifthBelow;
    high = 1.25 * fifthBelow;
  } else if (backoff === 'decorrelated') {
    low = Math.min(capMs, baseMs);
    high = Math.min(capMs, Math.max(baseMs, 3 * previousBackoffMs));
  }
  return Math.floor(low + (high - low) * random());
}

/** React Query's own delay, in milliseconds. */
export const delayOfReactQuery = (failureCount: number): number =>
  Math.min(1000 * 2 ** failureCount, 30_000);
