/**
 * Puts a method in the place of an object's own or inherited one, until the returned function is
 * called. What somebody else has put there before comes back; what they put there since stays. Never
 * throws: where nothing can be put, nothing is.
 */
export function shadow<T extends object, K extends keyof T>(
  target: T,
  name: K,
  method: T[K],
): () => void {
  const own = Reflect.getOwnPropertyDescriptor(target, name);
  Reflect.defineProperty(target, name, { value: method, configurable: true, writable: true });
  return () => {
    if (target[name] !== method) return;
    if (own) Reflect.defineProperty(target, name, own);
    else Reflect.deleteProperty(target, name);
  };
}
