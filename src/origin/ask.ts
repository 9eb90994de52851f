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

/** What decides whether something may go. */
export type Place = Omit<Target, 'isNew'> & Partial<Pick<Target, 'isNew'>>;

/** An attempt that has to wait. */
export interface Ask extends Target {
  readonly priority: Priority;
  /** Whether a user waits for it in a visible page: read whenever that matters, for it may change. */
  readonly isForeground: () => boolean;
  /** It refreshes what is shown. While this says that a page is seen, it is probed for as in the foreground, and goes after that. */
  readonly isRefreshSeen?: (() => boolean) | undefined;
  /** When it would be retried without a pause: it is probed for no later than that, in epoch milliseconds. */
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
  free(): void;
  /** Its outcome; undefined where it has shown nothing. `isUnused`: because nothing was sent with it. */
  settle(outcome?: Outcome, error?: unknown, isUnused?: boolean): void;
}

/** An attempt that waits. */
export interface Waiter {
  readonly ask: Ask;
  readonly who: WhoWaits;
  /** Of its group. */
  readonly key: string;
  askedAt: number;
  expiresAt: number;
}

/** Is told what becomes of a wait. */
export interface WhoWaits {
  /** Why it waits, and again when that changes. */
  tell(pause: Pause): void;
  /** The wait ends: with a permit to be sent or, once its time is up, without. */
  take(permit?: Permit): void;
}
