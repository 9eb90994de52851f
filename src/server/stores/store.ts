/** An answer as it is stored, with everything needed to send it again. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  // `Uint8Array<ArrayBuffer>`, which is an error before TypeScript 5.7.
  readonly body: ReturnType<Uint8Array['slice']>;
}

/**
 * The answer to a request whose effects cannot be rolled back, if one effect failed after others: those stay,
 * and must not be repeated.
 */
export const partlyDone: StoredAnswer = {
  status: 500,
  headers: [['content-type', 'application/problem+json']],
  body: new TextEncoder().encode(
    JSON.stringify({
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      detail: 'A part of this request was done, and a part of it has failed. It is not run again.',
      code: 'partly-done',
    }),
  ),
};

/** The attempt of one request to take a key. */
export interface Claim {
  /** The key within its scope. At most 512 characters, and no NUL among them. */
  readonly id: string;
  /** Identifies what the request asks for. At most 512 characters, and no NUL among them. */
  readonly fingerprint: string;
  /** Unique to this claim. Only its holder may store the answer. */
  readonly token: string;
  /**
   * The time of this process, in epoch milliseconds, for a store without a clock of its own. A store that
   * several machines share must use its own clock, because theirs differ.
   */
  readonly nowMs: number;
  /** How long the claim lasts, in milliseconds, if no answer is stored: its holder is then taken for dead. */
  readonly leaseMs: number;
  /** How long the key is kept, in milliseconds from the claim. At least `leaseMs`. */
  readonly lifetimeMs: number;
}

/**
 * The result of a claim:
 *
 * - `claimed`: this request runs.
 * - `running`: another request with the key is running.
 * - `answered`: another request with the key has run; this is its answer.
 * - `full`: the store has no room for another key.
 */
export type ClaimResult =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'running'; readonly fingerprint: string }
  | { readonly kind: 'answered'; readonly fingerprint: string; readonly answer: StoredAnswer }
  | { readonly kind: 'full' };

/** The row of a key in a SQL table. */
export interface KeyRow {
  readonly fingerprint: string;
  /** Null until the request is answered. */
  readonly status: number | null;
  readonly headers: string;
  readonly body: StoredAnswer['body'];
}

/** The result of a claim that did not get the key. Without a row, its holder has just freed it: the next attempt gets it. */
export function refusalOf(row: KeyRow | undefined, own: string): ClaimResult {
  if (!row) return { kind: 'running', fingerprint: own };
  const { fingerprint, status, headers, body } = row;
  if (status === null) return { kind: 'running', fingerprint };
  const answer = { status, headers: JSON.parse(headers) as StoredAnswer['headers'], body };
  return { kind: 'answered', fingerprint, answer };
}

/**
 * Stores keys and their answers. If its transaction also covers what the handler writes, a crash at any
 * moment leaves both the effect and its answer, or neither.
 *
 * Both methods may be synchronous or asynchronous. Whatever they reject with, other than what `work` has
 * thrown, is a failure of the store: the request is answered 503.
 */
export interface IdempotencyStore<Tx> {
  /**
   * Takes a key, or says what has become of it.
   *
   * - Must be atomic: of simultaneous claims of one id, also in other processes, exactly one is `claimed`.
   * - Must be durable before it returns, outside of every transaction of {@link run}.
   * - Must grant a key that is free, or whose lifetime is over, or claimed without an answer by a holder
   *   whose lease is over and whose fingerprint is the same.
   * - Must drop expired keys in time: a few at each call, or when their room is needed.
   */
  claim(claim: Claim): ClaimResult | Promise<ClaimResult>;
  /**
   * Runs the work of a claim.
   *
   * - Must call `work` once, with a transaction of its own, or reject without calling it.
   * - Must, if `work` returns an answer and the key is still claimed with this token, store the answer in
   *   the same transaction, and commit. If the claim was lost, it must roll back and return `false`.
   * - Must, if `work` returns none or throws, roll back and free the key (if it still has this token), so
   *   that the next claim gets it at once. It must pass on what was thrown.
   * - Must not wait for the handler when `work` throws a {@link LeaseOverError}: the handler may still
   *   run, and what it writes from then on must have no effect.
   *
   * @returns Whether the claim was still held.
   */
  run(claim: Claim, work: (tx: Tx) => Promise<StoredAnswer | undefined>): Promise<boolean>;
}

/** The handler gave no answer within `leaseMs`. Its request fails with this error, and it may still run. */
export class LeaseOverError extends Error {
  override name = 'LeaseOverError' as const;
  /** The option. */
  readonly leaseMs: number;

  constructor(leaseMs: number) {
    super(
      `idempotent: the handler gave no answer within leaseMs, ${leaseMs} ms. It is rolled back, and its ` +
        `key is free again.`,
    );
    this.leaseMs = leaseMs;
  }
}
