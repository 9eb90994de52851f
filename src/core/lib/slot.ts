/** A value for each object, invisible to everything else. */
export interface Slot<K extends object, V> {
  /** @throws TypeError for a primitive. */
  readonly get: (key: K) => V | undefined;
  /** @throws TypeError for a primitive and, in engines that refuse private fields on them, for a frozen object. */
  readonly set: (key: K, value: V) => void;
}

/**
 * A class whose constructor returns its argument. A class that extends it adds a private field to an
 * existing object.
 */
const Given = function (given: object): object {
  return given;
} as unknown as new (given: object) => object;

/**
 * Makes a map whose keys carry their values in a private field. A WeakMap could do the same, but costs
 * the garbage collector more time than the rest of a call takes.
 */
export function createSlot<K extends object, V>(): Slot<K, V> {
  return class Holder extends Given {
    #value: V;
    constructor(key: K, value: V) {
      super(key);
      this.#value = value;
    }
    static get(key: K): V | undefined {
      return #value in key ? key.#value : undefined;
    }
    static set(key: K, value: V): void {
      if (#value in key) key.#value = value;
      else void new Holder(key, value);
    }
  };
}
