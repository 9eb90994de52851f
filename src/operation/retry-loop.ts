import { reasonOf, sleep, untilAborted } from '../lib/wait.ts';
import { reportFailure } from './error-info.ts';
import { TimeoutError } from './errors.ts';
import type { AttemptLimit, Environment } from './environment.ts';
import type { Operation, Signals } from './operation.ts';
import type { Operations } from './operations.ts';
import { ifSlow, noLimit, setLimit, type TimeLimitContext } from './time-limit.ts';

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
  operations.loops.add(operation);
  try {
    for (; ; operation.next()) {
      operation.onChange?.();
      try {
        return await operations.attempt(operation, () => untilAborted(signal, run()));
      } catch (error) {
        if (signal?.aborted) throw reasonOf(signal);
        const decision = operation.fail(error);
        if (decision.kind === 'stop') throw error;
        onRetry?.(error);
        operation.onChange?.();
        let isGivenUp = false;
        const giveUp = (): void => {
          isGivenUp = true;
          operation.skip?.();
        };
        operations.waits.add(giveUp);
        try {
          await sleep(clock, decision.delayMs, signal, (skip) => (operation.skip = skip));
        } finally {
          operations.waits.delete(giveUp);
        }
        if (isGivenUp) throw error;
      }
    }
  } finally {
    // What stopped it may stop what was not sent, too.
    if (signal?.aborted && operation.effects.isUnknown()) operation.errors.abortUnsent({}, signal);
    operations.loops.delete(operation);
    // It has ended otherwise already, unless it was aborted.
    operation.end('cancelled');
  }
}

/**
 * Begins the time limit of an attempt that may do more than send requests of ours, or nothing but wait for
 * another client: what it spends on that at a stretch has the policy's `timeout`, from its start or from the
 * end of its latest request of ours. A limit within bodies (`bodyIdleMs`) says nothing of it.
 *
 * @returns what settles as the attempt does that it is given or, once the time is up, rejects with a
 * `TimeoutError`, which `onLate` is given first. It does not run the attempt: every error that is made in
 * there has all that calls it in its stack.
 */
export function limitAttempt(
  context: LoopContext & TimeLimitContext,
  operation: Operation,
  onLate: (error: TimeoutError) => void,
): <T>(begun: T | Promise<T>) => T | Promise<T> {
  const { timeout } = operation.policyOf({});
  if (typeof timeout === 'object' || timeout === Infinity) return (begun) => begun;
  const limit = noLimit();
  let open = 0;
  let giveUp: (error: unknown) => void = () => {};
  const expire = (): void => {
    const outcome = { kind: 'timeout', phase: 'headers', processed: 'unknown' } as const;
    const what = `retry: the function has not settled within ${timeout} ms${ifSlow}.`;
    const error = new TimeoutError(what, { operation: operation.view({}), outcome });
    reportFailure(error, { operation, failure: outcome });
    end();
    onLate(error);
    giveUp(error);
  };
  const limited = { context, facts: { operation }, expire };
  const end = (): void => {
    if (operation.attemptLimit === own) operation.attemptLimit = undefined;
    setLimit(limited, limit);
  };
  const own: AttemptLimit = {
    beginRequest() {
      if (open++ === 0) setLimit(limited, limit);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        if (--open === 0 && operation.attemptLimit === own) setLimit(limited, limit, timeout);
      };
    },
  };
  operation.attemptLimit = own;
  setLimit(limited, limit, timeout);
  const settle =
    <V>(how: (value: V) => void) =>
    (value: V): void => {
      end();
      how(value);
    };
  return (begun) =>
    new Promise((resolve, reject) => {
      giveUp = reject;
      Promise.resolve(begun).then(settle(resolve), settle(reject));
    });
}
