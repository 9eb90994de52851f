import type { Clock } from '../policy/clock.ts';

/** Resolves after a delay; rejects with the signal's own reason as soon as it is aborted. */
export async function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = (): void => {};
  await new Promise<void>((resolve, reject) => {
    const timer = clock.setTimeout(resolve, delayMs);
    stop = () => {
      clock.clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop);
  });
  signal.removeEventListener('abort', stop);
}
