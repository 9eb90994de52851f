import type { IdempotencyProfile } from '../core/fetch/api.ts';
import { profiles } from '../core/idempotency/profiles.ts';
import type { Answer } from './wire.ts';
import { readJson } from './body.ts';

/** Whether the answer to a failed request is what the key gets from then on. */
export type Keeping = 'stored' | 'forgotten' | 'either';

/** The declaration of an API about its keys, with more than a client needs. */
export interface Dialect {
  readonly profile: IdempotencyProfile;
  /** Statuses of a request with other bytes under a known key, `422` or `4xx`; or the first answer, replayed. */
  readonly mismatch: readonly string[];
  /** Statuses while the first request with the key runs. */
  readonly inProgress: readonly string[];
  /** Whether a request without a key is refused. */
  readonly key: 'required' | 'optional';
  readonly refusals: Keeping;
  readonly failures: Keeping;
  /** The header that marks a replayed answer. */
  readonly replayHeader?: string | undefined;
  /** Codes in a GraphQL answer, which has status 200 whatever has happened. */
  readonly codes?: { readonly mismatch: string; readonly inProgress: string } | undefined;
  readonly source: string;
}

const usual = {
  inProgress: ['409'],
  key: 'optional',
  refusals: 'either',
  failures: 'either',
} as const;

/** The declaration of each profile, as far as the API has published it. */
export const dialects: Readonly<Record<keyof typeof profiles, Dialect>> = {
  draft: {
    ...usual,
    profile: profiles.draft,
    mismatch: ['422'],
    key: 'required',
    source: 'draft-ietf-httpapi-idempotency-key-header-07',
  },
  stripe: {
    ...usual,
    profile: profiles.stripe,
    mismatch: ['400', '422'],
    failures: 'stored',
    replayHeader: 'idempotent-replayed',
    source: 'docs.stripe.com/api/idempotent_requests',
  },
  payPal: {
    ...usual,
    profile: profiles.payPal,
    mismatch: ['4xx'],
    inProgress: ['409', '422'],
    source: 'developer.paypal.com/api/rest/reference/idempotency',
  },
  adyen: {
    ...usual,
    profile: profiles.adyen,
    mismatch: ['4xx', 'replayed'],
    inProgress: ['409', '422'],
    source: 'docs.adyen.com/development-resources/api-idempotency',
  },
  square: {
    ...usual,
    profile: profiles.square,
    mismatch: ['400'],
    refusals: 'stored',
    source: 'developer.squareup.com/docs/working-with-apis/idempotency',
  },
  monday: {
    ...usual,
    profile: profiles.monday,
    mismatch: ['4xx', 'replayed'],
    replayHeader: 'idempotency-replayed',
    source: 'developer.monday.com/api-reference/docs/idempotency',
  },
  shopify: {
    ...usual,
    profile: profiles.shopify,
    mismatch: ['4xx'],
    codes: {
      mismatch: 'IDEMPOTENCY_KEY_PARAMETER_MISMATCH',
      inProgress: 'IDEMPOTENCY_CONCURRENT_REQUEST',
    },
    source: 'shopify.dev/docs/api/usage/implementing-idempotency',
  },
};

export type DialectName = keyof typeof dialects;

const hasStatus = (declared: readonly string[], status: number): boolean =>
  declared.some((one) => one === `${status}` || (one === '4xx' && status >= 400 && status < 500));

/** GraphQL says in the body what went wrong. */
function hasErrors(text: string): boolean {
  const { errors, data } = (readJson(text) ?? {}) as { errors?: unknown; data?: unknown };
  return (
    (Array.isArray(errors) && errors.length > 0) ||
    /"userErrors":\s*\[\s*\{/.test(JSON.stringify(data) ?? '')
  );
}

/** Whether the operation has been done, by what the answer says. */
export const isDone = ({ codes }: Dialect, { status, text }: Answer): boolean =>
  status >= 200 && status < 300 && !(codes && hasErrors(text));

/** Whether an answer says, by its status, that the first request is still running. */
export const isInProgress = ({ inProgress, codes }: Dialect, { status, text }: Answer): boolean =>
  codes ? text.includes(codes.inProgress) : hasStatus(inProgress, status);

/** Whether it may as well say that the bytes are others: one status for both, and no Retry-After. */
export function isAmbiguous({ mismatch, codes }: Dialect, { status, headers }: Answer): boolean {
  const isBoth = mismatch.includes(`${status}`) || (status !== 409 && hasStatus(mismatch, status));
  const asksAgain = headers['retry-after'] !== undefined || headers['transient-error'] === 'true';
  return !codes && isBoth && !asksAgain;
}

/** Whether an answer refuses other bytes under a known key. */
export function isMismatch({ mismatch, codes }: Dialect, answer: Answer): boolean {
  if (codes) return answer.text.includes(codes.mismatch);
  return hasStatus(mismatch, answer.status);
}
