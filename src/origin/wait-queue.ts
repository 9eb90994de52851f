import { keepIfSame } from '../lib/store.ts';
import type { Ask, Pause, Waiter, WhoWaits } from './ask.ts';

/** So many are told why they wait in one task, so that thousands do not block the page. */
const mostTold = 500;

/** Whether a user waits is read again after so long, where no event said that it may have changed. */
const rereadMs = 1000;

/** The facts that all attempts of a group share, so that one check decides for all of them. */
export type Shared = Pick<
  Ask,
  'endpoint' | 'limitScope' | 'mayBeOffline' | 'risk' | 'isFailFast' | 'priority'
>;

/** The scope that is not one endpoint but all of the origin. */
export const everything = '';

/** Whether an endpoint is in the scope. */
export const isWithin = (scope: string, { shared }: Group): boolean =>
  scope === everything || scope === shared.endpoint;

/** Those of them who wait for an endpoint, or for everything. */
export const groupsOf = (scope: string, groups: readonly Group[]): readonly Group[] =>
  scope === everything ? groups : groups.filter((group) => isWithin(scope, group));

/** Whether a user waits for it. `priority` overrides what the page says. */
const isForeground = ({ ask }: Waiter): boolean =>
  ask.priority === 'user-visible' ? ask.isForeground() : ask.priority === 'user-blocking';

/** By request time, then by operation id. */
const isBehind = (one: Waiter, other: Waiter): boolean =>
  one.askedAt === other.askedAt ? one.ask.id > other.ask.id : one.askedAt > other.askedAt;

/** Those who wait for the same. To come, to go and to be first costs the logarithm of their number at most. */
export class Group {
  readonly shared: Shared;
  /** By request time. */
  readonly waiters: Waiter[] = [];
  /** No pause in it ends before. */
  expiresAt: number = Infinity;
  /** Those that refresh what a page shows. */
  readonly #refreshing: Set<Waiter> = new Set();
  /** So many of the first are known to be in the background. */
  #background = 0;
  #pause: Pause | undefined;
  /** Those who do not know yet why they wait. */
  #untold: Set<Waiter> = new Set();

  constructor(shared: Shared) {
    this.shared = shared;
  }

  /**
   * The one that goes first, and its place in the order of all: each number decides where those before it are
   * equal. `probeFailures`: how often its endpoint has failed, where it would go as a probe.
   */
  first(probeFailures?: number): readonly [waiter: Waiter, order: readonly number[]] | undefined {
    const { risk, priority } = this.shared;
    const seen = this.#firstInForeground();
    const waiter = seen ?? this.waiters[0];
    if (!waiter) return undefined;
    const isProbe = probeFailures !== undefined;
    const order = [
      // What is down is tried before anything else goes.
      isProbe ? 0 : 1,
      // With the least risk, then the endpoint that has failed least often: a broken one must not keep its origin down.
      isProbe ? risk : 0,
      probeFailures ?? 0,
      // A user who waits comes before the background.
      seen ? (priority === 'user-visible' ? 1 : 0) : 2,
      // First asked, first sent.
      waiter.askedAt,
      waiter.ask.id,
    ];
    return [waiter, order];
  }

  /** Those that are probed for as in the foreground: a user waits for the first, and sees what the others refresh. */
  seen(): readonly Waiter[] {
    const first = this.#firstInForeground();
    const refreshing = [...this.#refreshing].filter(({ ask }) => ask.isRefreshSeen?.());
    return first ? [first, ...refreshing] : refreshing;
  }

  /** Whether a user waits for them may have changed. */
  rereadForeground(): void {
    this.#background = 0;
  }

  insert(waiter: Waiter): void {
    const at = this.#indexAfter(waiter);
    this.waiters.splice(at, 0, waiter);
    this.#background = Math.min(this.#background, at);
    this.expiresAt = Math.min(this.expiresAt, waiter.expiresAt);
    this.#untold.add(waiter);
    if (waiter.ask.isRefreshSeen && this.shared.priority === 'user-visible')
      this.#refreshing.add(waiter);
  }

  /** @returns whether it was still there. */
  remove(waiter: Waiter): boolean {
    const at = this.waiters.lastIndexOf(waiter, this.#indexAfter(waiter));
    if (at < 0) return false;
    this.waiters.splice(at, 1);
    if (at < this.#background) this.#background--;
    this.#untold.delete(waiter);
    this.#refreshing.delete(waiter);
    return true;
  }

  /** Their time is longer by so much. */
  extend(ms: number): void {
    this.expiresAt += ms;
    for (const waiter of this.waiters) waiter.expiresAt += ms;
  }

  /** Some have left: when the first of the others ends. */
  updateExpiry(): void {
    this.expiresAt = Infinity;
    for (const { expiresAt } of this.waiters) this.expiresAt = Math.min(this.expiresAt, expiresAt);
  }

  /** Those who do not know it yet are told why they wait, so many at most. @returns how many. */
  announce(why: Pause, most: number): number {
    const pause = keepIfSame(this.#pause, why);
    if (pause !== this.#pause) this.#untold = new Set(this.waiters);
    this.#pause = pause;
    let count = 0;
    for (const waiter of this.#untold) {
      // Something else is told meanwhile.
      if (count === most || this.#pause !== pause) break;
      this.#untold.delete(waiter);
      count++;
      waiter.who.tell(pause);
    }
    return count;
  }

  /** The first that a user waits for. */
  #firstInForeground(): Waiter | undefined {
    let waiter = this.waiters[this.#background];
    while (waiter && !isForeground(waiter)) waiter = this.waiters[++this.#background];
    return waiter;
  }

  /** Where it belongs: behind its equals. As a rule, that is the end. */
  #indexAfter(waiter: Waiter): number {
    const waiters = this.waiters;
    const isAfter = (at: number): boolean => isBehind(waiters[at] as Waiter, waiter);
    let [least, most] = [0, waiters.length];
    if (most > 0 && !isAfter(most - 1)) return most;
    while (least < most) {
      const middle = (least + most) >> 1;
      if (isAfter(middle)) most = middle;
      else least = middle + 1;
    }
    return least;
  }
}

/** Who goes first. `probeFailuresOf`: those of the endpoint of a group whose first would go as a probe. */
export function firstOf(
  groups: readonly Group[],
  probeFailuresOf: (group: Group) => number | undefined,
): Waiter | undefined {
  let best: ReturnType<Group['first']>;
  for (const group of groups) {
    const first = group.first(probeFailuresOf(group));
    if (first && (!best || isLess(first[1], best[1]))) best = first;
  }
  return best?.[0];
}

function isLess(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((value, index) => value !== other[index]);
  return (one[at] ?? 0) < (other[at] ?? 0);
}

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
