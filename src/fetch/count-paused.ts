import type { LiveOperation } from './live-operation.ts';

/** The time since then was no part of the operation's own: what overlaps is counted once. */
export function countPaused(live: LiveOperation, sinceMs: number, nowMs: number): void {
  live.pausedMs += Math.max(0, nowMs - Math.max(sinceMs, live.pausedTo ?? sinceMs));
  live.pausedTo = nowMs;
}
