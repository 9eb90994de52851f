import type { PausedAttempt } from '../environment.ts';

/** The empty list. Most operations never have a pause or a retry, and share this one. */
export const none: readonly never[] = [];

/** The pauses of an operation: which of its requests wait, and the time that was no part of its own. */
export class Pauses {
  /** Its requests that wait for the admission of an origin. */
  list: readonly PausedAttempt[] = none;
  /** How long it was paused, or asleep, in milliseconds. */
  pausedMs = 0;
  #since = 0;
  /** Until when that is counted. */
  #countedTo = -Infinity;

  /** @returns whether it is new, and not one that waits on for another reason. */
  add(paused: PausedAttempt, nowMs: number): boolean {
    if (this.list.includes(paused)) return false;
    if (this.list.length === 0) this.#since = nowMs;
    this.list = this.list.concat(paused);
    return true;
  }

  /** @returns whether nothing waits any more. */
  remove(paused: PausedAttempt, nowMs: number): boolean {
    this.list = this.list.filter((other) => other !== paused);
    if (this.list.length > 0) return false;
    this.count(this.#since, nowMs);
    return true;
  }

  /** The time since then was no part of the operation's own: what overlaps is counted once. */
  count(since: number, nowMs: number): void {
    this.pausedMs += Math.max(0, nowMs - Math.max(since, this.#countedTo));
    this.#countedTo = nowMs;
  }

  /** Those of another operation, which does all that this one does. */
  mirror(list: readonly PausedAttempt[]): void {
    this.list = list;
  }

  /** `go`: a user wants it now. `renew`: another component waits. `drop`: nothing of an attempt that is over is sent. `expire`: their time is up. */
  each(act: 'go' | 'renew' | 'drop' | 'expire'): void {
    for (const paused of this.list) paused[act]();
  }
}
