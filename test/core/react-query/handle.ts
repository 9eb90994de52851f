/** What a component hands out to its test: the value of its last render. */
export interface Handle<T> {
  readonly set: (value: T) => void;
  readonly get: () => T;
}

export function createHandle<T>(): Handle<T> {
  const values: T[] = [];
  return {
    set: (value) => void values.push(value),
    get() {
      if (values.length === 0) throw new Error('nothing has rendered yet');
      return values.at(-1) as T;
    },
  };
}
