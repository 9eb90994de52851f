import { checkNames, reject } from '../lib/input/check.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';
import { parseHttpDate } from './retry-after.ts';
import { readListItems } from './structured-field.ts';
import { inDevelopment } from '../lib/development.ts';

/** How many requests a server allows until a point in time. */
export interface RateLimitState {
  /** How many more requests may be sent before `resetAt`: a whole number from 0 up. */
  readonly remaining: number;
  /** Until when `remaining` holds: epoch milliseconds by the local clock, later than now. */
  readonly resetAt: number;
}

/**
 * The rate-limit headers of an API that does not use the standard ones. Their format cannot be guessed from a
 * value, so they are read only if declared.
 */
export interface DeclaredRateLimit {
  /** The header with the number of requests left, such as `X-RateLimit-Remaining`. */
  readonly remaining: string;
  /** The header with the time of the reset, such as `X-RateLimit-Reset`. */
  readonly reset: string;
  /**
   * The format of `reset`: a time in seconds (GitHub, X, Discord's `X-RateLimit-Reset`) or in
   * milliseconds since 1970, or the seconds left (Reddit, Discord's `X-RateLimit-Reset-After`).
   */
  readonly format: 'epoch-seconds' | 'epoch-ms' | 'delta-seconds';
}

/**
 * The rate-limit headers of a well-known API.
 *
 * | dialect | headers | source |
 * |---|---|---|
 * | `github` | `X-RateLimit-Remaining`, and `X-RateLimit-Reset` as seconds since 1970; a 403 with none left,
 * or with `Retry-After`, counts as a 429 |
 * docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api |
 * | `shopify` | `X-Shopify-Shop-Api-Call-Limit: 32/40`, a bucket that leaks at least two requests per second
 * (a full one is waited for one second), and `Retry-After: 2.0` |
 * shopify.dev/docs/api/admin-rest/usage/rate-limits |
 * | `draft-6` | `RateLimit-Remaining`, and `RateLimit-Reset` as seconds from now: the draft before
 * `RateLimit` | datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/06 |
 */
export interface RateLimitDialect {
  /** The API or draft that defines the headers. */
  readonly dialect: 'github' | 'shopify' | 'draft-6';
}

/** A full bucket of Shopify accepts at least two more requests after this long. */
const leakMs = 1000;

/**
 * Reads how many more requests a server allows, and until when
 * (draft-ietf-httpapi-ratelimit-headers-11, and the declared headers).
 *
 * `RateLimit` lists limits by name: `"hour";r=50;t=30` allows 50 more in the next 30 seconds. A
 * limit without `t` lasts as long as the window `w` of the policy with the same name in
 * `RateLimit-Policy` (the last one, if there are several): an upper bound. A name is any Item, because
 * the draft requires a String only in the policy. The partition key `pk` and the unit `qu` are not read:
 * the number is taken as requests.
 *
 * Of several limits, the most restrictive is the one with the fewest requests left, and among equals the
 * one that ends last. A client that respects it exceeds no other limit before it ends, and the next
 * answer updates the others.
 *
 * A malformed field is ignored as a whole (§7). In a well-formed one, a limit is ignored if it has no
 * valid `r`, an invalid `t`, no end, or an end that is not after `nowMs`. All limits are ignored in an
 * answer that came from a cache (an `Age` above 0, §7.3). Never throws.
 *
 * A declared header is read if it is a number of at most 15 digits, with a fraction of at most 15, as in
 * Discord's times. A time since 1970 is compared with the `Date` header where that is readable, so that
 * a wrong local clock does not matter.
 *
 * Two rules are left to the caller: Retry-After in the same answer takes precedence (§7), and `t` may be
 * too long to wait for (up to 31 million years).
 *
 * @param header - Reads a response header by name, case-insensitively.
 * @param nowMs - When the response was received: epoch milliseconds by the local clock.
 * @param given - The API's own headers or dialect, if it has any.
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
  header: ReadHeader,
  nowMs: number,
  given?: DeclaredRateLimit | RateLimitDialect,
): RateLimitState | undefined {
  if (readDigits(header('age')) > 0) return undefined;
  const readGiven = given && ('dialect' in given ? dialects[given.dialect] : readDeclared(given));
  const all = [...standardLimits(header, nowMs), ...(readGiven?.(header, nowMs) ?? [])];
  return (
    all
      // Comparisons with NaN are false, so a missing or invalid value is never taken.
      .filter(({ remaining, resetAt }) => remaining < Infinity && resetAt > nowMs)
      .sort((one, other) => one.remaining - other.remaining || other.resetAt - one.resetAt)[0]
  );
}

type ReadHeader = (name: string) => string | null | undefined;
type ReadLimits = (header: ReadHeader, nowMs: number) => readonly RateLimitState[];

const limit = (remaining: number, resetAt: number): RateLimitState => ({ remaining, resetAt });

const readDigits = (text: string | null | undefined): number =>
  Number(/^\d{1,15}(\.\d{1,15})?$/.exec(text ?? '')?.[0]);

const standardLimits: ReadLimits = (header, nowMs) => {
  const policies = new Map(readListItems(header('ratelimit-policy')));
  return readListItems(header('ratelimit')).map(
    ([name, { r = NaN, t = policies.get(name)?.w ?? NaN }]) => limit(r, nowMs + t * 1000),
  );
};

const shopify: ReadLimits = (header, nowMs) => {
  const [, used, size] =
    /^(\d{1,9})\/([1-9]\d{0,8})$/.exec(header('x-shopify-shop-api-call-limit') ?? '') ?? [];
  // Shopify's Retry-After has a fraction, which the standard does not allow.
  const seconds = /^\d{1,9}\.\d{1,9}$/.exec(header('retry-after') ?? '')?.[0];
  return [
    limit(Math.max(0, Number(size) - Number(used)), nowMs + leakMs),
    limit(0, nowMs + Math.ceil(Number(seconds) * 1000)),
  ];
};

const readDeclared =
  ({ remaining, reset, format }: DeclaredRateLimit): ReadLimits =>
  (header, nowMs) => {
    const serverNowMs =
      format === 'delta-seconds' ? 0 : (parseHttpDate(header('date') ?? '', nowMs) ?? nowMs);
    const resetMs = readDigits(header(reset)) * (format === 'epoch-ms' ? 1 : 1000);
    // Rounded to the safe side: no request is sent too early, and none too many.
    const resetAt = nowMs + Math.ceil(resetMs - serverNowMs);
    return [limit(Math.floor(readDigits(header(remaining))), resetAt)];
  };

const dialects: Readonly<Record<RateLimitDialect['dialect'], ReadLimits>> = {
  github: readDeclared({
    remaining: 'x-ratelimit-remaining',
    reset: 'x-ratelimit-reset',
    format: 'epoch-seconds',
  }),
  shopify,
  'draft-6': readDeclared({
    remaining: 'ratelimit-remaining',
    reset: 'ratelimit-reset',
    format: 'delta-seconds',
  }),
};

/** The code that reads rate limits. */
export interface RateLimitCode {
  readonly by: 'rateLimitFields';
  /** Nothing is learned of any limit, not even from a 429 or a Retry-After. */
  readonly isOff?: boolean;
  readonly read: (headers: Headers, nowMs: number) => RateLimitState | undefined;
  /** Recognises a refusal for a limit whose status does not say so. */
  readonly readRefusal: <T extends Refusal>(
    refusal: T,
    headers: Headers,
    nowMs: number,
  ) => T | undefined;
}

