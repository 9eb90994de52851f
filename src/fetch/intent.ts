/** What gives the requests of one operation their idempotency keys: what the user meant, once. */
export interface Intent {
  readonly key: string;
  /** In epoch milliseconds: a key that is older than its API keeps it is never sent again by itself. */
  readonly createdAt: number;
  /** The request that carries the key itself, once it has gone: the others carry derived ones. */
  primary?: string | undefined;
}
