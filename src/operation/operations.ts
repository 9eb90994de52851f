import type { Slot } from '../lib/slot.ts';
import { untilAborted } from '../lib/timer.ts';
import type { OperationRef } from '../policy/operation.ts';
import type { AttemptLimit, Environment, Waiting } from './environment.ts';
import { Operation } from './operation.ts';
import type { OperationInit } from './owner.ts';
import type { Submission } from './parts/submission.ts';
import { startAttempt, warnOfLoop } from './warn-of-loop.ts';

/** Which operation a signal belongs to: the link that survives an await. */
export type Signals = Slot<AbortSignal, Operation>;

/** A mutation of ours whose mutationFn runs. */
export interface Execution {
  readonly submission: Submission;
  readonly operation: Operation;
  /** Nothing that it has sent is under way: it may be about to send something. */
  readonly isIdle: () => boolean;
}

interface AttemptOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default that of the operation, where it has one */
  readonly limit?: Pick<AttemptLimit, 'race'> | undefined;
  /** It has failed: this comes before what awaits it goes on. */
  readonly onFail?: (error: unknown) => void;
}

/** Makes the operations of an instance, and runs their attempts. */
export class Operations {
  /** The operation whose attempt is on the stack right now. */
  current: Operation | undefined;
  /** Those that a loop of ours retries. */
  readonly loops: Set<Operation> = new Set();
  /** The mutations of ours whose mutationFn runs: a request of no operation may be one of theirs. */
  readonly executions: Set<Execution> = new Set();
  /** All that is paused, or waits for its next attempt in a loop of ours. */
  readonly waits: Set<Waiting> = new Set();
  readonly #environment: Environment;
  #lastId = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  begin(
    kind: OperationRef['kind'],
    init: OperationInit = {},
    queryKey?: readonly unknown[],
  ): Operation {
    const startedAt = this.#environment.clock.now();
    const ref = { id: ++this.#lastId, kind, startedAt, queryKey };
    return new Operation(this.#environment, ref, init);
  }

  /** Makes an operation the current one, while its attempt is on the stack. @returns the one before. */
  makeCurrent(operation: Operation | undefined): Operation | undefined {
    const outer = this.current;
    this.current = operation;
    return outer;
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
  run<T, Given extends readonly unknown[]>(
    operation: Operation,
    run: (...given: Given) => T | Promise<T>,
    given: Given,
    { signal, limit = operation.attemptLimit, onFail }: AttemptOptions,
  ): Promise<T> {
    const { emitter } = this.#environment;
    if (process.env.NODE_ENV !== 'production') startAttempt(emitter, operation);
    if (emitter.isHeard) operation.emit({ type: 'attempt:start' });
    const outer = this.current;
    this.current = operation;
    let called: Promise<T>;
    try {
      const { enter } = emitter;
      called = Promise.resolve(
        enter ? enter(operation.ref.id, undefined, () => run(...given)) : run(...given),
      );
    } catch (error) {
      called = Promise.reject(error);
    } finally {
      this.current = outer;
    }
    const raced = limit ? limit.race(called) : called;
    const begun = signal ? untilAborted(signal, raced) : raced;
    void begun.then(
      () => succeed(emitter, operation),
      (error: unknown) => {
        endAttempt(operation, error);
        onFail?.(error);
      },
    );
    return begun;
  }
}

/** `error` is undefined where the attempt has succeeded. */
function endAttempt(operation: Operation, error: unknown): void {
  operation.emit({ type: 'attempt:end', error });
  operation.route.returnPermit();
}

function succeed(instance: object, operation: Operation): void {
  if (process.env.NODE_ENV !== 'production') warnOfLoop(instance, operation);
  endAttempt(operation, undefined);
  operation.end('succeeded');
}
