import type { LiveOperation } from './live-operation.ts';

/** The time since then was no part of the operation's own: what overlaps is counted once. */
export function countHeld(live: LiveOperation, sinceMs: number, nowMs: number): void {
  live.heldMs += Math.max(0, nowMs - Math.max(sinceMs, live.heldTo ?? sinceMs));
  live.heldTo = nowMs;
}
