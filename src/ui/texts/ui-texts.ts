import type { DeadReason } from '../../outbox/store/row.ts';
import type { AnyPauseReason } from '../../core/internal.ts';

/** The word for a failure, for users. */
export type FailureWord =
  | 'network'
  | 'timeout'
  | 'body'
  | 'rate-limited'
  | 'unavailable'
  | 'server-error'
  /**
   * The request is repeated after an answer that usually means a refusal: a 409 while the first request runs,
   * or a 425.
   */
  | 'not-ready'
  | 'refused'
  /** A later change was sent, which it would undo. */
  | 'superseded'
  /** It was paused for longer than `maxPauseMs`. */
  | 'paused-too-long'
  | 'error';

/** The format of a duration: minutes are used from two minutes on. */
export interface TimeTexts {
  readonly seconds: (count: number) => string;
  readonly minutes: (count: number) => string;
}

/** Every text of the components. Replace all or some: `{ ...english, retryNow: 'Once more' }`. */
export interface UiTexts {
  /** The language of the texts (BCP 47), also used for dates. */
  readonly lang: string;
  /** Ends a sentence. */
  readonly sentence: (text: string) => string;
  readonly retryNow: string;
  readonly cancel: string;
  /** The label of a countdown. */
  readonly nextAttemptIn: string;
  /** `of` is undefined without a limit. */
  readonly attempt: (attempt: number, of: number | undefined) => string;
  /** A duration to be read aloud: "8 seconds". */
  readonly time: TimeTexts;
  /** A duration in a countdown: "8s". */
  readonly shortTime: TimeTexts;
  /** Announced once to screen readers, instead of a countdown. */
  readonly tryingAgainIn: (time: string) => string;
  readonly failures: Readonly<Record<FailureWord, string>>;
  readonly pauses: Readonly<Record<AnyPauseReason, string>>;
  /** Shown beside a pause. */
  readonly goesOn: string;
  /** Shown beside a pause while another tab probes. */
  readonly otherTabProbes: string;
  readonly cancelled: string;
  readonly query: {
    readonly label: string;
    readonly again: string;
    readonly succeeded: string;
    readonly failed: string;
    /** Replaces `failed`, and the text of a pause for a server that is down, if the query has data. */
    readonly stale: string;
  };
  readonly mutation: {
    readonly label: string;
    readonly sending: string;
    readonly again: string;
    readonly succeeded: string;
    readonly failed: string;
    readonly unknown: string;
    /** Shown beside `unknown`, if the last answer speaks only for itself. */
    readonly earlier: string;
  };
  readonly connection: {
    readonly offline: string;
    readonly down: string;
    readonly 'rate-limited': string;
    readonly back: string;
    /** The server works, but a query on screen without data waits for an endpoint that is down, or failed. */
    readonly missing: string;
    /** The same for queries with data. */
    readonly stale: string;
    /** The trouble of `rate-limited`, `missing` or `stale` is over. */
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
    /** Shown beside the button with the text `submit`. */
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
