import { environmentManager, notifyManager, timeoutManager } from '@tanstack/react-query';
import type { Clock } from '../../src/index.ts';

/** Puts React Query into the simulation: its timers, and what it takes for a browser. */
export function putQueryInto(clock: Clock): void {
  const unsupported = (): never => {
    throw new Error('No query here has an interval.');
  };
  timeoutManager.setTimeoutProvider<number>({
    setTimeout: (callback, delayMs) => clock.setTimeout(callback, delayMs) as number,
    clearTimeout: (handle) => clock.clearTimeout(handle),
    setInterval: unsupported,
    clearInterval: unsupported,
  });
  // The default would set a timer of Node's for each notification.
  notifyManager.setScheduler(queueMicrotask);
  environmentManager.setIsServer(() => false);
}
