import type { RowStore } from '../../src/outbox/store/row-store.ts';

/** The same store, with other operations in place of some. */
export function replace(store: RowStore, operations: Partial<RowStore>): RowStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(operations, name) ?? Reflect.get(target, name, target);
      return typeof value === 'function' && !(name in operations) ? value.bind(target) : value;
    },
  });
}
