const said = new WeakMap<object, Set<string>>();

/** Tells the developer something, once per instance and key. Call it in development only. */
export function warn(instance: object, key: string, message: string): void {
  const keys = said.get(instance) ?? new Set();
  said.set(instance, keys);
  if (keys.has(key)) return;
  keys.add(key);
  console.warn(`[steadfetch] ${message}`);
}
