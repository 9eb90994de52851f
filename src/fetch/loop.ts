import type { LiveOperation, Signals } from './live-operation.ts';
import type { Environment, Operations } from './operations.ts';
import { sleep } from './sleep.ts';
import type { TimeLimitContext } from './time-limit.ts';
import { untilAborted } from './until-aborted.ts';

/** What the loop stands on. */
export interface LoopContext extends Environment, TimeLimitContext {
  readonly operations: Operations;
  readonly signals: Signals;
}

/**
 * The one loop of ours: runs the attempts of an operation until one succeeds, the policy stops, or
 * its signal is aborted, or its wait is ended. Rejects with the last error as it was thrown, or the
 * reason of the abort.
 */
export async function runLoop<T>(
  { clock, operations }: LoopContext,
  live: LiveOperation,
  signal: AbortSignal | undefined,
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    for (; ; operations.next(live)) {
      live.onChange?.();
      try {
        return await operations.attempt(live, () => untilAborted(signal, run()));
      } catch (error) {
        signal?.throwIfAborted();
        const decision = operations.conclude(live, error);
        if (decision.kind === 'stop') throw error;
        live.onChange?.();
        let isGivenUp = false;
        const giveUp = (): void => {
          isGivenUp = true;
          live.skip?.();
        };
        operations.waits.add(giveUp);
        try {
          await sleep(clock, decision.delayMs, signal, (skip) => (live.skip = skip));
        } finally {
          operations.waits.delete(giveUp);
        }
        if (isGivenUp) throw error;
      }
    }
  } finally {
    // It has ended otherwise already, unless it was aborted.
    operations.end(live, 'cancelled');
  }
}
