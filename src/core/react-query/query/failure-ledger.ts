import type { Clock } from '../../lib/clock.ts';
import { createSlot, type Slot } from '../../lib/slot.ts';
import { reportOf } from '../../operation/error-info.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { Decision } from '../../policy/decide.ts';

/** React Query asks about a failure in the same turn. An older failure was cancelled. */
const claimedWithinMs = 1000;

/** How many waiting plain mutations are remembered, and for how long. */
const maxMutations = 200;
const mutationMs = 600_000;

/**
 * Finds the operation that React Query asks about when it calls `retryDelay` and `retry`. It passes only a count and the
 * error, which several operations may share (batched queries share a promise), and which may be no object at all. But it
 * asks in the order of the failures, so failures wait here in that order, and each operation takes its own decision.
 */
export class FailureLedger {
  readonly #clock: Clock;
  /** The operations that React Query has not asked about yet. */
  readonly #pending: Set<Operation> = new Set();
  /**
   * The operations that React Query has asked about, because it may ask again. True if it has called our `retry`, and not
   * only `retryDelay`.
   */
  readonly #claimed: Slot<Operation, boolean> = createSlot();
  /** The operation of the latest `retryDelay`, until `retry` is called. */
  #latest: Operation | undefined;
  /** The plain mutations that wait for their next attempt. */
  #mutations: readonly Operation[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a failed attempt, which React Query is about to ask about. `decision`: one that was made already. */
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
   * The operation of a failure, with its decision. `isAgain`: `retry` is called after `retryDelay`, about the same
   * failure. `begin` makes the operation of a failure that was not added.
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
    // Not always the first: React Query may not have asked about an earlier one.
    let operation = find(this.#pending, (one) => isIt(one) && isPending(one, nowMs));
    if (!operation) {
      const known = operationOf(reportOf(error, nowMs));
      if (known && this.#claimed.get(known) !== undefined && isIt(known)) operation = known;
      else this.add((operation = begin(failureCount, error, nowMs)), error, nowMs);
    }
    // After the failure before, only `retryDelay` was ours. So the app's own `retry` counts the attempts.
    if (!isAgain && this.#claimed.get(operation) === false) operation.errors.recordOwnRetry();
    if (this.#pending.delete(operation)) this.#conclude(operation, error, nowMs);
    this.#claimed.set(operation, isAgain);
    if (!isAgain) this.#latest = operation;
    return operation;
  }

  /**
   * The plain mutation whose next attempt begins. React Query simply calls its mutationFn again, without a name for the
   * mutation. So `isIt` recognizes it by the request that it repeats, or by how often it has failed.
   */
  resume(isIt: (mutation: Operation) => boolean): Operation | undefined {
    const mutations = this.#mutations;
    // Called for every request, and usually nothing has failed.
    if (mutations.length === 0) return undefined;
    const now = this.#clock.now();
    // The latest, because an earlier one more likely belongs to a mutation that is paused.
    const operation = mutations
      .filter((one) => isIt(one) && (one.errors.decision?.retryAt ?? now) <= now)
      .pop();
    if (operation?.phase.kind === 'waiting') operation.next();
    return operation;
  }

  /** Forgets the mutations that wait. */
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

/** Whether React Query will still ask about an operation: it waits, or has ended by its own decision, and failed just now. */
const isPending = ({ phase, errors }: Operation, nowMs: number): boolean =>
  (phase.kind !== 'ended' || errors.decision?.kind === 'stop') &&
  nowMs - (errors.failedAt ?? 0) <= claimedWithinMs;

/** Makes no copy, because usually the first one matches. */
function find<T>(all: Iterable<T>, isIt: (one: T) => boolean): T | undefined {
  for (const one of all) if (isIt(one)) return one;
  return undefined;
}
