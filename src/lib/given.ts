/**
 * A class whose constructor returns what it is given: a class that extends it adds a private field to
 * an object that is there. Nobody else can see that. A WeakMap would do, but the garbage collector
 * works longer for one than all the rest of a call takes.
 */
export const Given = function (given: object): object {
  return given;
} as unknown as new (given: object) => object;
