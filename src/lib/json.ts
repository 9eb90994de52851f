/** For `JSON.stringify`, which has no NaN, and refuses a BigInt, as a key of a query may have: they are texts. */
export const toJson = (_: string, part: unknown): unknown =>
  Number.isNaN(part) || typeof part === 'bigint' ? String(part) : part;
