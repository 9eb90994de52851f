import type { Clock, Random } from '../lib/clock.ts';
import type { Pause } from '../origin/wait-queue.ts';
import type { Decision } from '../policy/decide.ts';
import type { OperationRef } from '../policy/operation.ts';
import type { Policy, PolicyOptions } from '../policy/options.ts';
import type { Failure } from '../policy/outcome.ts';
import type { Effects } from './parts/effects.ts';
import type { Emitter } from './events.ts';
import type { FailureReport } from './facts.ts';
import type { Destination } from './parts/route.ts';
import type { Submission } from './parts/submission.ts';

/** Where an operation is between two attempts, or in one. */
export type Phase = 'sending' | 'paused' | 'waiting' | 'ended';

/** What a whole Steadfetch instance shares. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  readonly emitter: Emitter;
  /** What an error shows: what is known of it, or what the app itself reads from it. */
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
}

/** What waits, and would send something after that. */
export interface Waiting {
  /** It is no longer wanted. */
  drop(): void;
}

/** Is told of the requests of an attempt, which have limits of their own. */
export interface AttemptLimit {
  /** @returns What tells that the request has ended, its body included; told twice, it counts once. */
  beginRequest(): () => void;
  /** The attempt is over. */
  end(): void;
}

/** What is kept of an operation between two attempts, where those are objects of their own. */
export interface HandedOver {
  readonly ref: Omit<OperationRef, 'attempt'>;
  readonly attempt: number;
  readonly isTold: boolean | undefined;
}

/** What an operation with a submission brings, as far as the operation itself calls it. */
export interface SubmissionHook {
  /**
   * An attempt has failed. A refusal that the server has stored under the key of the submission, and that
   * another client was given, is the answer to the attempts before, too: none of them has taken effect.
   */
  readonly noteStored: (
    operation: { readonly submission: Submission | undefined; readonly effects: Effects },
    report: FailureReport,
  ) => void;
}

/** What an operation begins with. */
export interface OperationInit {
  /** What it goes on with, where it is no new one. */
  readonly before?: HandedOver | undefined;
  readonly attempt?: number;
  readonly policy?: PolicyOptions | undefined;
  /** Whatever it sends may be sent again. */
  readonly idempotent?: boolean | undefined;
  /** Its idempotency key, where it has one, and the code that goes with it. */
  readonly submission?: Submission | undefined;
  readonly submissionCode?: SubmissionHook | undefined;
  /** Its next attempt goes on where the one before it has failed. */
  readonly isResumed?: boolean | undefined;
  /** How many times the time limit of the policy its requests have. @default 1 */
  readonly timeoutFactor?: number | undefined;
  /** Nobody retries its attempts, so that a loop inside it is the only one. */
  readonly isSingle?: boolean | undefined;
  /** What a lone request is, to know its retry by: method, URL and idempotency key. */
  readonly request?: string;
  /** Where the one before it went, of the same query: there this one goes. */
  readonly at?: Destination | undefined;
  readonly isUrged?: boolean | undefined;
  /** It may go on where the policy stops, by the app's own `retry` or in the outbox: whoever has begun it ends it. */
  readonly endsWithOwner?: boolean | undefined;
}

/** What is seen of an operation; what is undefined stays. */
export interface Shown {
  readonly phase: Phase;
  readonly attempt?: number;
  readonly pauses?: readonly PausedAttempt[] | undefined;
  readonly decision?: Decision | undefined;
  readonly lastError?: unknown;
}
