/** A database handle, lent to one transaction. */
interface Loan<Handle> {
  readonly tx: Handle;
  /**
   * From now on, every use of `tx` throws. Iterators that are still open are closed, because they would block
   * the handle.
   */
  readonly takeBack: () => void;
}

/** Literals, quoted names and comments. Text inside them is not a statement. A backslash escapes only in `E'…'`. */
const quoted =
  /\be'(?:[^'\\]|''|\\[^])*'|'[^']*'|"[^"]*"|(\$\w*\$)[^]*?\1|--[^\n]*|\/\*[^]*?\*\//gi;
const endsTransaction =
  /(?:^|;)\s*(BEGIN|START\s+TRANSACTION|COMMIT|END|ABORT|ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO)|PREPARE\s+TRANSACTION)\b/i;

/** The methods that take SQL, of all drivers. */
const takesSql: ReadonlySet<PropertyKey> = new Set(['query', 'unsafe', 'exec', 'prepare']);

/** @throws Error for a statement that would begin or end a transaction: the answer would then not be part of it. */
function requireWithin(store: string, sql: string): void {
  const statement = endsTransaction.exec(sql.replaceAll(quoted, ' '))?.[1];
  if (statement === undefined) return;
  throw new Error(
    `${store}: tx is a transaction already, and ends with the answer. ${statement} is not sent. ` +
      `Use SAVEPOINT and ROLLBACK TO for a part that may fail.`,
  );
}

/**
 * Lends a handle to one transaction. A handler may continue after its lease, and its later writes must not
 * become part of the next transaction. Statements and iterators of the handle are lent with it.
 *
 * @returns `tx`, which throws an Error that names the store once it was taken back, and for a statement that
 * would begin or end a transaction.
 */
export function lendHandle<Handle extends object>(handle: Handle, store: string): Loan<Handle> {
  let isOver = false;
  const open: { readonly return?: () => unknown }[] = [];
  const call = <T>(work: () => T): T => {
    if (!isOver) return lend(work());
    throw new Error(`${store}: tx was used after its transaction had ended. Nothing was written.`);
  };
  const lend = <T>(value: T): T => {
    const { run, next, unsafe } = Object(value) as Record<string, unknown>;
    const isIterator = typeof next === 'function';
    if (isIterator) open.push(value as Iterator<unknown>);
    const takesStatements = [run, unsafe].some((method) => typeof method === 'function');
    const isLent = value === (handle as unknown) || isIterator || takesStatements;
    return isLent ? (new Proxy(value as object, { get, apply }) as T) : value;
  };
  // Called on the object behind the proxy, because native methods refuse a proxy.
  const get = (target: object, name: PropertyKey): unknown => {
    const value: unknown = Reflect.get(target, name, target);
    if (typeof value !== 'function') return value;
    return (...args: unknown[]): unknown =>
      call(() => {
        // The text, or an object with the text.
        const { text = args[0] } = Object(args[0]) as { readonly text?: unknown };
        if (takesSql.has(name)) requireWithin(store, String(text));
        // postgres.js passes a handle of its own to the part that may fail.
        const given = name === 'savepoint' ? args.map(lendToCallback) : args;
        return Reflect.apply(value, target, given);
      });
  };
  const lendToCallback = (arg: unknown): unknown =>
    typeof arg === 'function' ? (own: unknown): unknown => arg(lend(own)) : arg;
  // A template of postgres.js, or its helper for values, which are no SQL.
  const apply = (target: object, self: unknown, args: unknown[]): unknown =>
    call(() => {
      const [parts] = args as [readonly string[]];
      if ('raw' in Object(parts)) requireWithin(store, parts.join(' '));
      return Reflect.apply(target as () => unknown, self, args);
    });
  const takeBack = (): void => {
    isOver = true;
    for (const iterator of open) iterator.return?.();
  };
  return { tx: lend(handle), takeBack };
}
