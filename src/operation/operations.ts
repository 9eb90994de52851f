import type { OperationRef } from '../policy/operation.ts';
import type { Environment, Waiting } from './environment.ts';
import { Operation } from './operation.ts';
import type { OperationInit } from './owner.ts';
import type { Submission } from './parts/submission.ts';

/** Which operation a signal belongs to: the link that survives an await. */
export type Signals = WeakMap<AbortSignal, Operation>;

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
  /** Makes an operation the current one, while its attempt is on the stack. @returns the one before. */
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

  return {
    begin(kind, init = {}, queryKey) {
      const startedAt = environment.clock.now();
      return new Operation(environment, { id: ++lastId, kind, startedAt, queryKey }, init);
    },
    makeCurrent(operation) {
      const outer = current;
      current = operation;
      return outer;
    },
    current: () => current,
    loops: new Set(),
    executions: new Set(),
    waits: new Set(),
  };
}
