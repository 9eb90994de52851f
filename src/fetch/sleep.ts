import type { Clock } from '../policy/clock.ts';

/**
 * Resolves after a delay, or as soon as it is skipped; rejects with the signal's own reason as soon
 * as it is aborted. `onStart` is handed what skips it.
 */
export async function sleep(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal,
  onStart?: (skip: () => void) => void,
): Promise<void> {
  signal.throwIfAborted();
  let stop = (): void => {};
  await new Promise<void>((resolve, reject) => {
    const timer = clock.setTimeout(resolve, delayMs);
    stop = () => {
      clock.clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop);
    onStart?.(() => {
      clock.clearTimeout(timer);
      resolve();
    });
  });
  signal.removeEventListener('abort', stop);
}
