import type { Clock } from './clock.ts';

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

/**
 * Settles as what was begun does, or rejects with the reason of the signal as soon as that is
 * aborted: also where what was begun does not heed its signal.
 */
export function untilAborted<T>(
  signal: AbortSignal | undefined,
  begun: T | Promise<T>,
): Promise<T> {
  if (!signal) return Promise.resolve(begun);
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    const over = (): void => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    Promise.resolve(begun).then(resolve, reject).finally(over);
  });
}
