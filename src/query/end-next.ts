import type { Mutation } from '@tanstack/react-query';
import { shadow } from './shadow.ts';

/** A mutation whose next attempt is none. */
export interface EndedNext {
  /** Lets React Query take it out of the row of its scope while this is true. */
  isFree: boolean;
  /** Whether React Query has looked at it since. */
  wasAsked: boolean;
  readonly undo: () => void;
}

/**
 * In the place of its next attempt, a plain mutation ends with this error. React Query reads
 * `options.mutationFn` anew for each attempt, and a component that renders sets its options anew: so
 * it is put over whatever they are. Everything else of them stays.
 */
export function endNext(mutation: Mutation, error: unknown): EndedNext {
  let { options } = mutation;
  const shape = { configurable: true, enumerable: true };
  const ended: EndedNext = {
    isFree: false,
    wasAsked: false,
    undo: () => {
      Object.defineProperty(mutation, 'options', { ...shape, writable: true, value: options });
    },
  };
  const mutationFn = (): Promise<never> => {
    ended.undo();
    return rejectForGood(error);
  };
  Object.defineProperty(mutation, 'options', {
    ...shape,
    get: (): Mutation['options'] => {
      ended.wasAsked = true;
      const { scope, ...rest } = options;
      // Only for the question: for good, it would never leave the list of its scope.
      return { ...rest, ...(!ended.isFree && scope && { scope }), mutationFn };
    },
    set: (next: Mutation['options']) => {
      options = next;
    },
  });
  return ended;
}

/**
 * A rejection that no `retry` is asked about, and that the app's own `retry: true` does not repeat for
 * ever. React Query calls `then` with what settles its own promise: given a promise there, that one
 * takes over its rejection. For whoever only awaits it, it is a rejection like any other.
 */
function rejectForGood(reason: unknown): Promise<never> {
  const rejection = Promise.reject(reason);
  rejection.catch(() => {});
  const then = async (settle: (value: Promise<never>) => void): Promise<void> =>
    settle(Promise.reject(reason));
  shadow(rejection, 'then', then as typeof rejection.then);
  return rejection;
}
