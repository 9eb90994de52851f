/** Writes JSON, also of what has none: a BigInt, as a key of a query may have, and NaN are texts. */
export function writeJson(value: unknown, indent?: number): string {
  const toJson = (_: string, part: unknown): unknown =>
    Number.isNaN(part) || typeof part === 'bigint' ? String(part) : part;
  return JSON.stringify(value, toJson, indent);
}
