import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Operations } from '../fetch/operations.ts';
import type { Clock } from '../policy/clock.ts';

/**
 * The operations that have failed, for React Query's questions about them.
 *
 * It asks with nothing but the error and a count, and one error may belong to several operations
 * (batched queries share a promise), or be no object at all. It asks in the order in which they
 * failed, so each takes its own.
 */
export interface FailureLedger {
  /** An attempt has failed, and React Query is about to ask about it. */
  readonly add: (live: LiveOperation, error: unknown) => LiveOperation;
  /**
   * The decision on a failure: that of the oldest one not decided on yet, or, when it is asked
   * again, the one made last. Given is the operation, with the decision. `begin` makes the operation of a failure that nobody has added.
   */
  readonly ask: (
    failureCount: number,
    error: unknown,
    isAgain: boolean,
    begin: () => LiveOperation,
  ) => LiveOperation;
  /**
   * The plain mutation whose next attempt has come. React Query gives a mutation's requests no
   * common name (its mutationFn is simply called again), so it is known by what is said of it:
   * the request that it sends again, or how often it has failed.
   */
  readonly resume: (
    known: { request: string } | { failureCount: number },
  ) => LiveOperation | undefined;
}

export function createFailureLedger(clock: Clock, operations: Operations): FailureLedger {
  let failed: LiveOperation[] = [];

  const add: FailureLedger['add'] = (live, error) => {
    const now = clock.now();
    // React Query asks about a query in the same turn; a mutation is found again after its wait.
    failed = failed.filter(
      (old) => old !== live && now - (old.failedAt ?? now) < (old.ref.kind === 'query' ? 1e3 : 6e5),
    );
    failed.push(live);
    delete live.decision;
    // The attempt that was asked for is over.
    live.isUrged = false;
    live.failedAt = now;
    live.lastError = error;
    return live;
  };

  return {
    add,
    ask(failureCount, error, isAgain, begin) {
      const same = failed.filter(
        (live) => live.attempt === failureCount + 1 && Object.is(live.lastError, error),
      );
      const live =
        (isAgain ? undefined : same.find(({ decision }) => !decision)) ??
        same.findLast(({ decision }) => decision) ??
        same[0] ??
        add(begin(), error);
      if (!live.decision) operations.conclude(live, error);
      return live;
    },
    resume(known) {
      // Asked for every request, and as a rule nothing has failed.
      if (failed.length === 0) return undefined;
      const now = clock.now();
      // The latest: an earlier one was more likely left behind by a mutation that is paused.
      const live = failed.findLast(
        ({ ref, phase, request, attempt, decision, isUrged }) =>
          ref.kind === 'mutation' &&
          ('request' in known
            ? request === known.request && phase === 'waiting'
            : attempt === known.failureCount + (phase === 'waiting' ? 0 : 1) &&
              phase !== 'ended') &&
          (isUrged || (decision?.retryAt ?? now) <= now),
      );
      if (live?.phase === 'waiting') operations.next(live);
      return live;
    },
  };
}
