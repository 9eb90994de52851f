import type { Priority } from '../policy/options.ts';
import type { Outcome, PauseReason } from '../policy/outcome.ts';

/** Why an attempt waits. */
export interface Pause {
  readonly reason: PauseReason;
  /** When something is sent next, in epoch milliseconds; undefined when not known. */
  readonly retryAt: number | undefined;
  /** Another tab probes, and reports the result to this one; undefined if this tab probes, or none does. */
  readonly probedBy?: 'another-tab' | undefined;
}

/** The facts that the gates check: of an attempt, or of one that would be sent now. */
export interface Place {
  /** The unit of outages and probes: method and folded path. */
  readonly endpoint: string;
  /** Method and URL, one of the many of an endpoint, which holds back only those that have failed. */
  readonly resource?: string;
  /** The scope of a Retry-After or RateLimit in its answer. */
  readonly limitScope: string;
  /** Whether it is the first attempt of its operation; undefined if that is not known. */
  readonly isNew?: boolean;
  /** Whether it can succeed without a network: from a cache, or on this device. */
  readonly mayBeOffline?: boolean | undefined;
  /** Whether its operation makes one attempt only, because the app says so: it passes an outage, or fails at once. */
  readonly isOnce?: boolean | undefined;
  /** 0: it only reads. 1: it may be sent twice. 2: neither, so it probes only if no other attempt can. */
  readonly risk: 0 | 1 | 2;
  /** Whether its URL has failed, as it was read before. */
  readonly hasFailed?: boolean;
  /** Whether the limit of its scope was not told to its URL, as it was read before. */
  readonly isOther?: boolean;
}

/** Where an attempt goes. */
export interface Target extends Place {
  readonly resource: string;
  readonly isNew: boolean;
}

/** A request for a permit, by an attempt that has to wait. */
export interface Ask extends Target {
  readonly priority: Priority;
  /** Whether a user waits for it in a visible page. The answer may change, so it is read anew each time. */
  readonly isForeground: () => boolean;
  /** Set for a refresh of shown data: whether its page is visible. If so, probes are as frequent as in the foreground. */
  readonly isRefreshSeen?: (() => boolean) | undefined;
  /** When retries would be sent without this pause, in epoch milliseconds: a probe is sent no later. */
  readonly retriesAt?: readonly number[] | undefined;
  /** A user has just requested it, so an endpoint that is down is probed at once. */
  readonly isWish?: boolean | undefined;
  /** True if the request waits for a slot, but fails at once if the origin is down or rate-limited. */
  readonly isFailFast: boolean;
  /** No page could freeze by refusals without a pause. */
  readonly isOnServer?: boolean;
  /** The id of its operation. Of simultaneous requests, the lowest id goes first. */
  readonly id: number;
  /** When the user last requested it, by the clock of the instance. */
  readonly askedAt: number;
  /** The longest pause, in milliseconds from `askedAt`. */
  readonly maxPauseMs: number;
}

/** The permission to send one attempt. Its holder must call `end` once. */
export interface Permit {
  /** Whether it is the probe of something that is down. */
  readonly isProbe: boolean;
  /** Whether it shows the state of the origin for all that wait: its failure uses up no retry. */
  readonly isTrial: boolean;
  /** Frees its slot, once the headers arrive or the attempt fails. The outcome may come later. */
  free(): void;
  /** Ends it with its outcome; undefined if that shows nothing. `isUnused`: because nothing was sent. */
  end(outcome?: Outcome, error?: unknown, isUnused?: boolean): void;
}

/** An attempt that waits. */
export interface Waiter {
  readonly request: Ask;
  readonly listener: WaitListener;
  /** The key of its group. */
  readonly key: string;
  /** Whether its URL had failed at its start. */
  readonly hasFailed: boolean;
  /** Whether the limit of its scope was not told to its URL then. */
  readonly isOther: boolean;
  askedAt: number;
  expiresAt: number;
  /** The wait ends no earlier, even if it is known that the request cannot be sent. */
  readonly endsFrom: number;
}

/** Receives the progress of a wait. */
export interface WaitListener {
  /** Called with the reason of the wait, and again when it changes. */
  onPause(pause: Pause): void;
  /** Ends the wait: with a permit, or without one when `maxPauseMs` is over. */
  take(permit?: Permit): void;
}
