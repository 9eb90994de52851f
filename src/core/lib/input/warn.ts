/** For development: the warnings about an object, and the marks set on it. */
const marks = new WeakMap<object, Set<string>>();

/** Marks an object in development. @returns whether the mark is new. */
export function mark(object: object, name: string): boolean {
  const names = marks.get(object);
  if (names?.has(name)) return false;
  marks.set(object, (names ?? new Set()).add(name));
  return true;
}

/** Gives two objects the same marks: there is one warning about both. */
export function shareMarks(one: object, other: object): void {
  const names = marks.get(one) ?? new Set();
  marks.set(one, names).set(other, names);
}

/** Whether an object has this mark, in development. */
export const isMarked = (object: object, name: string): boolean => !!marks.get(object)?.has(name);

/** The mark of what retries queries; `retryPolicy()` retries them without an instance. */
export const used = 'used by a query';
export const policyAlone: object = {};

/** A page of docs, with or without a heading. */
export type Page = `${string}.md` | `${string}.md#${string}`;

/** The location of a docs page in the package: package.json lists those that are named here among its files. */
export const pageOf = (page: Page): string => `node_modules/steadfetch/docs/${page}`;

/**
 * Warns the developer once per instance and key, and names the page and heading with the details. Development
 * only.
 */
export function warn(instance: object, key: string, message: string, page: Page): void {
  if (!mark(instance, key)) return;
  console.warn(`[steadfetch] ${message} See ${pageOf(page)}.`);
}
