import { parseHttpDate } from './http-date.ts';
import { readListItems } from './structured-field.ts';

/** What a server lets through until a point in time. */
export interface RateLimitState {
  /** How many more requests may be sent before `resetAt`: a whole number from 0 up. */
  readonly remaining: number;
  /** Until when that number holds: epoch milliseconds by the local clock, later than now. */
  readonly resetAt: number;
}

/**
 * The rate-limit headers of an API from before the standard ones. There are too many forms to guess
 * from a value, so nothing of them is read unless it is declared.
 */
export interface DeclaredRateLimit {
  /** The header with the number of requests left, such as `X-RateLimit-Remaining`. */
  readonly remaining: string;
  /** The header with the time of the reset, such as `X-RateLimit-Reset`. */
  readonly reset: string;
  /**
   * What `reset` means: a time in seconds (GitHub, X, Discord's `X-RateLimit-Reset`) or in
   * milliseconds since 1970, or the seconds left (Reddit, Discord's `X-RateLimit-Reset-After`).
   */
  readonly format: 'epoch-seconds' | 'epoch-ms' | 'delta-seconds';
}

/**
 * Reads how many more requests a server allows, and until when
 * (draft-ietf-httpapi-ratelimit-headers-11, and what is declared).
 *
 * `RateLimit` lists limits by name: `"hour";r=50;t=30` allows 50 more in the next 30 seconds. A
 * limit without `t` lasts as long as the window `w` of the policy with the same name (written the
 * same, the last one if there are several) in `RateLimit-Policy`: an upper bound. A name is any
 * Item: the draft asks for a String only in the policy. Not read are the partition key `pk` and the
 * unit `qu`: what is left counts as requests.
 *
 * Of several limits the one with the fewest requests left is the most restrictive, and of those the
 * one that ends last: who keeps to it exceeds none of the others before it ends, and the next
 * answer brings news of those.
 *
 * A malformed field is ignored whole, as the draft demands (§7). In a well-formed one a limit is
 * ignored by itself if it has no valid `r`, an invalid `t`, no end, or an end that is not after
 * `nowMs`. All are ignored in an answer that a cache on the way has kept for a while (an `Age`
 * above 0, §7.3). Never throws.
 *
 * A declared header is read if it is digits (at most 15), which may have a decimal fraction (of at
 * most 15), as Discord's times have. A time since 1970 is compared with the `Date` header where
 * that can be read, so that a wrong local clock does not matter.
 *
 * Retry-After in the same answer takes precedence (§7): that, and how long is too long (`t` may be
 * 31 million years), is for the caller to decide.
 *
 * @param header - Reads a response header by name, case-insensitively.
 * @param nowMs - When the response was received: epoch milliseconds by the local clock.
 * @param declared - The headers of the API's own that say the same, if it has any.
 * @returns The most restrictive limit, or `undefined` if none is known.
 *
 * @example
 * ```ts
 * const headers = new Headers({ RateLimit: '"minute";r=9;t=50, "day";r=100;t=36000' });
 * readRateLimit((name) => headers.get(name), 1_795_219_200_000);
 * // { remaining: 9, resetAt: 1795219250000 }
 * ```
 */
export function readRateLimit(
  header: (name: string) => string | null | undefined,
  nowMs: number,
  declared?: DeclaredRateLimit,
): RateLimitState | undefined {
  const digits = (name: string): number =>
    Number(/^\d{1,15}(\.\d{1,15})?$/.exec(header(name) ?? '')?.[0]);
  if (digits('age') > 0) return undefined;

  const policies = new Map(readListItems(header('ratelimit-policy')));
  let state: RateLimitState | undefined;
  // Nothing compares with NaN: what is missing or invalid is never taken.
  const consider = (remaining: number, resetAt: number): void => {
    const isStricter =
      remaining < (state?.remaining ?? Infinity) ||
      (remaining === state?.remaining && resetAt > state.resetAt);
    if (isStricter && resetAt > nowMs) state = { remaining, resetAt };
  };
  for (const [name, { r = NaN, t = policies.get(name)?.w ?? NaN }] of readListItems(
    header('ratelimit'),
  )) {
    consider(r, nowMs + t * 1000);
  }
  if (declared) {
    const { format } = declared;
    const serverNowMs =
      format === 'delta-seconds' ? 0 : (parseHttpDate(header('date') ?? '', nowMs) ?? nowMs);
    const reset = digits(declared.reset) * (format === 'epoch-ms' ? 1 : 1000);
    // Rounded so that nothing is sent earlier, and no more of it, than the server allows.
    consider(Math.floor(digits(declared.remaining)), nowMs + Math.ceil(reset - serverNowMs));
  }
  return state;
}
