import { reasonOf } from '../lib/abort.ts';
import { sleep, untilAborted } from '../lib/timer.ts';
import type { Environment, Waiting } from './environment.ts';
import type { Operation, Signals } from './operation.ts';
import type { Operations } from './operations.ts';
import type { TimeLimitContext } from './time-limit.ts';

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
    if (signal?.aborted && operation.effects.isUnknown())
      operation.errors.abortUnsent(undefined, signal);
    operations.loops.delete(operation);
    operations.waits.delete(wait);
    // It has ended otherwise already, unless it was aborted.
    operation.end('cancelled');
  }
}
