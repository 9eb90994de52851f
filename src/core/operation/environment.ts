import type { Clock, Random } from '../lib/clock.ts';
import type { Pause } from '../origin/ask.ts';
import type { Policy } from '../policy/options.ts';
import type { Failure } from '../policy/outcome.ts';
import type { Effects } from './parts/effects.ts';
import type { Emitter } from './events.ts';
import type { FailureReport } from './facts.ts';
import type { Submission } from './parts/submission.ts';

/** The parts that all operations of an instance share. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  readonly emitter: Emitter;
  /** The failure that an error means: the known one, or the one that the app's own reader finds in it. */
  readonly classifyError: (error: unknown, known: Failure) => Failure;
}

/** An attempt that waits for admission before it is sent. */
export interface PausedAttempt extends Waiting {
  /** Why it waits, and until when. Updated in place: a change of the origin's state reaches every waiting attempt. */
  pause: Pause;
  /** Sends it now, whatever the state of the origin. */
  go(): void;
  /** Records that the attempt was requested again. */
  renew(): void;
  /** Ends the attempt unsent, because its pause is over its limit. */
  expire(): void;
}

/** A wait at whose end a request would be sent. */
export interface Waiting {
  /** Ends the wait, because its result is no longer wanted. */
  drop(): void;
}

/** The time limit of an attempt. Its requests have their own limits. */
export interface AttemptLimit {
  /**
   * Records that a request of the attempt begins, or that a body is read (without `url`).
   *
   * @returns a function that reports its end.
   */
  beginRequest(url?: string): () => void;
  /** @returns a promise that settles with the attempt, or rejects when its time is up. */
  race<T>(begun: Promise<T>): Promise<T>;
  /** Ends the limit, because the attempt is over. */
  end(): void;
}

/** The code of a submission, as far as the operation calls it. */
export interface SubmissionHook {
  /**
   * Called after a failed attempt. A refusal that the server stored under the submission's key, and that
   * another client received, also answers the attempts before it: none of them took effect.
   */
  readonly recordStored: (
    operation: { readonly submission: Submission | undefined; readonly effects: Effects },
    report: FailureReport,
  ) => void;
}
