/** For `JSON.stringify`, which has no NaN, and refuses a BigInt, as a key of a query may have: they are texts. */
export const toJson = (_: string, part: unknown): unknown =>
  Number.isNaN(part) || typeof part === 'bigint' ? String(part) : part;

/** A key of a query or a mutation as text, also one that JSON cannot write. */
export const keyText = (key: readonly unknown[]): string => {
  try {
    return JSON.stringify(key, toJson);
  } catch {
    return `[a key of ${key.length} parts that JSON cannot write]`;
  }
};

/** A key of a query as JSON has it; undefined for one that JSON cannot write all the same, such as a ring. */
export function plainKey(key: readonly unknown[] | undefined): readonly unknown[] | undefined {
  try {
    return key && (JSON.parse(JSON.stringify(key, toJson)) as readonly unknown[]);
  } catch {
    return undefined;
  }
}
