import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Operations } from '../fetch/operations.ts';
import type { Clock } from '../lib/clock.ts';

/**
 * The operations that have failed, for React Query's questions about them.
 *
 * React Query asks with nothing but a count and the error. One error may belong to several operations
 * (batched queries share a promise) or be no object at all. It asks in the order in which they
 * failed, so each operation takes its own decision.
 */
export interface FailureLedger {
  /** An attempt has failed, and React Query is about to ask about it. */
  readonly add: (live: LiveOperation, error: unknown) => void;
  /**
   * The operation that a failure is of, with the decision on it. `isAgain`: `retry` is asked after
   * `retryDelay`, about the same failure. `begin` makes the operation of a failure that nobody has
   * added.
   */
  readonly ask: (
    failureCount: number,
    error: unknown,
    isAgain: boolean,
    begin: () => LiveOperation,
  ) => LiveOperation;
  /**
   * The plain mutation whose next attempt has come. React Query gives a mutation's requests no common
   * name (its mutationFn is simply called again), so it is known by what is said of it: the request
   * that it sends again, or how often it has failed.
   */
  readonly resume: (
    known: { request: string } | { failureCount: number },
  ) => LiveOperation | undefined;
}

/** The operations that have failed with one error. */
interface Failed {
  /** Those that React Query has not asked about yet, in order, from `next` on. */
  readonly queue: LiveOperation[];
  next: number;
  /** The latest that it has asked about: somebody may ask again. */
  readonly asked: LiveOperation[];
}

/** React Query asks about a failure in the same turn. What is older was cancelled. */
const askedWithinMs = 1000;

const maxAsked = 8;

/** So many errors that are no objects are known at once. */
const maxValues = 50;

/** So many plain mutations are found again, for so long. */
const maxMutations = 200;
const mutationMs = 600_000;

export function createFailureLedger(clock: Clock, operations: Operations): FailureLedger {
  const byObject = new WeakMap<object, Failed>();
  const byValue = new Map<unknown, Failed>();
  let mutations: LiveOperation[] = [];
  /** What `retryDelay` has been asked about, and `retry` is about to be. */
  let asked: LiveOperation | undefined;

  const failedWith = (error: unknown): Failed => {
    const isObject = Object(error) === error;
    const known = isObject ? byObject.get(error as object) : byValue.get(error);
    if (known) return known;
    const failed: Failed = { queue: [], next: 0, asked: [] };
    if (isObject) byObject.set(error as object, failed);
    else {
      byValue.set(error, failed);
      if (byValue.size > maxValues) byValue.delete([...byValue.keys()][0]);
    }
    return failed;
  };

  const enter = (live: LiveOperation, error: unknown): void => {
    live.decision = undefined;
    // The attempt that was asked for is over.
    live.isUrged = false;
    live.failedAt = clock.now();
    live.lastError = error;
  };

  /** The oldest one that React Query has not asked about. */
  const take = (failed: Failed, attempt: number): LiveOperation | undefined => {
    const { queue } = failed;
    const now = clock.now();
    const isOver = ({ phase, failedAt = now }: LiveOperation): boolean =>
      phase === 'ended' || now - failedAt > askedWithinMs;
    let found: LiveOperation | undefined;
    for (; failed.next < queue.length && !found; failed.next++) {
      const live = queue[failed.next];
      if (!live || isOver(live)) continue;
      if (live.attempt === attempt) found = live;
      else break;
    }
    // Another one's turn was missed: this one is somewhere behind it.
    if (!found && failed.next < queue.length) {
      const at = queue.findIndex(
        (live, index) => index > failed.next && live.attempt === attempt && !isOver(live),
      );
      if (at >= 0) [found] = queue.splice(at, 1);
    }
    if (failed.next >= queue.length) queue.length = failed.next = 0;
    return found;
  };

  const conclude = (live: LiveOperation, error: unknown, failed: Failed): LiveOperation => {
    if (!live.decision) operations.conclude(live, error);
    if (failed.asked.push(live) > maxAsked) failed.asked.shift();
    if (live.ref.kind === 'mutation' && live.phase === 'waiting') {
      const now = clock.now();
      mutations = mutations
        .filter(
          (other) =>
            other !== live && other.phase !== 'ended' && now - (other.failedAt ?? now) < mutationMs,
        )
        .slice(1 - maxMutations);
      mutations.push(live);
    }
    return live;
  };

  return {
    add(live, error) {
      enter(live, error);
      failedWith(error).queue.push(live);
    },
    ask(failureCount, error, isAgain, begin) {
      const attempt = failureCount + 1;
      const isIt = (live: LiveOperation | undefined): live is LiveOperation =>
        live?.attempt === attempt && Object.is(live.lastError, error);
      const before = asked;
      asked = undefined;
      if (isAgain && isIt(before)) return before;
      const failed = failedWith(error);
      let live = take(failed, attempt);
      if (live) conclude(live, error, failed);
      else live = failed.asked.findLast(isIt);
      if (!live) {
        enter((live = begin()), error);
        conclude(live, error, failed);
      }
      if (!isAgain) asked = live;
      return live;
    },
    resume(known) {
      // Asked for every request, and as a rule nothing has failed.
      if (mutations.length === 0) return undefined;
      const now = clock.now();
      // The latest: an earlier one was more likely left behind by a mutation that is paused.
      const live = mutations.findLast(
        ({ phase, request, attempt, decision }) =>
          ('request' in known
            ? request === known.request && phase === 'waiting'
            : attempt === known.failureCount + (phase === 'waiting' ? 0 : 1) &&
              phase !== 'ended') && (decision?.retryAt ?? now) <= now,
      );
      if (live?.phase === 'waiting') operations.next(live);
      return live;
    },
  };
}
