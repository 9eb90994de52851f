import type { OwnerRecord } from './store/schema.ts';

/**
 * Where there are no Web Locks, an owner counts as dead so long after its last sign: longer than the
 * minute to which timers of a hidden tab are throttled.
 */
const leaseMs = 90_000;
/** Clocks of one machine can be set. */
const skewMs = 10_000;
/** A lease is prolonged after so long; what has failed is tried again. */
export const renewMs = 20_000;

/** Until when an owner that gives a sign now counts as alive. */
export const leaseFrom = (nowMs: number): number => nowMs + leaseMs;

/** Whether an owner counts as dead; so does one whose lease is of a clock that was set back since. */
export function isLapsed({ leaseUntil = 0 }: OwnerRecord, nowMs: number): boolean {
  return leaseUntil + skewMs < nowMs || leaseUntil > leaseFrom(nowMs) + skewMs;
}
