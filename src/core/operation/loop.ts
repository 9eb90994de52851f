import { reasonOf } from '../lib/abort.ts';
import { sleep } from '../lib/timer.ts';
import type { Environment, Waiting } from './environment.ts';
import type { Operation } from './operation.ts';
import type { Operations, Signals } from './operations.ts';
import type { TimeLimitContext } from './time-limit.ts';

/** The dependencies of the loop. */
export interface LoopContext extends Environment, TimeLimitContext {
  readonly operations: Operations;
  readonly signals: Signals;
}

/** The work that a loop repeats. */
export interface LoopBody<T, Given extends readonly unknown[]> {
  /** Creates the arguments of an attempt, just before it begins. */
  readonly prepare: () => Given;
  readonly run: (...given: Given) => T | Promise<T>;
  /** Called when an attempt failed and another follows. */
  readonly onRetry?: (error: unknown) => void;
}

/**
 * The only retry loop of Steadfetch: runs attempts until one succeeds, the policy stops, the signal is
 * aborted, or the wait is ended. Rejects with the last error as it was thrown, or with the abort reason.
 */
export async function runLoop<T, Given extends readonly unknown[]>(
  { clock, operations }: LoopContext,
  operation: Operation,
  signal: AbortSignal | undefined,
  { prepare, run, onRetry }: LoopBody<T, Given>,
): Promise<T> {
  // The phase does not tell: a request of the attempt that is over may be paused meanwhile.
  let isWaiting = false;
  let isGivenUp = false;
  let endWait: (() => void) | undefined;
  const skip = (): void => endWait?.();
  const wait: Waiting = {
    drop() {
      if (!isWaiting) return;
      isGivenUp = true;
      skip();
    },
  };
  const onWait = (end: () => void): void => void (endWait = end);
  operations.loops.add(operation);
  operations.waits.add(wait);
  try {
    for (; ; operation.next()) {
      operation.owner.onChange(operation);
      try {
        return await operations.run(operation, run, prepare(), { signal });
      } catch (error) {
        operation.attemptLimit?.end();
        if (signal?.aborted) throw reasonOf(signal);
        const decision = operation.fail(error, clock.now(), skip);
        if (decision.kind === 'stop') throw error;
        isWaiting = true;
        onRetry?.(error);
        operation.owner.onChange(operation);
        if (!isGivenUp) await sleep(clock, decision.delayMs, signal, onWait);
        if (isGivenUp) throw error;
        isWaiting = false;
      }
    }
  } finally {
    operation.attemptLimit?.end();
    // The abort that ended the attempt may also have kept a request from being sent.
    if (signal?.aborted && operation.effects.isUnknown())
      operation.errors.abortUnsent(undefined, signal);
    operations.loops.delete(operation);
    operations.waits.delete(wait);
    // A no-op unless the operation was aborted: otherwise it has ended already.
    operation.end('cancelled');
  }
}
