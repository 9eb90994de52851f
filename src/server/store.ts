/** An answer as it is kept: everything that is needed to give it again. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

/** One request that wants to be the one that runs. */
export interface Claim {
  /** The key within its scope. Up to a few hundred characters. */
  readonly id: string;
  /** What the request asks for. */
  readonly fingerprint: string;
  /** Unique to this claim: who holds it may store the answer, and nobody else. */
  readonly token: string;
  /** The time now, in epoch milliseconds. */
  readonly nowMs: number;
  /** From then on, in epoch milliseconds, its holder is taken for dead. */
  readonly leaseUntilMs: number;
  /** From then on, in epoch milliseconds, the key is forgotten. */
  readonly expiresAtMs: number;
}

/**
 * What came of a claim:
 *
 * - `claimed`: it is this request that runs.
 * - `running`: another one does.
 * - `answered`: another one has, and this is what it answered.
 * - `full`: there is no room for one more key.
 */
export type ClaimResult =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'running'; readonly fingerprint: string }
  | { readonly kind: 'answered'; readonly fingerprint: string; readonly answer: StoredAnswer }
  | { readonly kind: 'full' };

/**
 * Where keys and their answers are kept. With a store whose transaction also holds what the handler
 * writes, a crash at any moment leaves both the effect and its answer, or neither.
 *
 * The two methods may be synchronous or not. docs/server.md has both for Postgres and for Redis.
 */
export interface IdempotencyStore<Tx> {
  /**
   * Takes a key, or tells who has it.
   *
   * - Must be atomic: of any number of claims of one id at the same time, also by other processes,
   *   one is `claimed`.
   * - Must be durable before it returns, outside of every transaction of {@link run}.
   * - Must give away a key that is free, or expired (`expiresAtMs` at or before `nowMs`), or claimed
   *   without an answer by a holder whose lease is over and whose fingerprint is the same.
   * - Must drop expired keys in time, a few at each call.
   */
  claim(claim: Claim): ClaimResult | Promise<ClaimResult>;
  /**
   * Runs what was claimed.
   *
   * - Must call `work` once, with a transaction of its own.
   * - Must, when `work` gives an answer, keep it in this same transaction, and commit: but only if
   *   the key is still claimed with this token. Otherwise it must roll back and give `false`.
   * - Must, when `work` gives none, or throws, roll back and free the key (if it still has this
   *   token), so that the next claim gets it at once; what was thrown goes on to the caller.
   *
   * @returns Whether the claim was still held.
   */
  run(claim: Claim, work: (tx: Tx) => Promise<StoredAnswer | undefined>): Promise<boolean>;
}
