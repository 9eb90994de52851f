import type { Priority } from '../policy/options.ts';
import type { PauseReason } from '../policy/outcome.ts';

/** Why an attempt waits. */
export interface Pause {
  readonly reason: PauseReason;
  /** When something is sent, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
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
  /** It was the probe when its time ended, and may be sent once more. */
  readonly hasLastChance?: boolean | undefined;
  /** It waits, why, and until when as far as is known; told again when that changes. */
  readonly onPause: (pause: Pause) => void;
}

/** An attempt that waits. */
export interface Waiter<P> {
  readonly ask: Ask;
  askedAt: number;
  expiresAt: number;
  /** What whoever waits was told last. */
  told?: Pause | undefined;
  /** Its wait ends: with a permit to be sent or, once its time is up, without. */
  readonly take: (permit: P | undefined) => void;
}

/** Those who wait at one origin. */
export interface WaitQueue<P> {
  readonly all: () => readonly Waiter<P>[];
  readonly size: () => number;
  readonly add: (ask: Ask, expiresAt: number, take: (permit: P | undefined) => void) => Waiter<P>;
  /** @returns whether it was still there. */
  readonly remove: (waiter: Waiter<P>) => boolean;
  /** Their time is longer by so much. */
  readonly extend: (ms: number) => void;
  /** Tells those who do not know it yet why they wait. */
  readonly tell: (why: (ask: Ask) => Pause) => void;
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

/** What the order of those who wait goes by. */
type Queued = Pick<Waiter<never>, 'ask' | 'askedAt'>;

const rankOf = (waiter: Queued): number =>
  ranks[isForeground(waiter) ? waiter.ask.priority : 'background'];

/** Who goes first: the foreground before the background, and what was asked for first before the rest. */
export function firstOf<W extends Queued>(
  waiters: readonly W[],
  cost: (waiter: W) => number = () => 0,
): W | undefined {
  let first: { readonly waiter: W; readonly keys: readonly number[] } | undefined;
  for (const waiter of waiters) {
    const keys = [cost(waiter), rankOf(waiter), waiter.askedAt, waiter.ask.id];
    if (!first || isBefore(keys, first.keys)) first = { waiter, keys };
  }
  return first?.waiter;
}

function isBefore(keys: readonly number[], others: readonly number[]): boolean {
  const index = keys.findIndex((key, at) => key !== others[at]);
  return index >= 0 && Number(keys[index]) < Number(others[index]);
}

export function createWaitQueue<P>(): WaitQueue<P> {
  const waiters = new Set<Waiter<P>>();
  return {
    all: () => [...waiters],
    size: () => waiters.size,
    add(ask, expiresAt, take) {
      const waiter = { ask, askedAt: ask.askedAt, expiresAt, take };
      waiters.add(waiter);
      return waiter;
    },
    remove: (waiter) => waiters.delete(waiter),
    extend(ms) {
      for (const waiter of waiters) waiter.expiresAt += ms;
    },
    tell(why) {
      const known = new Map<string, Pause>();
      // Who leaves while others are told is told no more.
      for (const waiter of waiters) {
        const { ask, told } = waiter;
        const place = `${ask.endpoint}\n${ask.limitScope}`;
        const pause = known.get(place) ?? why(ask);
        known.set(place, pause);
        if (told?.reason === pause.reason && told.retryAt === pause.retryAt) continue;
        waiter.told = pause;
        ask.onPause(pause);
      }
    },
  };
}
