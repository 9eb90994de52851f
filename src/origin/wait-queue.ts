import type { Priority } from '../policy/options.ts';
import type { PauseReason } from '../policy/outcome.ts';

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
}

/** An attempt that has to wait. */
export interface Ask extends Target {
  /** 0: it only reads. 1: it may be sent twice. 2: neither; never a probe while there is another. */
  readonly risk: 0 | 1 | 2;
  readonly priority: Priority;
  /** Whether a user waits for it in a visible page: read whenever that matters, for it may change. */
  readonly isForeground: () => boolean;
  /** It waits for a place, but not for an origin that is down or rate-limited. */
  readonly isFailFast: boolean;
  /** Its operation: of what was asked for at once, the lower one goes first. */
  readonly id: number;
  /** When the user asked for it last, by the clock of the instance. */
  readonly askedAt: number;
  /** The longest it is paused, in milliseconds from `askedAt`. */
  readonly maxPauseMs: number;
  /** It waits, why, and until when as far as is known; told again when that changes. */
  readonly onPause: (pause: Pause) => void;
}

/** An attempt that waits. */
export interface Waiter<P> {
  readonly ask: Ask;
  readonly group: Group<P>;
  askedAt: number;
  expiresAt: number;
  /** Its wait ends: with a permit to be sent or, once its time is up, without. */
  readonly take: (permit: P | undefined) => void;
}

/** Those who wait for the same: what holds for one of them holds for all. */
export interface Group<P> extends Pick<
  Ask,
  'endpoint' | 'limitScope' | 'mayBeOffline' | 'isFailFast'
> {
  readonly waiters: Set<Waiter<P>>;
  /** No pause in it ends before. */
  expiresAt: number;
  /** What they were told last, but for those who have come since. */
  told: Pause | undefined;
  fresh: Waiter<P>[];
}

/** Those who wait at one origin. Whatever is asked of it often is asked of its groups, which are few. */
export interface WaitQueue<P> {
  readonly groups: () => readonly Group<P>[];
  readonly size: () => number;
  readonly add: (ask: Ask, expiresAt: number, take: (permit: P | undefined) => void) => Waiter<P>;
  /** @returns whether it was still there. */
  readonly remove: (waiter: Waiter<P>) => boolean;
  /** Their time is longer by so much. */
  readonly extend: (ms: number) => void;
  /** Tells those who do not know it yet why they wait. */
  readonly tell: (why: (group: Group<P>) => Pause) => void;
}

const ranks = { 'user-blocking': 0, 'user-visible': 1, background: 3 } as const;

/** Whether a user waits for it. `priority` overrides what the page says. */
export function isForeground({
  ask,
}: {
  readonly ask: Pick<Ask, 'priority' | 'isForeground'>;
}): boolean {
  if (ask.priority === 'user-visible') return ask.isForeground();
  return ask.priority === 'user-blocking';
}

const rankOf = <P>(waiter: Waiter<P>): number =>
  ranks[isForeground(waiter) ? waiter.ask.priority : 'background'];

/** Who goes first: the foreground before the background, and what was asked for first before the rest. */
export function firstOf<P>(
  groups: readonly Group<P>[],
  costOf: (waiter: Waiter<P>) => number = () => 0,
): Waiter<P> | undefined {
  let first: Waiter<P> | undefined;
  let [leastCost, leastRank] = [Infinity, Infinity];
  for (const { waiters } of groups) {
    for (const waiter of waiters) {
      const cost = costOf(waiter);
      if (cost > leastCost) continue;
      const rank = rankOf(waiter);
      if (first && cost === leastCost && !isBefore(waiter, rank, first, leastRank)) continue;
      [first, leastCost, leastRank] = [waiter, cost, rank];
    }
  }
  return first;
}

function isBefore<P>(
  waiter: Waiter<P>,
  rank: number,
  other: Waiter<P>,
  otherRank: number,
): boolean {
  if (rank !== otherRank) return rank < otherRank;
  if (waiter.askedAt !== other.askedAt) return waiter.askedAt < other.askedAt;
  return waiter.ask.id < other.ask.id;
}

export function createWaitQueue<P>(): WaitQueue<P> {
  const groups = new Map<string, Group<P>>();
  let size = 0;

  const groupOf = ({ endpoint, limitScope, mayBeOffline, isFailFast }: Ask): Group<P> => {
    const key = `${endpoint}\n${limitScope}\n${mayBeOffline}\n${isFailFast}`;
    let group = groups.get(key);
    if (!group) {
      for (const [old, { waiters }] of groups) if (waiters.size === 0) groups.delete(old);
      group = {
        endpoint,
        limitScope,
        mayBeOffline,
        isFailFast,
        waiters: new Set(),
        expiresAt: Infinity,
        told: undefined,
        fresh: [],
      };
      groups.set(key, group);
    }
    return group;
  };
  return {
    groups: () => [...groups.values()].filter(({ waiters }) => waiters.size > 0),
    size: () => size,
    add(ask, expiresAt, take) {
      const group = groupOf(ask);
      const waiter = { ask, group, askedAt: ask.askedAt, expiresAt, take };
      group.waiters.add(waiter);
      group.fresh.push(waiter);
      group.expiresAt = Math.min(group.expiresAt, expiresAt);
      size++;
      return waiter;
    },
    remove(waiter) {
      const { waiters } = waiter.group;
      const wasThere = waiters.delete(waiter);
      if (wasThere) size--;
      return wasThere;
    },
    extend(ms) {
      for (const group of groups.values()) {
        group.expiresAt += ms;
        for (const waiter of group.waiters) waiter.expiresAt += ms;
      }
    },
    tell(why) {
      for (const group of groups.values()) {
        const { waiters, told, fresh } = group;
        group.fresh = [];
        if (waiters.size === 0) continue;
        const pause = why(group);
        const isSame =
          told?.reason === pause.reason &&
          told.retryAt === pause.retryAt &&
          told.probedBy === pause.probedBy;
        group.told = pause;
        for (const waiter of isSame ? fresh : [...waiters]) {
          // Something else is told meanwhile.
          if (group.told !== pause) break;
          // Who leaves while others are told is told no more.
          if (waiters.has(waiter)) waiter.ask.onPause(pause);
        }
      }
    },
  };
}
