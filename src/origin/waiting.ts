import type { Priority } from '../policy/options.ts';
import type { HoldReason } from '../policy/outcome.ts';

/** Why an attempt waits. */
export interface Held {
  readonly reason: HoldReason;
  /** In epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
}

/** An attempt that wants to be sent. */
export interface Ask {
  /** What a canary stands for: one broken endpoint must not keep its origin down. */
  readonly endpoint: string;
  /** 0: it only reads. 1: it may be sent twice. 2: neither; never a canary while there is another. */
  readonly risk: 0 | 1 | 2;
  /** Its first attempt: something new, which draws the next canary nearer. */
  readonly isNew: boolean;
  readonly priority: Priority;
  /** It goes on together with many others, which are not as good as new. */
  readonly isResumed?: boolean | undefined;
  /** It need not leave the device. */
  readonly mayBeOffline?: boolean | undefined;
  /** It waits for a place, but not for an origin that is down or rate-limited. */
  readonly isFailFast: boolean;
  /** The longest it waits, in milliseconds. */
  readonly holdMs: number;
  /** It waits, why, and until when as far as is known; told again when that changes. */
  readonly onHold: (held: Held) => void;
}

/** How a wait ends: it goes, as the canary or not; or its time is up. */
export type Turn = 'go' | 'canary' | 'expired';

/** An attempt that waits. */
export interface Waiter {
  readonly ask: Ask;
  /** When it was asked for last, in epoch milliseconds: older ones may have nobody left to see them. */
  askedAt: number;
  expiresAt: number;
  /** What whoever waits was told last. */
  told?: Held | undefined;
  /** It has gone, or has left. */
  isGone?: boolean;
  readonly take: (turn: Turn) => void;
}

/** Who goes first: those of the Prioritized Task Scheduling API. */
const ranks = { 'user-blocking': 0, 'user-visible': 1, background: 2 } as const;

/** What was asked for within this time is new, and goes before what is old. */
const newMs = 10_000;

/**
 * Who goes first: what a person waits for, before what they see, before what works in the
 * background; what was just asked for,
 * newest first; then the oldest. Oldest first alone would make new asks queue behind expiring ones.
 */
export function nextOf(waiters: readonly Waiter[], now: number): Waiter | undefined {
  const isNew = (waiter: Waiter): boolean => now - waiter.askedAt < newMs;
  const isBefore = (a: Waiter, b: Waiter): boolean => {
    const [rank, other] = [ranks[a.ask.priority], ranks[b.ask.priority]];
    if (rank !== other) return rank < other;
    if (isNew(a) !== isNew(b)) return isNew(a);
    return isNew(a) ? a.askedAt >= b.askedAt : a.askedAt < b.askedAt;
  };
  let first = waiters[0];
  for (const waiter of waiters) if (first && isBefore(waiter, first)) first = waiter;
  return first;
}

/** The canary: the least risk, then the endpoint that has failed least often in this outage. */
export function canaryOf(
  waiters: readonly Waiter[],
  failedProbes: ReadonlyMap<string, number>,
  now: number,
): Waiter | undefined {
  const cost = ({ ask }: Waiter): number => ask.risk * 1e6 + (failedProbes.get(ask.endpoint) ?? 0);
  const costs = waiters.map(cost);
  const least = Math.min(...costs);
  return nextOf(
    waiters.filter((_, index) => costs[index] === least),
    now,
  );
}
