import type { DeadReason } from '../../outbox/store/schema.ts';
import type { AnyPauseReason } from '../../react-query/status/status.ts';

/** What an attempt showed, as a user is told it. */
export type FailureWord =
  | 'network'
  | 'timeout'
  | 'body'
  | 'rate-limited'
  | 'unavailable'
  | 'server-error'
  /** It is asked again after an answer that is else a refusal: a 409 while the first request runs, a 425. */
  | 'not-ready'
  | 'refused'
  /** A later change was sent, which it would undo. */
  | 'superseded'
  /** It was paused for longer than `maxPauseMs`. */
  | 'paused-too-long'
  | 'error';

/** How a time is written: from two minutes on in minutes. */
export interface TimeTexts {
  readonly seconds: (count: number) => string;
  readonly minutes: (count: number) => string;
}

/** All that the components say. Replace it whole or in part: `{ ...english, retryNow: 'Once more' }`. */
export interface UiTexts {
  /** Its language (BCP 47): dates are written in it. */
  readonly lang: string;
  /** Ends a sentence. */
  readonly sentence: (text: string) => string;
  readonly retryNow: string;
  readonly cancel: string;
  /** Names a countdown. */
  readonly nextAttemptIn: string;
  /** `of` is undefined where there is no limit. */
  readonly attempt: (attempt: number, of: number | undefined) => string;
  /** A time as it is read out: "8 seconds". */
  readonly time: TimeTexts;
  /** The same in a countdown: "8s". */
  readonly shortTime: TimeTexts;
  /** What a screen reader hears once, instead of a countdown. */
  readonly tryingAgainIn: (time: string) => string;
  readonly failures: Readonly<Record<FailureWord, string>>;
  readonly pauses: Readonly<Record<AnyPauseReason, string>>;
  /** What is said beside a pause. */
  readonly goesOn: string;
  /** The same, where another tab finds out. */
  readonly otherTabProbes: string;
  readonly cancelled: string;
  readonly query: {
    readonly label: string;
    readonly again: string;
    readonly succeeded: string;
    readonly failed: string;
    /** Instead of `failed`, and while it is paused for a server that is down, where it has data. */
    readonly stale: string;
  };
  readonly mutation: {
    readonly label: string;
    readonly sending: string;
    readonly again: string;
    readonly succeeded: string;
    readonly failed: string;
    readonly unknown: string;
    /** Beside `unknown`, where the last answer speaks only for itself. */
    readonly earlier: string;
  };
  readonly connection: {
    readonly offline: string;
    readonly down: string;
    readonly 'rate-limited': string;
    readonly back: string;
    /** The server works, and a query on screen without data waits for an endpoint that is down, or has failed. */
    readonly missing: string;
    /** The same of queries with data. */
    readonly stale: string;
    /** What `rate-limited`, `missing` or `stale` said is over. */
    readonly restored: string;
    readonly checkNow: string;
    readonly tryNow: string;
    readonly nextCheckIn: string;
    readonly waiting: (count: number) => string;
  };
  readonly outbox: {
    readonly label: string;
    readonly empty: string;
    readonly waiting: (count: number) => string;
    readonly dead: (count: number) => string;
    readonly notKept: string;
    readonly entry: (handler: string, time: string) => string;
    readonly pending: string;
    readonly behind: string;
    readonly otherVersion: string;
    readonly sending: string;
    readonly done: string;
    readonly deadTitle: string;
    readonly reasons: Readonly<Record<DeadReason, string>>;
    readonly mayBeDone: string;
    readonly sendNow: string;
    readonly retry: string;
    readonly retryAll: string;
    readonly edit: string;
    readonly discard: string;
    readonly discardForGood: string;
    readonly keep: string;
    readonly discarded: string;
  };
  readonly form: {
    readonly submit: string;
    readonly another: string;
    readonly succeeded: string;
    /** Beside the button whose text is `submit`. */
    readonly failed: (submit: string) => string;
    readonly unknown: string;
    readonly unknownBefore: string;
    readonly pressAgain: (submit: string) => string;
    readonly expired: string;
    readonly busy: string;
    readonly question: string;
    readonly edited: string;
    readonly twice: string;
    readonly confirm: string;
    readonly back: string;
  };
}
