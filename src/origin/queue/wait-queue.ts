import type { Ask, Pause, Waiter, WhoWaits } from './ask.ts';
import { Group } from './group.ts';

/** So many are told why they wait in one task, so that thousands do not block the page. */
const mostTold = 500;

/** Whether a user waits is read again after so long, where no event said that it may have changed. */
const rereadMs = 1000;

/** Those who wait at one origin. */
export class WaitQueue {
  readonly #byKey: Map<string, Group> = new Map();
  /** Those groups in which something waits; undefined after one has come or gone. */
  #groups: readonly Group[] | undefined = [];
  #size = 0;
  #readAt = -Infinity;

  groups(): readonly Group[] {
    return (this.#groups ??= [...this.#byKey.values()]);
  }

  size(): number {
    return this.#size;
  }

  /** How many wait in the groups of this limit. */
  sizeOf(limitScope: string): number {
    const groups = this.groups().filter(({ shared }) => shared.limitScope === limitScope);
    return groups.reduce((sum, { waiters }) => sum + waiters.length, 0);
  }

  add(ask: Ask, expiresAt: number, who: WhoWaits): Waiter {
    const { endpoint, limitScope, mayBeOffline, isFailFast, priority, risk, askedAt } = ask;
    const key = [endpoint, limitScope, mayBeOffline, isFailFast, priority, risk].join('\n');
    const waiter = { ask, who, key, askedAt, expiresAt };
    this.#insert(waiter);
    return waiter;
  }

  /** @returns whether it was still there. */
  remove(waiter: Waiter): boolean {
    const { key } = waiter;
    const group = this.#byKey.get(key);
    if (!group?.remove(waiter)) return false;
    this.#size--;
    if (group.waiters.length === 0) {
      this.#byKey.delete(key);
      this.#groups = undefined;
    }
    return true;
  }

  /** It is asked for again. */
  renew(waiter: Waiter, askedAt: number): void {
    if (!this.remove(waiter)) return;
    waiter.askedAt = askedAt;
    waiter.expiresAt = askedAt + waiter.ask.maxPauseMs;
    this.#insert(waiter);
  }

  /** Their time is longer by so much. */
  extend(ms: number): void {
    for (const group of this.groups()) group.extend(ms);
  }

  /** Whether users wait may have changed: it is read anew; without `isChanged`, where that was not done lately. */
  rereadForeground(now: number, isChanged: boolean): void {
    if (!isChanged && now - this.#readAt < rereadMs) return;
    this.#readAt = now;
    for (const group of this.groups()) group.rereadForeground();
  }

  /** Those who do not know it yet are told why they wait. @returns whether some are left, for another task. */
  announce(why: (group: Group) => Pause): boolean {
    let left = mostTold;
    for (const group of this.groups()) left -= group.announce(why(group), left);
    return left === 0;
  }

  #insert(waiter: Waiter): void {
    const { key, ask } = waiter;
    let group = this.#byKey.get(key);
    if (!group) {
      group = new Group(ask);
      this.#byKey.set(key, group);
      this.#groups = undefined;
    }
    group.insert(waiter);
    this.#size++;
  }
}
