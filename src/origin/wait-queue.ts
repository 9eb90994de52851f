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

/** A user sees what it refreshes, and may not wait for it. */
export interface Refresh {
  /** The page is visible. */
  readonly isSeen: () => boolean;
  /** When it would be retried without a pause: so late it is probed for at the latest, in epoch milliseconds. */
  readonly retriesAt: readonly number[];
}

/** An attempt that has to wait. */
export interface Ask extends Target {
  readonly priority: Priority;
  /** Whether a user waits for it in a visible page: read whenever that matters, for it may change. */
  readonly isForeground: () => boolean;
  /** It refreshes what is shown: it is probed for as in the foreground, and goes after that. */
  readonly refresh?: Refresh | undefined;
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

/** Those who wait for the same: what holds for one of them holds for all. */
export interface Group extends Omit<Target, 'isNew'>, Pick<Ask, 'isFailFast' | 'priority'> {
  /** What was asked for first comes first. */
  readonly waiters: Waiter[];
  /** No pause in it ends before. */
  expiresAt: number;
  /** Why they wait. */
  pause?: Pause;
}

/** The scope that is not one endpoint but all of the origin. */
export const everything = '';

/** Those of them who wait for an endpoint, or for everything. */
export const groupsOf = (scope: string, groups: readonly Group[]): readonly Group[] =>
  scope === everything ? groups : groups.filter(({ endpoint }) => endpoint === scope);

/** Whether a user waits for it. `priority` overrides what the page says. */
export const isForeground = ({ ask }: Waiter): boolean =>
  ask.priority === 'user-visible' ? ask.isForeground() : ask.priority === 'user-blocking';

/** Whether it is probed for as in the foreground: a user waits for it, or sees what it refreshes. */
export const isSeen = (waiter: Waiter): boolean =>
  isForeground(waiter) ||
  (waiter.ask.priority === 'user-visible' && !!waiter.ask.refresh?.isSeen());

/** So many are told why they wait in one task, so that thousands do not block the page. */
const mostTold = 500;

/** By when it was asked for; of what was asked for at once, by its operation. */
const compare = (one: Waiter, other: Waiter): number =>
  one.askedAt - other.askedAt || one.ask.id - other.ask.id;

/** Who goes first: the foreground before the background, and what was asked for first before the rest. */
export function firstOf(
  groups: readonly Group[],
  costOf: (group: Group) => number = () => 0,
): Waiter | undefined {
  let first: Waiter | undefined;
  let least = Infinity;
  for (const group of groups) {
    const { priority, waiters } = group;
    const seen = waiters.find(isForeground);
    const waiter = seen ?? waiters[0];
    const rank = !seen ? 2 : priority === 'user-visible' ? 1 : 0;
    const cost = costOf(group) * 3 + rank;
    if (!waiter || (first && (cost - least || compare(waiter, first)) >= 0)) continue;
    first = waiter;
    least = cost;
  }
  return first;
}

/** Those who wait at one origin. Whatever is asked of it often is asked of its groups, which are few. */
export class WaitQueue {
  readonly #groups: Map<string, Group> = new Map();
  #size = 0;

  groups(): readonly Group[] {
    return [...this.#groups.values()].filter(({ waiters }) => waiters.length > 0);
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
    const { askedAt } = ask;
    const group = this.#groupOf(ask);
    return this.#insert({ ask, who, group, askedAt, expiresAt });
  }

  /** @returns whether it was still there. */
  remove(waiter: Waiter): boolean {
    const { waiters } = waiter.group;
    const at = waiters.indexOf(waiter);
    if (at < 0) return false;
    waiters.splice(at, 1);
    this.#size--;
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
    for (const group of this.#groups.values()) {
      group.expiresAt += ms;
      for (const waiter of group.waiters) waiter.expiresAt += ms;
    }
  }

  /** Those who do not know it yet are told why they wait. @returns whether some are left, for another task. */
  announce(why: (group: Group) => Pause): boolean {
    let left = mostTold;
    for (const group of this.groups()) {
      const pause = (group.pause = keepIfSame(group.pause, why(group)));
      for (const waiter of group.waiters.slice()) {
        // Something else is told meanwhile.
        if (group.pause !== pause) break;
        if (waiter.told === pause) continue;
        if (left-- === 0) return true;
        waiter.told = pause;
        waiter.who.tell(pause);
      }
    }
    return false;
  }

  #insert(waiter: Waiter): Waiter {
    const { group, expiresAt } = waiter;
    const { waiters } = group;
    // As a rule it is the last.
    let at = waiters.length;
    while (at > 0 && compare(waiters[at - 1] as Waiter, waiter) > 0) at--;
    waiters.splice(at, 0, waiter);
    group.expiresAt = Math.min(group.expiresAt, expiresAt);
    this.#size++;
    return waiter;
  }

  #groupOf({ endpoint, limitScope, mayBeOffline, isFailFast, priority, risk }: Ask): Group {
    const key = [endpoint, limitScope, mayBeOffline, isFailFast, priority, risk].join('\n');
    const known = this.#groups.get(key);
    if (known) return known;
    for (const [old, { waiters }] of this.#groups)
      if (waiters.length === 0) this.#groups.delete(old);
    const place = { endpoint, limitScope, mayBeOffline, isFailFast, priority, risk };
    const group: Group = { ...place, waiters: [], expiresAt: Infinity };
    this.#groups.set(key, group);
    return group;
  }
}
