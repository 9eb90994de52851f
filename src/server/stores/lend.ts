/** A handle of a database, lent to one transaction. */
interface Loan<Handle> {
  readonly tx: Handle;
  /** From now on, every use of `tx` throws. What is left open of an iterator would hold up the handle. */
  readonly takeBack: () => void;
}

/**
 * Lends a handle to one transaction. A handler may go on after its lease, and what it then writes must
 * not become part of the next transaction. Statements and iterators of the handle are lent with it.
 *
 * @returns `tx`, which throws an Error that names the store once it was taken back.
 */
export function lendHandle<Handle extends object>(handle: Handle, store: string): Loan<Handle> {
  let isOver = false;
  const open: { readonly return?: () => unknown }[] = [];
  const call = <T>(work: () => T): T => {
    if (!isOver) return lend(work());
    throw new Error(`${store}: tx was used after its transaction had ended. Nothing was written.`);
  };
  const lend = <T>(value: T): T => {
    const { run, next } = Object(value) as Record<string, unknown>;
    if (typeof next === 'function' && Symbol.iterator in Object(value))
      open.push(value as Iterator<unknown>);
    const isLent =
      value === (handle as unknown) || [run, next].some((one) => typeof one === 'function');
    return isLent ? (new Proxy(value as object, { get, apply }) as T) : value;
  };
  // Called on the object behind the proxy, because native methods work on nothing else.
  const get = (target: object, name: PropertyKey): unknown => {
    const value: unknown = Reflect.get(target, name, target);
    if (typeof value !== 'function') return value;
    return (...args: unknown[]): unknown => call(() => Reflect.apply(value, target, args));
  };
  const apply = (target: object, self: unknown, args: unknown[]): unknown =>
    call(() => Reflect.apply(target as () => unknown, self, args));
  const takeBack = (): void => {
    isOver = true;
    for (const iterator of open.splice(0)) iterator.return?.();
  };
  return { tx: lend(handle), takeBack };
}
