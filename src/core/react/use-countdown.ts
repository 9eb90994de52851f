import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { inDevelopment } from '../lib/development.ts';
import { reject } from '../lib/input/check.ts';
import { createSteadyClock, maxTimerMs, systemClock } from '../lib/clock.ts';

/** If the wall clock is set back, a running countdown must not jump up. */
const clock = /* @__PURE__ */ createSteadyClock(systemClock);

/**
 * The whole seconds until a time on the wall clock, rounded up: 0 once the time has come, undefined without a
 * time and in server-rendered output. Only the component that uses the hook renders each second.
 *
 * Show it outside any live region, so that a screen reader does not announce every second.
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
  inDevelopment(() => {
    if (retryAt !== undefined && !(typeof retryAt === 'number' && retryAt >= 0))
      reject('useCountdown', 'retryAt', retryAt, 'epoch milliseconds, or undefined');
  });
  const at = useMemo(() => retryAt && retryAt + clock.setBackMs(), [retryAt]);
  const subscribe = useCallback(
    (listener: () => void) => (at === undefined ? () => {} : subscribeToSeconds(at, listener)),
    [at],
  );
  const getSeconds = (): number | undefined => (at === undefined ? undefined : secondsUntil(at));
  return useSyncExternalStore(subscribe, getSeconds, noneAtFirst);
}

/** The server's clock showed other seconds. */
const noneAtFirst = (): undefined => undefined;

function secondsUntil(at: number): number {
  return Math.max(0, Math.ceil((at - clock.now()) / 1000));
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
  clock.clearTimeout(timer);
  timer = undefined;
  const now = clock.now();
  let nextMs = Infinity;
  for (const at of listeners.values()) {
    if (at > now && at < Infinity) nextMs = Math.min(nextMs, ((at - now - 1) % 1000) + 1);
  }
  if (nextMs <= maxTimerMs) timer = clock.setTimeout(tick, nextMs);
}

function tick(): void {
  for (const listener of listeners.keys()) listener();
  schedule();
}
