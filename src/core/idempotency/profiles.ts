import type {
  BodyIdempotency,
  HeaderIdempotency,
  IdempotencyDeclaration,
  IdempotencyProfile,
} from '../fetch/api.ts';
import { inDevelopment } from '../lib/development.ts';
import { isBoolean } from '../lib/input/callback.ts';
import { checkNames, isFunction, reject } from '../lib/input/check.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';
import { keyExtension } from './keyed-request.ts';

type Option = keyof IdempotencyDeclaration;
type Check = readonly [isRight: (value: unknown) => boolean, allowed: string];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isNumber: Check = [
  (value) => typeof value === 'number' && value >= 1,
  'a number from 1 to Infinity',
];
const isFunctionOf: Check = [isFunction, 'a function'];

/** The options of a profile, with their allowed values. */
const checks: Readonly<Record<Option, Check>> = {
  header: [(value) => isText(value) && /^[\w-]+$/.test(value as string), 'the name of a header'],
  body: [isText, 'the name of a field'],
  format: [(value) => value === 'structured' || value === 'raw', 'structured or raw'],
  maxLength: isNumber,
  lifetimeMs: isNumber,
  inProgress: isFunctionOf,
  alreadyDone: isFunctionOf,
  shouldRetry: isFunctionOf,
  refusalIsStored: [isBoolean, 'true or false'],
  fresh: [(value) => Array.isArray(value) && value.every(isText), 'a list of names'],
};

/** @throws TypeError for a wrong option of a profile. */
function checkProfile(profile: IdempotencyDeclaration): void {
  const operation = 'defineIdempotency';
  const elsewhere = { key: 'header', ttlMs: 'lifetimeMs', timeoutMs: 'lifetimeMs' };
  checkNames(operation, profile, Object.keys(checks), elsewhere);
  const { header, body } = profile as Partial<Record<Option, unknown>>;
  if (body !== undefined && header !== undefined)
    reject(operation, 'header', header, 'left out, because the key is in the body');
  for (const [option, [isRight, allowed]] of Object.entries(checks)) {
    const value = profile[option as Option];
    const isNeeded = option === 'header' && body === undefined;
    if ((isNeeded || value !== undefined) && !isRight(value))
      reject(operation, option, value, allowed);
  }
}

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
export function defineIdempotency(
  declaration: HeaderIdempotency,
): HeaderIdempotency & MadeBy<'defineIdempotency'>;
export function defineIdempotency(
  declaration: BodyIdempotency,
): BodyIdempotency & MadeBy<'defineIdempotency'>;
export function defineIdempotency(declaration: IdempotencyDeclaration): IdempotencyProfile;
export function defineIdempotency(declaration: IdempotencyDeclaration): IdempotencyProfile {
  inDevelopment(() => checkProfile(declaration));
  return Object.freeze(Object.assign({ ...declaration }, { [code]: keyExtension }));
}

const hourMs = 3_600_000;
const header = 'Idempotency-Key';

/**
 * The declarations of some APIs, for `apis: [{ match, idempotency }]`. What an API publishes may
 * change, and may differ between its parts: lay your own over it:
 * `defineIdempotency({ ...profiles.payPal, lifetimeMs })`.
 *
 * @example
 * ```ts
 * const keyed = createSteadfetch({
 *   apis: [{ match: 'https://api.example', idempotency: profiles.draft }],
 * });
 * ```
 */
export const profiles: {
  /**
   * draft-ietf-httpapi-idempotency-key-header: a quoted String (RFC 9651). The draft leaves the
   * lifetime to the server, so declare that of yours.
   */
  readonly draft: HeaderIdempotency & MadeBy<'defineIdempotency'>;
  /**
   * Stripe, v1: a bare key of at most 255 characters, which may be forgotten after 24 hours.
   * `Stripe-Should-Retry` counts for more than the status, and a stored failure
   * (`Idempotent-Replayed`) is not asked for again. Source: docs.stripe.com/api/idempotent_requests,
   * and stripe-node, which retries every 409.
   */
  readonly stripe: HeaderIdempotency & MadeBy<'defineIdempotency'>;
  /**
   * PayPal: a bare `PayPal-Request-Id`. How long it is kept depends on the API; 6 hours is that of
   * Orders v2. Source: developer.paypal.com/api/rest/reference/idempotency.
   */
  readonly payPal: HeaderIdempotency & MadeBy<'defineIdempotency'>;
  /**
   * Adyen: a bare key of at most 64 characters, kept for at least 7 days, for POST; `transient-error:
   * true` says that sending it again is worth it. Source: docs.adyen.com/development-resources/api-idempotency.
   */
  readonly adyen: HeaderIdempotency & MadeBy<'defineIdempotency'>;
  /**
   * Square: `idempotency_key` in the JSON body, at most 45 characters. It publishes no lifetime, so
   * one day is assumed. A key always gets the answer that its first request got. Source:
   * developer.squareup.com/docs/working-with-apis/idempotency.
   */
  readonly square: BodyIdempotency & MadeBy<'defineIdempotency'>;
  /**
   * monday.com: a bare key, kept for 30 minutes, of mutations only. Source:
   * developer.monday.com/api-reference/docs/idempotency.
   */
  readonly monday: HeaderIdempotency & MadeBy<'defineIdempotency'>;
  /**
   * Shopify, GraphQL Admin API: the key is a variable of the mutation, for its directive
   * `@idempotent(key: $idempotencyKey)`. It is mandatory for some mutations from 2026-04 on. No lifetime is
   * published for all of them, so one day is assumed. Source: shopify.dev/docs/api/usage/idempotent-requests.
   */
  readonly shopify: BodyIdempotency & MadeBy<'defineIdempotency'>;
} = /* @__PURE__ */ Object.freeze({
  draft: /* @__PURE__ */ defineIdempotency({ header, format: 'structured' }),
  stripe: /* @__PURE__ */ defineIdempotency({
    header,
    format: 'raw',
    maxLength: 255,
    lifetimeMs: 24 * hourMs,
    shouldRetry({ headers }: Response) {
      const said = headers.get('stripe-should-retry');
      return said === 'true' ? true : said === 'false' ? false : undefined;
    },
  }),
  payPal: /* @__PURE__ */ defineIdempotency({
    header: 'PayPal-Request-Id',
    format: 'raw',
    lifetimeMs: 6 * hourMs,
  }),
  adyen: /* @__PURE__ */ defineIdempotency({
    header,
    format: 'raw',
    maxLength: 64,
    lifetimeMs: 7 * 24 * hourMs,
    shouldRetry: ({ headers }: Response) => headers.get('transient-error') === 'true' || undefined,
  }),
  square: /* @__PURE__ */ defineIdempotency({
    body: 'idempotency_key',
    maxLength: 45,
    lifetimeMs: 24 * hourMs,
    refusalIsStored: true,
  }),
  monday: /* @__PURE__ */ defineIdempotency({ header, format: 'raw', lifetimeMs: hourMs / 2 }),
  shopify: /* @__PURE__ */ defineIdempotency({
    body: 'variables.idempotencyKey',
    lifetimeMs: 24 * hourMs,
  }),
});
