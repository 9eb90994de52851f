import { reject } from '../policy/check-option.ts';
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
    return reject(
      'steady.fetch',
      'body',
      body,
      `a JSON object as text: this API takes its idempotency key in its field ${field}`,
    );
  }
  const comma = Object.keys(content).length > 0 ? ',' : '';
  return (body as string).replace(
    '{',
    () => `{${JSON.stringify(field)}:${JSON.stringify(key)}${comma}`,
  );
}

function parseObject(body: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const content: unknown = JSON.parse(body);
    return typeof content === 'object' && content !== null && !Array.isArray(content)
      ? (content as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
