import { TimeoutError } from './errors.ts';
import { reportFailure } from './failure-report.ts';
import type { AttemptLimit, LiveOperation } from './live-operation.ts';
import type { LoopContext } from './loop.ts';
import { view } from './operations.ts';
import { ifSlow, noLimit, setLimit, type TimeLimitContext } from './time-limit.ts';

/**
 * Runs an attempt that may do more than send requests of ours, or nothing but wait for another
 * client: what it spends on that at a stretch has the policy's `timeout`, from its start or from the
 * end of its latest request of ours. A limit within bodies (`bodyIdleMs`) says nothing of it.
 *
 * Rejects with a `TimeoutError`, which `onLate` is given first.
 */
export function limitAttempt<T>(
  context: LoopContext & TimeLimitContext,
  live: LiveOperation,
  run: () => T | Promise<T>,
  onLate: (error: TimeoutError) => void,
): T | Promise<T> {
  const { timeout } = context.operations.policyOf(live, {});
  if (typeof timeout === 'object' || timeout === Infinity) return run();
  return new Promise((resolve, reject) => {
    const limit = noLimit();
    let open = 0;
    const expire = (): void => {
      const outcome = { kind: 'timeout', phase: 'headers', processed: 'unknown' } as const;
      const what = `retry: the function has not settled within ${timeout} ms${ifSlow}.`;
      const error = new TimeoutError(what, { operation: view(live, {}), outcome });
      reportFailure(error, { live, failure: outcome });
      end();
      onLate(error);
      reject(error);
    };
    const limited = { context, facts: { live }, expire };
    const end = (): void => {
      if (live.attemptLimit === own) live.attemptLimit = undefined;
      setLimit(limited, limit);
    };
    const own: AttemptLimit = {
      beginRequest() {
        if (open++ === 0) setLimit(limited, limit);
        let isOpen = true;
        return () => {
          if (!isOpen) return;
          isOpen = false;
          if (--open === 0 && live.attemptLimit === own) setLimit(limited, limit, timeout);
        };
      },
    };
    live.attemptLimit = own;
    setLimit(limited, limit, timeout);
    const settle =
      <V>(how: (value: V) => void) =>
      (value: V): void => {
        end();
        how(value);
      };
    (async () => run())().then(settle(resolve), settle(reject));
  });
}
