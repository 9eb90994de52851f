import type { PausedAttempt } from '../environment.ts';

/** The empty list, shared: most operations never have a pause or a retry. */
export const none: readonly never[] = [];

/** The pauses of an operation: its waiting requests, and the time that does not count against it. */
export class Pauses {
  /** The requests that wait for admission. */
  list: readonly PausedAttempt[] = none;
  /** How long the operation was paused, or the device asleep, in milliseconds. */
  pausedMs = 0;
  #since = 0;
  /** The time up to which `pausedMs` is counted. */
  #countedTo = -Infinity;

  /** @returns whether it is new. A request that waits on for another reason is not. */
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

  /** Counts the time since then as paused. Overlapping pauses count once. */
  count(since: number, nowMs: number): void {
    this.pausedMs += Math.max(0, nowMs - Math.max(since, this.#countedTo));
    this.#countedTo = nowMs;
  }

  /** Shows the pauses of another operation that does all the work of this one. */
  mirror(list: readonly PausedAttempt[]): void {
    this.list = list;
  }

  /**
   * Applies one action to every pause. `go`: a user pressed Try now. `renew`: another component waits.
   * `drop`: the attempt is over, and must send nothing more. `expire`: the time limit of the pause is over.
   */
  each(act: 'go' | 'renew' | 'drop' | 'expire'): void {
    for (const paused of this.list) paused[act]();
  }
}
