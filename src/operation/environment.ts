import type { Clock, Random } from '../lib/clock.ts';
import type { Pause } from '../origin/wait-queue.ts';
import type { Policy } from '../policy/options.ts';
import type { Failure } from '../policy/outcome.ts';
import type { Effects } from './parts/effects.ts';
import type { Emitter } from './events.ts';
import type { FailureReport } from './facts.ts';
import type { Submission } from './parts/submission.ts';
import type { WriteOrder } from './write-order.ts';

/** The parts that all operations of an instance share. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  readonly emitter: Emitter;
  readonly writeOrder: WriteOrder;
  /** The failure behind an error: the known one, or the one that the app itself reads from it. */
  readonly classifyError: (error: unknown, known: Failure) => Failure;
}

/** An attempt that waits for admission, before it is sent. */
export interface PausedAttempt extends Waiting {
  /** Why, and until when: told anew in place, for an origin that is down tells all who wait. */
  pause: Pause;
  /** Lets it go now, whatever is known of the origin. */
  go(): void;
  /** It was asked for again. */
  renew(): void;
  /** Its time is up: it ends, unsent. */
  expire(): void;
}

/** A wait that would send something at its end. */
export interface Waiting {
  /** It is no longer wanted. */
  drop(): void;
}

/** The time limit of an attempt. Its requests have limits of their own. */
export interface AttemptLimit {
  /** @returns What tells that the request has ended, its body included; told twice, it counts once. */
  beginRequest(): () => void;
  /** @returns what settles as the attempt does or, once its time is up, rejects. */
  race<T>(begun: Promise<T>): Promise<T>;
  /** The attempt is over. */
  end(): void;
}

/** What an operation with a submission brings, as far as the operation itself calls it. */
export interface SubmissionHook {
  /**
   * An attempt has failed. A refusal that the server has stored under the key of the submission, and that
   * another client was given, is the answer to the attempts before, too: none of them has taken effect.
   */
  readonly recordStored: (
    operation: { readonly submission: Submission | undefined; readonly effects: Effects },
    report: FailureReport,
  ) => void;
}
