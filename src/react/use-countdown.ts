import { useCallback, useSyncExternalStore } from 'react';
import { maxTimerMs, systemClock } from '../lib/clock.ts';

/**
 * The whole seconds until a time by the wall clock, rounded up; 0 once the time has come, and undefined
 * without a time, and in what a server renders. Only the component that uses the hook renders each second.
 *
 * Show it outside any live region, so that a screen reader does not read out every second.
 *
 * @param retryAt - Epoch milliseconds, as `useRetryStatus` returns it.
 *
 * @example
 * ```tsx
 * const seconds = useCountdown(retryAt);
 * return seconds === undefined ? null : <span role="timer">{seconds} s</span>;
 * ```
 */
export function useCountdown(retryAt: number | undefined): number | undefined {
  const subscribe = useCallback(
    (listener: () => void) =>
      retryAt === undefined ? () => {} : subscribeToSeconds(retryAt, listener),
    [retryAt],
  );
  const getSeconds = (): number | undefined =>
    retryAt === undefined ? undefined : secondsUntil(retryAt);
  return useSyncExternalStore(subscribe, getSeconds, noneAtFirst);
}

/** The clock of the server has shown other seconds. */
const noneAtFirst = (): undefined => undefined;

function secondsUntil(at: number): number {
  return Math.max(0, Math.ceil((at - systemClock.now()) / 1000));
}

const listeners = new Map<() => void, number>();
let timer: unknown;

/**
 * Calls back whenever the whole seconds until `at` change. All countdowns share one timer, which fires at
 * the next change of any of them.
 */
function subscribeToSeconds(at: number, listener: () => void): () => void {
  // A new function, because React may subscribe the same listener twice.
  const own = (): void => listener();
  listeners.set(own, at);
  schedule();
  return () => {
    listeners.delete(own);
    schedule();
  };
}

function schedule(): void {
  systemClock.clearTimeout(timer);
  timer = undefined;
  const now = systemClock.now();
  let nextMs = Infinity;
  for (const at of listeners.values()) {
    if (at > now && at < Infinity) nextMs = Math.min(nextMs, ((at - now - 1) % 1000) + 1);
  }
  if (nextMs <= maxTimerMs) timer = systemClock.setTimeout(tick, nextMs);
}

function tick(): void {
  for (const listener of listeners.keys()) listener();
  schedule();
}
