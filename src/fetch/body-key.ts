import type { FixedBody } from './intent.ts';

/** The key that a JSON body carries already. */
export function readBodyKey(body: unknown, field: string): string | undefined {
  const value = parseObject(body)?.[field];
  return typeof value === 'string' && value ? value : undefined;
}

/**
 * Puts the key into a JSON body, and leaves every other byte as it is: parsing and writing it again
 * would round large numbers.
 *
 * @throws TypeError when the body is no JSON object given as text.
 */
export function insertBodyKey(body: FixedBody, field: string, key: string): string {
  const content = parseObject(body);
  if (!content || Object.hasOwn(content, field)) {
    // Without the body: it may tell what nobody else should read.
    throw new TypeError(
      `steady.fetch: body must be a JSON object given as text, because this API takes its idempotency key in its field ${field}, and a key that is there must be text.`,
    );
  }
  const comma = Object.keys(content).length > 0 ? ',' : '';
  return (body as string).replace(
    '{',
    () => `{${JSON.stringify(field)}:${JSON.stringify(key)}${comma}`,
  );
}

function parseObject(body: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof body !== 'string' || !/^\s*\{/.test(body)) return undefined;
  try {
    return JSON.parse(body) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
