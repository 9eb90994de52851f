/** How the bytes of a body are to be read. */
export type BodyType = 'json' | 'form' | 'text';

type Leaf = string | number | boolean | null;
type Path = readonly string[];

export function typeOfBody(contentType: string): BodyType {
  if (/\bjson\b|\+json/i.test(contentType)) return 'json';
  return /x-www-form-urlencoded/i.test(contentType) ? 'form' : 'text';
}

/** A JSON text as a value; undefined where it is none. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Every value inside a JSON value that is no object or list, with the way to it. */
export function leavesOf(value: unknown, path: Path = []): [Path, Leaf][] {
  if (!isObject(value)) return value === undefined ? [] : [[path, value as Leaf]];
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part, [...path, name]));
}

/** A copy of a JSON value with another value at one place. */
export function withValue(value: unknown, [name, ...rest]: Path, leaf: unknown): unknown {
  if (name === undefined) return leaf;
  if (Array.isArray(value))
    return value.map((part, at) => (`${at}` === name ? withValue(part, rest, leaf) : part));
  const fields = isObject(value) ? value : {};
  return { ...fields, [name]: withValue(fields[name], rest, leaf) };
}

/** Another value of the same type and, in JSON, of the same length. */
function otherLeaf(leaf: Leaf): Leaf | undefined {
  if (typeof leaf === 'boolean') return !leaf;
  if (typeof leaf === 'number') return leaf % 10 === 9 ? leaf - 1 : leaf + 1;
  if (typeof leaf !== 'string' || leaf === '') return undefined;
  const last = leaf.at(-1) === 'b' ? 'c' : leaf.at(-1) === '7' ? '8' : /\d$/.test(leaf) ? '7' : 'b';
  return `${leaf.slice(0, -1)}${last}`;
}

/** The same body with one value changed in each, those most likely to be free text or an amount first. */
export function variantsOf(text: string, type: BodyType): { text: string; depth: number }[] {
  if (type === 'text') {
    const other = otherLeaf(text);
    return other === undefined ? [] : [{ text: String(other), depth: 1 }];
  }
  if (type === 'form') {
    const fields = [...new URLSearchParams(text)];
    return fields.flatMap(([name, value]) => {
      const other = otherLeaf(value);
      if (other === undefined) return [];
      const changed = new URLSearchParams(text);
      changed.set(name, String(other));
      return [{ text: changed.toString(), depth: 1 }];
    });
  }
  const value = readJson(text);
  const rank = (leaf: Leaf): number =>
    typeof leaf === 'string' && /[ {]|\d/.test(leaf) ? 0 : typeof leaf === 'number' ? 1 : 2;
  return leavesOf(value)
    .toSorted(([, one], [, other]) => rank(one) - rank(other))
    .flatMap(([path, leaf]) => {
      const other = otherLeaf(leaf);
      if (other === undefined) return [];
      return [{ text: JSON.stringify(withValue(value, path, other)), depth: path.length }];
    });
}

/** The same JSON object or form with much white space, or a long field, before its end; undefined for other bodies. */
export function enlarge(text: string, type: BodyType, bytes: number): string | undefined {
  const end = text.lastIndexOf(':');
  if (type !== 'json' || !text.startsWith('{') || end === -1) return undefined;
  return `{${' '.repeat(bytes)}${text.slice(1)}`;
}

/** A body with what is put in for `{{unique}}`. */
export const fill = (template: string, unique: string): string =>
  template.replaceAll('{{unique}}', unique);
