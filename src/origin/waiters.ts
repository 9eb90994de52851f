import type { Held, Waiter } from './waiting.ts';

/** Those who wait at a gate, in the order of their coming. */
export interface Waiters {
  /** Another one whenever somebody comes or leaves. */
  list: readonly Waiter[];
}

/** It goes, or leaves. */
export function remove(waiters: Waiters, waiter: Waiter): void {
  waiter.isGone = true;
  waiters.list = waiters.list.filter((other) => other !== waiter);
}

/** It waits for so long from now on. */
export function extend(waiter: Waiter, now: number, ms: number): void {
  waiter.askedAt = now;
  waiter.expiresAt = now + ms;
}

/** Whether it waits no longer: its time is up or, failing fast, it would wait for more than a place. */
export function isOver(waiter: Waiter, now: number, isQueue: () => boolean): boolean {
  // A clock that was set back would prolong it.
  if (now < waiter.askedAt) extend(waiter, now, waiter.expiresAt - waiter.askedAt);
  const isRefused = waiter.ask.isFailFast && !isQueue();
  return isRefused || now >= waiter.expiresAt;
}

/** Tells those who do not know it yet why they wait. */
export function tell(waiters: readonly Waiter[], held: Held): void {
  for (const waiter of waiters) {
    const { told, isGone } = waiter;
    // It may have left while others were told.
    if (isGone || (told?.reason === held.reason && told.retryAt === held.retryAt)) continue;
    waiter.told = held;
    waiter.ask.onHold(held);
  }
}