/** An answer outside 2xx, as far as its status and Retry-After go. */
interface Refusal {
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
}

const formats = ['epoch-seconds', 'epoch-ms', 'delta-seconds'];

/**
 * Respects the remaining quota that answers report, for `rateLimit` of the instance or of an API: `RateLimit`
 * and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) and, if declared or named as a dialect, older
 * headers of an API.
 *
 * @throws TypeError for an invalid declaration.
 *
 * @example
 * ```ts
 * const polite = createSteadfetch({
 *   rateLimit: rateLimitFields(),
 *   apis: [{ match: 'https://api.github.com', rateLimit: rateLimitFields({ dialect: 'github' }) }],
 * });
 * ```
 */
export function rateLimitFields(
  declared?: DeclaredRateLimit | RateLimitDialect,
): MadeBy<'rateLimitFields'> {
  inDevelopment(() => declared && check(declared));
  const { dialect } = (declared ?? {}) as Partial<RateLimitDialect>;
  const read: RateLimitCode['read'] = (headers, nowMs) =>
    readRateLimit((name) => headers.get(name), nowMs, declared);
  const made: RateLimitCode = {
    by: 'rateLimitFields',
    read,
    readRefusal(refusal, headers, nowMs) {
      // GitHub's primary limit, and its secondary ones.
      const isLimit = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after');
      if (dialect !== 'github' || !isLimit || ![403, 429].includes(refusal.status))
        return undefined;
      const { resetAt } = read(headers, nowMs) ?? {};
      const untilReset = resetAt === undefined ? undefined : resetAt - nowMs;
      return { ...refusal, status: 429, retryAfterMs: refusal.retryAfterMs ?? untilReset };
    },
  };
  return { [code]: made };
}

function check(given: DeclaredRateLimit | RateLimitDialect): void {
  if ('dialect' in Object(given)) {
    const { dialect } = given as RateLimitDialect;
    checkNames('rateLimitFields', given, ['dialect']);
    if (!Object.keys(dialects).includes(dialect))
      reject('rateLimitFields', 'dialect', dialect, `one of ${Object.keys(dialects).join(', ')}`);
    return;
  }
  checkHeaders(given as DeclaredRateLimit);
}

function checkHeaders(given: DeclaredRateLimit): void {
  checkNames('rateLimitFields', given, ['remaining', 'reset', 'format', 'dialect']);
  for (const name of ['remaining', 'reset'] as const)
    if (typeof given[name] !== 'string' || !/^[\w-]+$/.test(given[name]))
      reject('rateLimitFields', name, given[name], 'the name of a header');
  const { format } = given;
  if (!formats.includes(format))
    reject('rateLimitFields', 'format', format, `one of ${formats.join(', ')}`);
}
