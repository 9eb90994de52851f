import { maxTimerMs, systemClock } from '../lib/clock.ts';

/** Whole seconds until a time by the wall clock, rounded up; 0 once it has come. */
export function secondsUntil(at: number): number {
  return Math.max(0, Math.ceil((at - systemClock.now()) / 1000));
}

const listeners = new Map<() => void, number>();
let timer: unknown;

/**
 * Calls back whenever the whole seconds until `at` change. All countdowns share one timer, set for
 * the next change of any of them.
 */
export function subscribeToSeconds(at: number, listener: () => void): () => void {
  // Each subscription is its own, also of one function twice.
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
