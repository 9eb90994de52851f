import { keepIfSame } from '../lib/store.ts';
import type { Priority } from '../policy/options.ts';
import type { Outcome, PauseReason } from '../policy/outcome.ts';

/** Why an attempt waits. */
export interface Pause {
  readonly reason: PauseReason;
  /** When something is sent, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  /** Another tab probes what is down, and tells this one; undefined where this tab does, or nobody. */
  readonly probedBy?: 'another-tab' | undefined;
}

/** Where an attempt wants to go. */
export interface Target {
  /** The unit of health: method and folded path. */
  readonly endpoint: string;
  /** What a Retry-After or RateLimit of its answer speaks for. */
  readonly limitScope: string;
  /** Its first attempt. */
  readonly isNew: boolean;
  /** It need not leave the device. */
  readonly mayBeOffline?: boolean | undefined;
  /** 0: it only reads. 1: it may be sent twice. 2: neither; never a probe while there is another. */
  readonly risk: 0 | 1 | 2;
}

/** An attempt that has to wait. */
export interface Ask extends Target {
  readonly priority: Priority;
  /** Whether a user waits for it in a visible page: read whenever that matters, for it may change. */
  readonly isForeground: () => boolean;
  /** It refreshes what is shown: while this says that a page is seen, it is probed for as in the foreground, and goes after that. */
  readonly isRefreshSeen?: (() => boolean) | undefined;
  /** When it would be retried without a pause: so late it is probed for at the latest, in epoch milliseconds. */
  readonly retriesAt?: readonly number[] | undefined;
  /** A user has just asked for it: what is down is probed at once. */
  readonly isWish?: boolean | undefined;
  /** It waits for a place, but not for an origin that is down or rate-limited. */
  readonly isFailFast: boolean;
  /** Its operation: of what was asked for at once, the lower one goes first. */
  readonly id: number;
  /** When the user asked for it last, by the clock of the instance. */
  readonly askedAt: number;
  /** The longest it is paused, in milliseconds from `askedAt`. */
  readonly maxPauseMs: number;
}

/** Leave to send one attempt, and the duty to say what became of it. */
export interface Permit {
  /** It is the one with which something that is down is tried. */
  readonly isProbe: boolean;
  /** It shows, for all who wait, how the origin is: a failure of it spends no retry. */
  readonly isTrial: boolean;
  /** Its headers are in, or it has failed: its place is free. Its outcome may be known later. */
  readonly free: () => void;
  /** Its outcome; undefined where it has shown nothing. `isUnused`: because nothing was sent with it. */
  readonly settle: (outcome?: Outcome, error?: unknown, isUnused?: boolean) => void;
}

/** An attempt that waits. */
export interface Waiter {
  readonly ask: Ask;
  readonly who: WhoWaits;
  readonly key: string;
  readonly group: Group;
  askedAt: number;
  expiresAt: number;
  /** What it was told last. */
  told?: Pause;
}

/** Is told what becomes of a wait. */
export interface WhoWaits {
  /** Why it waits, and again when that changes. */
  tell(pause: Pause): void;
  /** The wait ends: with a permit to be sent or, once its time is up, without. */
  take(permit?: Permit): void;
}

/** The facts that all attempts of a group share, so that one check decides for all of them. */
type Shared = Omit<Target, 'isNew'> & Pick<Ask, 'isFailFast' | 'priority'>;

/** The scope that is not one endpoint but all of the origin. */
export const everything = '';

/** Whether an endpoint is in the scope. */
export const isWithin = (scope: string, { endpoint }: Pick<Target, 'endpoint'>): boolean =>
  scope === everything || scope === endpoint;

/** Those of them who wait for an endpoint, or for everything. */
export const groupsOf = (scope: string, groups: readonly Group[]): readonly Group[] =>
  scope === everything ? groups : groups.filter((group) => isWithin(scope, group));

/** Whether a user waits for it. `priority` overrides what the page says. */
const isForeground = ({ ask }: Waiter): boolean =>
  ask.priority === 'user-visible' ? ask.isForeground() : ask.priority === 'user-blocking';

