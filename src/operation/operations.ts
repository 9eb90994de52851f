import type { OperationRef } from '../policy/operation.ts';
import type { Environment, OperationInit, Waiting } from './environment.ts';
import { Operation } from './operation.ts';
import type { Submission } from './parts/submission.ts';

/** A mutation of ours whose mutationFn runs. */
export interface Execution {
  readonly submission: Submission;
  readonly operation: Operation;
  /** Nothing that it has sent is under way: it may be about to send something. */
  readonly isIdle: () => boolean;
}

/** The operations of an instance. */
export interface Operations {
  readonly begin: (
    kind: OperationRef['kind'],
    init?: OperationInit,
    queryKey?: readonly unknown[],
  ) => Operation;
  /** Tells of the end of an attempt, before whoever awaits it goes on. A success ends the operation. */
  readonly tellEnd: <T>(operation: Operation, begun: Promise<T>) => Promise<T>;
  /** Runs a part of an attempt: the operation is the current one while `run` is on the stack. */
  readonly run: <T>(operation: Operation, run: () => T) => T;
  /**
   * The same without a frame on the stack: to be called again with what it returns. Every error that is made
   * within an attempt has all that calls it in its stack, which costs a microsecond for each frame.
   */
  readonly makeCurrent: (operation: Operation | undefined) => Operation | undefined;
  /** The operation whose attempt is on the stack right now. */
  readonly current: () => Operation | undefined;
  /** Those that a loop of ours retries. */
  readonly loops: Set<Operation>;
  /** The mutations of ours whose mutationFn runs: a request of no operation may be one of theirs. */
  readonly executions: Set<Execution>;
  /** What is paused, or waits for its next attempt in a loop of ours. */
  readonly waits: Set<Waiting>;
}

/** Makes what begins and runs the operations of an instance. */
export function createOperations(environment: Environment): Operations {
  let lastId = 0;
  let current: Operation | undefined;

  // For the synchronous part only: after an await, the signal is the link.
  const makeCurrent: Operations['makeCurrent'] = (operation) => {
    const outer = current;
    current = operation;
    return outer;
  };
  const run: Operations['run'] = (operation, part) => {
    const outer = makeCurrent(operation);
    try {
      return part();
    } finally {
      makeCurrent(outer);
    }
  };
  return {
    begin(kind, init = {}, queryKey) {
      const startedAt = environment.clock.now();
      return new Operation(environment, { id: ++lastId, kind, startedAt, queryKey }, init);
    },
    tellEnd(operation, begun) {
      void begun.then(
        () => operation.succeed(),
        (error: unknown) => operation.emit({ type: 'attempt:end', error }),
      );
      return begun;
    },
    run,
    makeCurrent,
    current: () => current,
    loops: new Set(),
    executions: new Set(),
    waits: new Set(),
  };
}
