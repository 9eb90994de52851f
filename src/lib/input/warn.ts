const said = new WeakMap<object, Set<string>>();

/** Where a page of docs is found: the package does not carry it. */
export const pageOf = (page: string): string => `docs/${page} in the repository of steadfetch`;

/**
 * Tells the developer something, once per instance and key, with the page and heading that say more. Call it
 * in development only.
 */
export function warn(instance: object, key: string, message: string, page?: string): void {
  const keys = said.get(instance) ?? new Set();
  said.set(instance, keys);
  if (keys.has(key)) return;
  keys.add(key);
  console.warn(`[steadfetch] ${message}${page === undefined ? '' : ` See ${pageOf(page)}.`}`);
}