/** So many are told why they wait in one task, so that thousands do not block the page. */
const mostTold = 500;

/** Whether a user waits is read again after so long, where no event said that it may have changed. */
const rereadMs = 1000;

/** By request time, then by operation id. */
const compare = (one: Waiter, other: Waiter): number =>
  one.askedAt - other.askedAt || one.ask.id - other.ask.id;

/** Those who wait for the same. To come, to go and to be first costs the logarithm of their number at most. */
export class Group implements Shared {
  readonly endpoint: string;
  readonly limitScope: string;
  readonly mayBeOffline: boolean | undefined;
  readonly isFailFast: boolean;
  readonly priority: Priority;
  readonly risk: Ask['risk'];
  /** By request time. */
  readonly waiters: Waiter[] = [];
  /** Those that refresh what a page shows. */
  readonly #refreshing: Set<Waiter> = new Set();
  /** So many of the first are known to be in the background. */
  #background = 0;
  /** No pause in it ends before. */
  expiresAt: number = Infinity;
  #pause: Pause | undefined;
  /** Those who do not know yet why they wait. */
  #untold: Set<Waiter> = new Set();

  constructor({ endpoint, limitScope, mayBeOffline, isFailFast, priority, risk }: Ask) {
    this.endpoint = endpoint;
    this.limitScope = limitScope;
    this.mayBeOffline = mayBeOffline;
    this.isFailFast = isFailFast;
    this.priority = priority;
    this.risk = risk;
  }

  /** The first that a user waits for. */
  firstInForeground(): Waiter | undefined {
    const waiters = this.waiters;
    let waiter = waiters[this.#background];
    while (waiter && !isForeground(waiter)) waiter = waiters[++this.#background];
    return waiter;
  }

  /** Those that are probed for as in the foreground: a user waits for the first, and sees what the others refresh. */
  seen(): readonly Waiter[] {
    const first = this.firstInForeground();
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
    if (waiter.ask.isRefreshSeen && this.priority === 'user-visible') this.#refreshing.add(waiter);
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
      if (waiter.told === pause) continue;
      count++;
      waiter.told = pause;
      waiter.who.tell(pause);
    }
    return count;
  }

  /** Where it belongs: behind its equals. As a rule, that is the end. */
  #indexAfter(waiter: Waiter): number {
    const waiters = this.waiters;
    const isAfter = (at: number): boolean => compare(waiters[at] as Waiter, waiter) > 0;
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

/** Who goes first: the foreground before the background, and what was asked for first before the rest. */
export function firstOf(
  groups: readonly Group[],
  costOf: (group: Group) => number = () => 0,
): Waiter | undefined {
  let first: Waiter | undefined;
  let least = Infinity;
  for (const group of groups) {
    const seen = group.firstInForeground();
    const waiter = seen ?? group.waiters[0];
    const rank = !seen ? 2 : group.priority === 'user-visible' ? 1 : 0;
    const cost = costOf(group) * 3 + rank;
    if (!waiter || (first && (cost - least || compare(waiter, first)) >= 0)) continue;
    first = waiter;
    least = cost;
  }
  return first;
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
    const groups = this.groups().filter((group) => group.limitScope === limitScope);
    return groups.reduce((sum, { waiters }) => sum + waiters.length, 0);
  }

  add(ask: Ask, expiresAt: number, who: WhoWaits): Waiter {
    const { endpoint, limitScope, mayBeOffline, isFailFast, priority, risk, askedAt } = ask;
    const key = [endpoint, limitScope, mayBeOffline, isFailFast, priority, risk].join('\n');
    const group = this.#byKey.get(key) ?? new Group(ask);
    const waiter = { ask, who, key, group, askedAt, expiresAt };
    this.#insert(waiter);
    return waiter;
  }

  /** @returns whether it was still there. */
  remove(waiter: Waiter): boolean {
    const { key, group } = waiter;
    if (!group.remove(waiter)) return false;
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
    const { group, key } = waiter;
    if (group.waiters.length === 0) {
      this.#byKey.set(key, group);
      this.#groups = undefined;
    }
    group.insert(waiter);
    this.#size++;
  }
}
