import type { Clock } from '../../lib/clock.ts';
import { createSlot, type Slot } from '../../lib/slot.ts';
import { reportOf } from '../../operation/error-info.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { Decision } from '../../policy/decide.ts';

/** React Query asks about a failure in the same turn. One that is older was cancelled. */
const claimedWithinMs = 1000;

/** So many plain mutations are found again, for so long. */
const maxMutations = 200;
const mutationMs = 600_000;

/**
 * Finds the operation that React Query asks about. It asks with nothing but a count and the error. One error may
 * belong to several operations (batched queries share a promise) or be no object at all. It asks in the order in
 * which they failed, so failures wait here in that order, and each operation takes its own decision.
 */
export class FailureLedger {
  readonly #clock: Clock;
  /** Those that React Query is still to ask about. */
  readonly #pending: Set<Operation> = new Set();
  /**
   * Those that React Query has asked about, and whether our `retry` was asked: it may ask again. An error of another
   * instance names others.
   */
  readonly #claimed: Slot<Operation, boolean> = createSlot();
  /** The one that `retryDelay` has asked about, until `retry` does. */
  #latest: Operation | undefined;
  /** The plain mutations that wait for their next attempt. */
  #mutations: readonly Operation[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An attempt has failed, and React Query is about to ask about it; `decision`: what was decided already. */
  add(operation: Operation, error: unknown, nowMs: number, decision?: Decision): void {
    const pending = this.#pending;
    pending.delete(operation);
    for (const one of pending) {
      if (isPending(one, nowMs)) break;
      pending.delete(one);
    }
    operation.recordError(error, decision, nowMs);
    pending.add(operation);
  }

  /**
   * The operation that a failure is of, with the decision on it. `isAgain`: `retry` is asked after `retryDelay`,
   * about the same failure. `begin` makes the operation of a failure that was not added.
   */
  claim(
    failureCount: number,
    error: unknown,
    isAgain: boolean,
    begin: (failureCount: number, error: unknown, nowMs: number) => Operation,
  ): Operation {
    const isIt = ({ attempt, errors }: Operation): boolean =>
      attempt === failureCount + 1 && Object.is(errors.lastError, error);
    const latest = this.#latest;
    this.#latest = undefined;
    if (isAgain && latest && isIt(latest)) {
      this.#claimed.set(latest, true);
      return latest;
    }
    const nowMs = this.#clock.now();
    // Where another one's turn was missed, this one is somewhere behind it.
    let operation = find(this.#pending, (one) => isIt(one) && isPending(one, nowMs));
    if (!operation) {
      const known = operationOf(reportOf(error, nowMs));
      if (known && this.#claimed.get(known) !== undefined && isIt(known)) operation = known;
      else this.add((operation = begin(failureCount, error, nowMs)), error, nowMs);
    }
    // After its failure before only `retryDelay` was ours: the app's own `retry` counts its attempts.
    if (!isAgain && this.#claimed.get(operation) === false) operation.errors.recordOwnRetry();
    if (this.#pending.delete(operation)) this.#conclude(operation, error, nowMs);
    this.#claimed.set(operation, isAgain);
    if (!isAgain) this.#latest = operation;
    return operation;
  }

  /**
   * The plain mutation whose next attempt has come. React Query gives a mutation's requests no common
   * name (its mutationFn is simply called again), so it is known by `isIt`: by the request that it sends
   * again, or how often it has failed.
   */
  resume(isIt: (mutation: Operation) => boolean): Operation | undefined {
    const mutations = this.#mutations;
    // Called for every request, and as a rule nothing has failed.
    if (mutations.length === 0) return undefined;
    const now = this.#clock.now();
    // The latest: an earlier one was more likely left behind by a mutation that is paused.
    const operation = mutations.findLast(
      (one) => isIt(one) && (one.errors.decision?.retryAt ?? now) <= now,
    );
    if (operation?.phase.kind === 'waiting') operation.next();
    return operation;
  }

  /** No mutation that waits is found again. */
  forget(): void {
    this.#mutations = [];
  }

  #conclude(operation: Operation, error: unknown, nowMs: number): void {
    if (!operation.errors.decision) operation.fail(error, nowMs);
    if (operation.ref.kind !== 'mutation' || operation.phase.kind !== 'waiting') return;
    const others = this.#mutations.filter(
      (one) =>
        one !== operation &&
        one.phase.kind !== 'ended' &&
        nowMs - (one.errors.failedAt ?? nowMs) < mutationMs,
    );
    this.#mutations = [...others.slice(1 - maxMutations), operation];
  }
}

/** React Query is still to ask about it, and asks here: also about what has ended by its decision. */
const isPending = ({ phase, errors }: Operation, nowMs: number): boolean =>
  (phase.kind !== 'ended' || errors.decision?.kind === 'stop') &&
  nowMs - (errors.failedAt ?? 0) <= claimedWithinMs;

/** Without a copy: as a rule it is the first. */
function find<T>(all: Iterable<T>, isIt: (one: T) => boolean): T | undefined {
  for (const one of all) if (isIt(one)) return one;
  return undefined;
}
