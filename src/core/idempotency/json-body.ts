import { inDevelopment } from '../lib/development.ts';
import type { FixedBody } from '../operation/parts/submission.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The content of a body that is JSON given as text. */
function parse(body: unknown): unknown {
  let content: unknown;
  try {
    content = JSON.parse(body as string);
  } catch {
    // No JSON, or no text.
  }
  return content;
}

/** The text that a JSON body carries in the field at this path: names with dots between them. */
export function readBodyText(body: unknown, path: string): string | undefined {
  let value = parse(body);
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined;
  return typeof value === 'string' && value ? value : undefined;
}

/**
 * Inserts a text into a JSON body, and leaves every other byte as it is: parsing and writing it again would round large
 * numbers. Missing objects on the path are created.
 *
 * @throws TypeError when the body is no JSON object given as text.
 */
export function insertBodyText(body: FixedBody, path: string, value: string): string {
  const names = path.split('.');
  let content = parse(body);
  let depth = 0;
  for (; depth < names.length - 1; depth++) {
    const inner: unknown = isObject(content) ? content[names[depth] as string] : undefined;
    if (inner === undefined) break;
    content = inner;
  }
  const [name, ...inner] = names.slice(depth) as [string, ...string[]];
  if (!isObject(content) || Object.keys(content).includes(name)) return refuseBody(path);
  const text = body as string;
  const { openAt } = locate(text, names);
  const member = inner.reduceRight<unknown>((last, one) => ({ [one]: last }), value);
  const comma = Object.keys(content).length > 0 ? ',' : '';
  return `${text.slice(0, openAt)}${JSON.stringify(name)}:${JSON.stringify(member)}${comma}${text.slice(openAt)}`;
}

/** Removes the text at this path, which must be there, and leaves every other byte as it is. */
export function removeBodyText(text: string, path: string): string {
  const { from, to } = locate(text, path.split('.'));
  const [before, after] = [text.slice(0, from), text.slice(to)];
  const comma = /^\s*,\s*/.exec(after)?.[0];
  return comma === undefined
    ? before.replace(/\s*,\s*$/, '') + after
    : before + after.slice(comma.length);
}

/** A position in the text of a JSON object. */
interface Place {
  /** Behind the brace of the object at the path, or of the innermost one that was found. */
  readonly openAt: number;
  /** The member at the path, with its name, if its value is a text. */
  readonly from: number;
  readonly to: number;
}

/** Finds the object or the text at a path in the text of a JSON object. */
function locate(text: string, path: readonly string[]): Place {
  let [depth, found, openAt] = [0, -1, 0];
  let from: number | undefined;
  let isNext = true;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/g)) {
    const to = index + token.length;
    const isString = token.startsWith('"');
    if (from !== undefined && isString) return { openAt, from, to };
    if (token === '{' && isNext) {
      openAt = to;
      found++;
    }
    if ('{['.includes(token)) depth++;
    else if (!isString) depth--;
    // A name, in the object that was found last.
    const isName = token.endsWith(':') && depth === found + 1;
    isNext = isName && JSON.parse(token.slice(0, -1)) === path[found];
    from = isNext && found === path.length - 1 ? index : undefined;
  }
  return { openAt, from: 0, to: 0 };
}

/** The message does not contain the body, which may be confidential. */
function refuseBody(path: string): never {
  const rule = 'steady.fetch: body must be a JSON object given as text';
  inDevelopment(() => {
    throw new TypeError(
      `${rule}, because this API takes its idempotency key in its field ${path}, and a key that is there must be text.`,
    );
  });
  throw new TypeError(`${rule}.`);
}
