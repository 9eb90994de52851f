import { useCallback, useSyncExternalStore } from 'react';
import { secondsUntil, subscribeToSeconds } from './countdown-ticker.ts';

/**
 * The whole seconds until a time, rounded up, by the wall clock; 0 once it has come, and undefined
 * without a time. Only the component that uses it renders each second.
 *
 * Show it as text outside any live region: a screen reader must not read out every second.
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
  return useSyncExternalStore(subscribe, getSeconds, getSeconds);
}
