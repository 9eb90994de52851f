import { reasonOf } from '../lib/abort.ts';
import { sleep } from '../lib/timer.ts';
import type { Environment, Waiting } from './environment.ts';
import type { Operation } from './operation.ts';
import type { Operations, Signals } from './operations.ts';
import type { TimeLimitContext } from './time-limit.ts';

/** What the loop stands on. */
export interface LoopContext extends Environment, TimeLimitContext {
  readonly operations: Operations;
  readonly signals: Signals;
}

/** What a loop runs. */
export interface LoopBody<T, Given extends readonly unknown[]> {
  /** Makes what an attempt is given, before it begins. */
  readonly prepare: () => Given;
  readonly run: (...given: Given) => T | Promise<T>;
  /** An attempt has failed, and another follows. */
  readonly onRetry?: (error: unknown) => void;
}

/**
 * The one loop of ours: runs the attempts of an operation until one succeeds, the policy stops, or
 * its signal is aborted, or its wait is ended. Rejects with the last error as it was thrown, or the
 * reason of the abort.
 */
export async function runLoop<T, Given extends readonly unknown[]>(
  { clock, operations }: LoopContext,
  operation: Operation,
  signal: AbortSignal | undefined,
  { prepare, run, onRetry }: LoopBody<T, Given>,
): Promise<T> {
  // Not by its phase: a request of the attempt that is over may be paused meanwhile.
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
      operation.notifyOwner();
      try {
        return await operations.run(operation, run, prepare(), { signal });
      } catch (error) {
        operation.attemptLimit?.end();
        if (signal?.aborted) throw reasonOf(signal);
        const decision = operation.fail(error, clock.now(), skip);
        if (decision.kind === 'stop') throw error;
        isWaiting = true;
        onRetry?.(error);
        operation.notifyOwner();
        if (!isGivenUp) await sleep(clock, decision.delayMs, signal, onWait);
        if (isGivenUp) throw error;
        isWaiting = false;
      }
    }
  } finally {
    operation.attemptLimit?.end();
    // What stopped it may stop what was not sent, too.
    if (signal?.aborted && operation.effects.isUnknown())
      operation.errors.abortUnsent(undefined, signal);
    operations.loops.delete(operation);
    operations.waits.delete(wait);
    // It has ended otherwise already, unless it was aborted.
    operation.end('cancelled');
  }
}
