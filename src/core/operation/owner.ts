import type { Decision } from '../policy/decide.ts';
import type { OperationRef } from '../policy/operation.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { Ask } from '../origin/ask.ts';
import type { PausedAttempt, SubmissionHook } from './environment.ts';
import type { Destination } from './parts/route.ts';
import type { Submission } from './parts/submission.ts';
import type { OperationResult } from './events.ts';
import type { Write } from './write-order.ts';

/** The state of an operation between or within its attempts, with the data of that state only. */
export type Phase =
  | { readonly kind: 'sending' }
  /** A request of its attempt waits for admission: `operation.pauses` holds it. */
  | { readonly kind: 'paused' }
  | {
      readonly kind: 'waiting';
      /** Undefined if another page made it. */
      readonly decision: Decision | undefined;
      /** Ends the wait; undefined if React Query owns it. */
      readonly skip: (() => void) | undefined;
    }
  /** `result` is undefined if the operation ended silently. */
  | { readonly kind: 'ended'; readonly result: OperationResult | undefined };

// Shared constants: most operations have no other phases.
export const sending: Phase = { kind: 'sending' };
export const paused: Phase = { kind: 'paused' };
export const succeeded: Phase = { kind: 'ended', result: 'succeeded' };

const always = (): boolean => true;

/**
 * The code that began an operation, for what the operation itself cannot know. This base class knows nothing:
 * it serves operations without an owner.
 */
export class Owner<Owned = unknown> {
  /** Whether the attempt may succeed without a network: React Query's `networkMode` says so. */
  readonly mayBeOffline: boolean = false;

  /** Called when it is paused or released and, in our own loop, when it waits or continues. */
  onChange(_operation: Owned): void {}

  /** Whether its answers may come from a service worker, and so prove nothing about the network. */
  isUnproven(): boolean {
    return false;
  }

  /**
   * @returns a function that tells whether a user waits for it in a visible page. `isSeen` tells about the
   * page alone.
   */
  foreground(kind: OperationRef['kind'], isSeen: () => boolean): () => boolean {
    // A user pressed for every mutation, wherever they look meanwhile.
    return kind === 'mutation' ? always : isSeen;
  }

  /** When it would be retried without a pause, and, if it refreshes data, whether a page sees them. */
  retries(_operation: Owned): Pick<Ask, 'isRefreshSeen' | 'retriesAt'> {
    return {};
  }

  /** The owner to keep after the end. An error keeps its operation alive, which must not keep a QueryClient alive. */
  past(): Owner<Owned> {
    return noOwner;
  }
}

export const noOwner: Owner = new Owner();

/** The owner of what need not leave the device, and of which nothing else is known. */
export const unprovenOwner: Owner = new (class extends Owner {
  override readonly mayBeOffline = true;
  override isUnproven(): boolean {
    return true;
  }
  override past(): Owner {
    return this;
  }
})();

/** The state that passes from one attempt to the next, if these are objects of their own. */
export interface HandedOver {
  readonly ref: Omit<OperationRef, 'attempt'>;
  readonly attempt: number;
  /** True if the start was emitted, so that the end must be. */
  readonly isStarted: boolean | undefined;
  /** The writes of the operation so far. */
  readonly writes?: Map<string, Write> | undefined;
}

/** The initial state of an operation. */
export interface OperationInit {
  /** The state that it continues from; undefined for a new operation. */
  readonly before?: HandedOver | undefined;
  readonly attempt?: number;
  /** The policy of this query, mutation or call. */
  readonly policy?: PolicyOptions | undefined;
  /** All of its requests may be sent again. */
  readonly idempotent?: boolean | undefined;
  /** The idempotency key of the operation, and the code that belongs to it. */
  readonly submission?: Submission | undefined;
  readonly submissionCode?: SubmissionHook | undefined;
  /** True if the next attempt resumes where the last one failed, as an infinite query does. */
  readonly isResumed?: boolean | undefined;
  /** The factor by which its requests exceed the policy's time limit. @default 1 */
  readonly timeoutFactor?: number | undefined;
  /** The identity of a lone request, to recognise its retry by: method, URL and idempotency key. */
  readonly request?: string;
  /** Where the previous operation of the same query sent its requests: this one is expected there. */
  readonly at?: Destination | undefined;
  /** A user pressed for its first request. */
  readonly isUrged?: boolean | undefined;
  /** A user has just requested it: something that is down is probed at once. */
  readonly isWish?: boolean | undefined;
  /** When the user meant what it writes, in epoch milliseconds. @default when its first request is asked for */
  readonly meantAt?: number | undefined;
  /** The id of the operation whose function has begun this one, as `ensureQueryData` in a queryFn does. */
  readonly within?: number | undefined;
  /** True if the owner ends the operation, because that may continue where the policy stops (the app's own `retry`, the outbox). */
  readonly endsWithOwner?: boolean | undefined;
}

/** The state to show of an operation whose attempts run elsewhere. An undefined field leaves its value. */
export interface Shown {
  readonly phase: Phase;
  readonly attempt?: number;
  readonly pauses?: readonly PausedAttempt[] | undefined;
  readonly decision?: Decision | undefined;
  readonly lastError?: unknown;
}
