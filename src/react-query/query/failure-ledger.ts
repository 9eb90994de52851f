import type { Operation } from '../../operation/operation.ts';
import { reportFailure, reportOf } from '../../operation/error-info.ts';
import { createSlot } from '../../lib/slot.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Decision } from '../../policy/decide.ts';

/**
 * The operations that have failed, for React Query's questions about them.
 *
 * React Query asks with nothing but a count and the error. One error may belong to several operations
 * (batched queries share a promise) or be no object at all. It asks in the order in which they
 * failed, so each operation takes its own decision.
 */
export interface FailureLedger {
  /** An attempt has failed, and React Query is about to ask about it; `decision`: what was decided already. */
  readonly add: (operation: Operation, error: unknown, decision?: Decision) => void;
  /**
   * The operation that a failure is of, with the decision on it. `isAgain`: `retry` is asked after
   * `retryDelay`, about the same failure. `begin` makes the operation of a failure that nobody has
   * added.
   */
  readonly ask: (
    failureCount: number,
    error: unknown,
    isAgain: boolean,
    begin: (failureCount: number, error: unknown) => Operation,
  ) => Operation;
  /**
   * The plain mutation whose next attempt has come. React Query gives a mutation's requests no common
   * name (its mutationFn is simply called again), so it is known by what is said of it: the request
   * that it sends again, or how often it has failed.
   */
  readonly resume: (known: { request: string } | { failureCount: number }) => Operation | undefined;
  /** No mutation that waits is found again. */
  readonly forget: () => void;
}

/** The operations that have failed with one error, where React Query decides whether they go on. */
interface Failed {
  /** The only one, or the one that React Query has asked about last. */
  latest?: Operation | undefined;
  /** Where there are several: those that it has not asked about, in order. */
  queue?: Set<Operation> | undefined;
}

/** React Query asks about a failure in the same turn. What is older was cancelled. */
const askedWithinMs = 1000;

/** So many errors that are no objects are known at once. */
const maxValues = 50;

/** So many plain mutations are found again, for so long. */
const maxMutations = 200;
const mutationMs = 600_000;

/** Makes what finds the operation of a failure by its error. */
export function createFailureLedger(clock: Clock): FailureLedger {
  const byValue = new Map<unknown, Failed>();
  let mutations: Operation[] = [];
  /** The operations that have failed here, and whether React Query has asked about their latest failure. */
  const asked = createSlot<Operation, boolean>();
  /** What `retryDelay` has been asked about, and `retry` is about to be. */
  let latestAsked: Operation | undefined;

  const failedWith = (error: unknown, nowMs: number): Failed => {
    const report = reportOf(error, nowMs);
    // That of another client's error is made now.
    if (reportFailure(error, report)) return report as Failed;
    let failed = byValue.get(error);
    if (!failed) byValue.set(error, (failed = {}));
    if (byValue.size > maxValues) byValue.delete([...byValue.keys()][0]);
    return failed;
  };

  const enter = (
    operation: Operation,
    error: unknown,
    nowMs: number,
    decision?: Decision,
  ): void => {
    operation.recordError(error, nowMs, decision);
    asked.set(operation, false);
  };

  /** React Query is still to ask about it, and asks here: also about what has ended by its decision. */
  const isPending = (operation: Operation, nowMs: number): boolean =>
    asked.get(operation) === false &&
    (operation.phase.kind !== 'ended' || operation.decision?.kind === 'stop') &&
    nowMs - (operation.failures.failedAt ?? 0) <= askedWithinMs;

  /** The oldest one that React Query has not asked about; else the one that it has asked about last. */
  const find = (
    { latest, queue }: Failed,
    attempt: number,
    error: unknown,
    nowMs: number,
  ): Operation | undefined => {
    const isIt = (operation: Operation): boolean =>
      operation.attempt === attempt &&
      Object.is(operation.lastError, error) &&
      (asked.get(operation) || isPending(operation, nowMs));
    // Where another one's turn was missed, this one is somewhere behind it.
    for (const operation of shorten(queue, nowMs)) if (isIt(operation)) return operation;
    return latest && isIt(latest) ? latest : undefined;
  };

  /** Without those at the front that React Query has asked about, or never will. */
  const shorten = (queue: Set<Operation> | undefined, nowMs: number): Iterable<Operation> => {
    for (const operation of queue ?? []) {
      if (isPending(operation, nowMs)) break;
      queue?.delete(operation);
    }
    return queue ?? [];
  };

  const conclude = (operation: Operation, error: unknown): Operation => {
    asked.set(operation, true);
    if (!operation.decision) operation.fail(error);
    if (operation.ref.kind === 'mutation' && operation.phase.kind === 'waiting') {
      const now = clock.now();
      mutations = mutations
        .filter(
          (other) =>
            other !== operation &&
            other.phase.kind !== 'ended' &&
            now - (other.failures.failedAt ?? now) < mutationMs,
        )
        .slice(1 - maxMutations);
      mutations.push(operation);
    }
    return operation;
  };

  const ledger: FailureLedger = {
    add(operation, error, decision) {
      const nowMs = clock.now();
      const failed = failedWith(error, nowMs);
      const { latest, queue } = failed;
      shorten(queue, nowMs);
      enter(operation, error, nowMs, decision);
      if (queue?.size) queue.delete(operation);
      if (queue?.size) queue.add(operation);
      else if (latest && latest !== operation && isPending(latest, nowMs))
        failed.queue = new Set([latest, operation]);
      else failed.latest = operation;
    },
    ask(failureCount, error, isAgain, begin) {
      const attempt = failureCount + 1;
      const before = latestAsked;
      latestAsked = undefined;
      if (isAgain && before?.attempt === attempt && Object.is(before.lastError, error))
        return before;
      const nowMs = clock.now();
      const failed = failedWith(error, nowMs);
      let operation = find(failed, attempt, error, nowMs);
      if (!operation) enter((operation = begin(failureCount, error)), error, nowMs);
      failed.latest = operation;
      failed.queue?.delete(operation);
      if (!asked.get(operation)) conclude(operation, error);
      if (!isAgain) latestAsked = operation;
      return operation;
    },
    resume(known) {
      // Asked for every request, and as a rule nothing has failed.
      if (mutations.length === 0) return undefined;
      const now = clock.now();
      // The latest: an earlier one was more likely left behind by a mutation that is paused.
      const operation = mutations.findLast(
        ({ phase: { kind }, request, attempt, decision }) =>
          ('request' in known
            ? request === known.request && kind === 'waiting'
            : attempt === known.failureCount + (kind === 'waiting' ? 0 : 1) && kind !== 'ended') &&
          (decision?.retryAt ?? now) <= now,
      );
      if (operation?.phase.kind === 'waiting') operation.next();
      return operation;
    },
    forget() {
      mutations = [];
    },
  };
  return ledger;
}
