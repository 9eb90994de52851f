import { reasonOf, sleep, untilAborted } from '../lib/wait.ts';
import { reportFailure } from './error-info.ts';
import { TimeoutError } from './errors.ts';
import type { AttemptLimit, Environment, Waiting } from './environment.ts';
import type { Operation, Signals } from './operation.ts';
import type { Operations } from './operations.ts';
import {
  ifSlow,
  type Limited,
  setLimit,
  type TimeLimit,
  type TimeLimitContext,
} from './time-limit.ts';

/** What the loop stands on. */
export interface LoopContext extends Environment, TimeLimitContext {
  readonly operations: Operations;
  readonly signals: Signals;
}

/**
 * The one loop of ours: runs the attempts of an operation until one succeeds, the policy stops, or
 * its signal is aborted, or its wait is ended. Rejects with the last error as it was thrown, or the
 * reason of the abort. `onRetry` is told of each failure after which it goes on.
 */
export async function runLoop<T>(
  { clock, operations }: LoopContext,
  operation: Operation,
  signal: AbortSignal | undefined,
  run: () => T | Promise<T>,
  onRetry?: (error: unknown) => void,
): Promise<T> {
  // Not by its phase: a request of the attempt that is over may be paused meanwhile.
  let isWaiting = false;
  let isGivenUp = false;
  const wait: Waiting = {
    drop() {
      if (!isWaiting) return;
      isGivenUp = true;
      operation.skip?.();
    },
  };
  const onWait = (skip: () => void): void => void (operation.skip = skip);
  operations.loops.add(operation);
  operations.waits.add(wait);
  try {
    for (; ; operation.next()) {
      operation.onChange?.();
      try {
        operation.start();
        const outer = operations.makeCurrent(operation);
        let begun: T | Promise<T>;
        try {
          begun = run();
        } catch (error) {
          begun = Promise.reject(error);
        } finally {
          operations.makeCurrent(outer);
        }
        return await operations.tellEnd(operation, untilAborted(signal, begun));
      } catch (error) {
        operation.attemptLimit?.end();
        if (signal?.aborted) throw reasonOf(signal);
        const decision = operation.fail(error);
        if (decision.kind === 'stop') throw error;
        isWaiting = true;
        onRetry?.(error);
        operation.onChange?.();
        if (!isGivenUp) await sleep(clock, decision.delayMs, signal, onWait);
        if (isGivenUp) throw error;
        isWaiting = false;
      }
    }
  } finally {
    operation.attemptLimit?.end();
    // What stopped it may stop what was not sent, too.
    if (signal?.aborted && operation.effects.isUnknown()) operation.errors.abortUnsent({}, signal);
    operations.loops.delete(operation);
    operations.waits.delete(wait);
    // It has ended otherwise already, unless it was aborted.
    operation.end('cancelled');
  }
}

/**
 * The time limit of an attempt that may do more than send requests of ours, or nothing but wait for another
 * client: what it spends on that at a stretch has the policy's `timeout`, from its start or from the end of
 * its latest request of ours. A limit within bodies (`bodyIdleMs`) says nothing of it.
 *
 * It does not run the attempt: every error that is made in there has all that calls it in its stack.
 */
export class AttemptTimer implements AttemptLimit, Limited, TimeLimit {
  readonly context: TimeLimitContext;
  readonly facts: { readonly operation: Operation };
  timer: unknown;
  dueAt: number = Infinity;
  readonly #limitMs: number;
  readonly #onLate: (error: TimeoutError) => void;
  /** Its requests that are under way: each has a limit of its own. */
  #open = 0;
  #reject: ((error: unknown) => void) | undefined;

  constructor(
    context: TimeLimitContext,
    operation: Operation,
    onLate: (error: TimeoutError) => void,
  ) {
    const { timeout } = operation.policyOf({});
    this.context = context;
    this.facts = { operation };
    this.#limitMs = typeof timeout === 'object' ? Infinity : timeout;
    this.#onLate = onLate;
    operation.attemptLimit = this;
    setLimit(this, this, this.#limitMs);
  }

  beginRequest(): () => void {
    if (this.#open++ === 0) setLimit(this, this);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const isLast = --this.#open === 0 && this.facts.operation.attemptLimit === this;
      if (isLast) setLimit(this, this, this.#limitMs);
    };
  }

  /** The time is up: the attempt ends with a `TimeoutError`, which `onLate` is given first. */
  expire(): void {
    const { operation } = this.facts;
    const outcome = { kind: 'timeout', phase: 'headers', processed: 'unknown' } as const;
    const what = `retry: the function has not settled within ${this.#limitMs} ms${ifSlow}.`;
    const error = new TimeoutError(what, { operation: operation.view({}), outcome });
    reportFailure(error, { operation, failure: outcome });
    this.end();
    this.#onLate(error);
    this.#reject?.(error);
  }

  /** @returns what settles as the attempt does or, once the time is up, rejects. */
  limit<T>(begun: T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      Promise.resolve(begun).then(resolve, reject);
    });
  }

  end(): void {
    const { operation } = this.facts;
    if (operation.attemptLimit === this) operation.attemptLimit = undefined;
    setLimit(this, this);
  }
}
