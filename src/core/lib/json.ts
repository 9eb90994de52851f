/** A replacer for `JSON.stringify` that writes NaN and BigInt (which query keys may contain) as text. */
export const toJson = (_: string, part: unknown): unknown =>
  Number.isNaN(part) || typeof part === 'bigint' ? String(part) : part;

/** The key of a query or a mutation as text, even if JSON cannot write it. */
export const keyText = (key: readonly unknown[]): string => {
  try {
    return JSON.stringify(key, toJson);
  } catch {
    return `[a key of ${key.length} parts that JSON cannot write]`;
  }
};

/** A query key as JSON would keep it; undefined if JSON cannot write it, such as a circular one. */
export function plainKey(key: readonly unknown[] | undefined): readonly unknown[] | undefined {
  try {
    return key && (JSON.parse(JSON.stringify(key, toJson)) as readonly unknown[]);
  } catch {
    return undefined;
  }
}
