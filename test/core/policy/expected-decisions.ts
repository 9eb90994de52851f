/** What is decided on a first failure: `retry: <reason>` or `stop: <reason>`. */
type Expected = string;

const never = 'stop: not-retryable';
/** It may have been processed, and there is no key: the outcome is unknown, and must stay so. */
const unsure = 'stop: not-idempotent';

export interface StatusRow {
  readonly from: number;
  readonly to: number;
  readonly retryAfter: 'absent' | 'given' | 'either';
  /** GET, HEAD, OPTIONS, QUERY, PUT and DELETE; and every method with a key. */
  readonly repeatable: Expected;
  /** POST, PATCH and unknown methods without a key. */
  readonly unkeyed: Expected;
}

const row = (
  [from, to]: readonly [number, number],
  retryAfter: StatusRow['retryAfter'],
  repeatable: Expected,
  unkeyed: Expected,
): StatusRow => ({ from, to, retryAfter, repeatable, unkeyed });

/** A 5xx that nobody knows is treated as a 500 (RFC 9110 §15): a 525 of Cloudflare's, the 598 of a proxy. */
const internalError = (range: readonly [number, number]): readonly StatusRow[] => [
  row(range, 'absent', 'retry: internal-error', unsure),
  row(range, 'given', 'retry: unavailable', unsure),
];

/**
 * Every error status, written down from the specifications and not from the code: RFC 9110 §15,
 * RFC 8470 §5.2 (425), RFC 6585 §4 (429) and §6 (511). A 409 is one that does not say "still running".
 */
export const statusTable: readonly StatusRow[] = [
  row([400, 407], 'either', never, never),
  row([408, 408], 'either', 'retry: request-timeout', unsure),
  row([409, 412], 'either', never, never),
  row([413, 413], 'absent', never, never),
  row([413, 413], 'given', 'retry: unavailable', unsure),
  row([414, 420], 'either', never, never),
  // The browser has sent it again already, on another connection.
  row([421, 421], 'either', never, never),
  row([422, 424], 'either', never, never),
  // Surely not processed, so any method may.
  row([425, 425], 'either', 'retry: too-early', 'retry: too-early'),
  row([426, 428], 'either', never, never),
  row([429, 429], 'either', 'retry: rate-limited', 'retry: rate-limited'),
  row([430, 499], 'either', never, never),
  ...internalError([500, 500]),
  row([501, 501], 'either', never, never),
  row([502, 504], 'either', 'retry: unavailable', unsure),
  row([505, 505], 'either', never, never),
  ...internalError([506, 510]),
  // That of a captive portal: the network is not there yet.
  row([511, 511], 'either', 'retry: network', unsure),
  ...internalError([512, 519]),
  // Cloudflare's.
  row([520, 524], 'either', 'retry: unavailable', unsure),
  ...internalError([525, 528]),
  row([529, 530], 'either', 'retry: unavailable', unsure),
  ...internalError([531, 599]),
];

/** What a failure without an error status is answered with, for each kind of operation. */
export interface FailureRow {
  /** GET, HEAD, OPTIONS and QUERY, which have an answer to give again. */
  readonly read: Expected;
  /** PUT and DELETE, which have nothing to give but their effect. */
  readonly write: Expected;
  /** POST, PATCH and unknown methods with a key. */
  readonly keyed: Expected;
  /** The same without. */
  readonly unkeyed: Expected;
}

/** The column of each operation of the samples. */
const columns: Readonly<Record<string, keyof FailureRow>> = {
  GET: 'read',
  'GET with key': 'read',
  HEAD: 'read',
  'HEAD with key': 'read',
  OPTIONS: 'read',
  'OPTIONS with key': 'read',
  QUERY: 'read',
  'QUERY with key': 'read',
  PUT: 'write',
  'PUT with key': 'write',
  DELETE: 'write',
  'DELETE with key': 'write',
  POST: 'unkeyed',
  'POST with key': 'keyed',
  PATCH: 'unkeyed',
  'PATCH with key': 'keyed',
  PURGE: 'unkeyed',
  'PURGE with key': 'keyed',
};

/** The same decision for all. */
export const forAll = (expected: Expected): FailureRow => ({
  read: expected,
  write: expected,
  keyed: expected,
  unkeyed: expected,
});

/** One failure's row of the table, spelt out for every operation of the samples. */
export function spellOut(expected: FailureRow): Record<string, Expected> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, expected[column]]),
  );
}
