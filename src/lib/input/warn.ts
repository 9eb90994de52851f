/** For development: what was said of an object, and what it was seen to be. */
const marks = new WeakMap<object, Set<string>>();

/** Marks an object in development. @returns whether it had not been marked so before. */
export function mark(object: object, name: string): boolean {
  const names = marks.get(object);
  if (names?.has(name)) return false;
  marks.set(object, (names ?? new Set()).add(name));
  return true;
}

/** Whether an object was marked so, in development. */
export const isMarked = (object: object, name: string): boolean => !!marks.get(object)?.has(name);

/** Where a page of docs is found: package.json lists those that are named here among its files. */
export const pageOf = (page: string): string => `node_modules/steadfetch/docs/${page}`;

/**
 * Tells the developer something, once per instance and key, with the page and heading that say more. Call it
 * in development only.
 */
export function warn(instance: object, key: string, message: string, page?: string): void {
  if (!mark(instance, key)) return;
  console.warn(`[steadfetch] ${message}${page === undefined ? '' : ` See ${pageOf(page)}.`}`);
}
