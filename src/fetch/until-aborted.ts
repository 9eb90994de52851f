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
