/** A handle as one transaction has it. */
export interface Loan<Db> {
  readonly tx: Db;
  /** From now on, every use of it throws. */
  readonly takeBack: () => void;
}

/**
 * Lends a handle for one transaction. A handler that was given up may go on: what it writes late must
 * not become part of the next one's transaction. Its statements are lent with it.
 */
export function lendHandle<Db extends object>(db: Db): Loan<Db> {
  let isOver = false;
  const lend = <T>(value: T): T => {
    const { run, next } = Object(value) as Record<string, unknown>;
    const isOpen =
      value === (db as unknown) || [run, next].some((one) => typeof one === 'function');
    return isOpen ? (new Proxy(value as object, { get: read }) as T) : value;
  };
  // Bound to what is behind the proxy, because native methods work on nothing else.
  const read = (target: object, name: PropertyKey): unknown => {
    const value: unknown = Reflect.get(target, name, target);
    if (typeof value !== 'function') return value;
    return (...args: unknown[]): unknown => {
      if (isOver) throw new Error(late);
      return lend(Reflect.apply(value, target, args));
    };
  };
  return { tx: lend(db), takeBack: () => void (isOver = true) };
}

const late = 'sqliteStore: tx was used after its transaction had ended. Nothing was written.';
