import type { Clock } from '../lib/clock.ts';

/** How long after waking a wait that is over is noticed, at the most. */
const stepMs = 2000;

/**
 * Resolves after a delay, or as soon as it is skipped; rejects with the signal's own reason as soon
 * as it is aborted. `onStart` is handed what skips it. Timers stand still while a machine sleeps, and
 * the wall clock does not: it is over by whichever is first.
 */
export function sleep(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal | undefined,
  onStart?: (skip: () => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const dueAt = clock.now() + delayMs;
    let leftMs = delayMs;
    let timer: unknown;
    const end = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    };
    const skip = (): void => {
      end();
      resolve();
    };
    const stop = (): void => {
      end();
      reject(signal?.reason);
    };
    const wait = (): void => {
      const ms = Math.min(leftMs, stepMs);
      timer = clock.setTimeout(() => {
        leftMs = Math.min(leftMs - ms, dueAt - clock.now());
        if (leftMs > 0) wait();
        else skip();
      }, ms);
    };
    wait();
    signal?.addEventListener('abort', stop);
    onStart?.(skip);
  });
}
