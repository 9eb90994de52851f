import { untilAborted } from '../lib/timer.ts';
import type { AttemptLimit } from './environment.ts';
import type { Operation } from './operation.ts';
import type { Operations } from './operations.ts';

interface AttemptOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default that of the operation, where it has one */
  readonly limit?: Pick<AttemptLimit, 'race'> | undefined;
  /** It has failed: this comes before what awaits it goes on. */
  readonly onFail?: (error: unknown) => void;
}

/**
 * Runs one attempt: a queryFn or a mutationFn, that of a handler of the outbox, or the function of `retry`, with
 * what it is given. Its operation is the current one until the function first awaits; after that, the signal is
 * the link. The end is emitted before what awaits it goes on, and a success ends the operation.
 *
 * Settles as the function does; rejects as soon as the time limit of the attempt is over, and with the reason
 * of the signal as soon as that is aborted.
 *
 * The function is called from here and not from a function that is handed in: an error that is made within has
 * all that calls it in its stack, at a microsecond for each frame.
 */
export function runAttempt<T, Given extends readonly unknown[]>(
  operations: Operations,
  operation: Operation,
  run: (...given: Given) => T | Promise<T>,
  given: Given,
  { signal, limit = operation.attemptLimit, onFail }: AttemptOptions,
): Promise<T> {
  operation.start();
  const outer = operations.makeCurrent(operation);
  let called: Promise<T>;
  try {
    called = Promise.resolve(run(...given));
  } catch (error) {
    called = Promise.reject(error);
  } finally {
    operations.makeCurrent(outer);
  }
  const begun = untilAborted(signal, limit ? limit.race(called) : called);
  void begun.then(
    () => operation.succeed(),
    (error: unknown) => {
      operation.endAttempt(error);
      onFail?.(error);
    },
  );
  return begun;
}
