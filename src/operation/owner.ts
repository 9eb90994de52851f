import type { Decision } from '../policy/decide.ts';
import type { OperationRef } from '../policy/operation.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { Refresh } from '../origin/wait-queue.ts';
import type { PausedAttempt, SubmissionHook } from './environment.ts';
import type { Destination } from './parts/route.ts';
import type { Submission } from './parts/submission.ts';
import type { OperationResult } from './events.ts';
import type { Write } from './write-order.ts';

/** Where an operation is between two attempts, or in one, and what there is only then. */
export type Phase =
  | { readonly kind: 'sending' }
  /** A request of its attempt waits for admission: `operation.pauses` has which. */
  | { readonly kind: 'paused' }
  | {
      readonly kind: 'waiting';
      /** Undefined where another page has made it. */
      readonly decision: Decision | undefined;
      /** Ends the wait; undefined where that is not ours to end. */
      readonly skip: (() => void) | undefined;
    }
  /** `result` is undefined where nothing was told of it. */
  | { readonly kind: 'ended'; readonly result: OperationResult | undefined };

// One object for all: most operations have no other phases than these.
export const sending: Phase = { kind: 'sending' };
export const paused: Phase = { kind: 'paused' };
export const succeeded: Phase = { kind: 'ended', result: 'succeeded' };

const always = (): boolean => true;

/**
 * What has begun an operation, and knows what the operation does not. That of an operation without one knows
 * nothing.
 */
export class Owner<Owned = unknown> {
  /** The attempt need not leave the device: React Query's `networkMode` says so. */
  readonly mayBeOffline: boolean = false;

  /** It is paused or let go and, in a loop of ours, waits or goes on. */
  onChange(_operation: Owned): void {}

  /** Whether its answers may come from a service worker, and prove nothing of the network. */
  isUnproven(): boolean {
    return false;
  }

  /** @returns what says whether a user waits for it in a visible page; `isSeen` does where only the page is known. */
  foreground(kind: OperationRef['kind'], isSeen: () => boolean): () => boolean {
    // A mutation is what a user has pressed for, whatever they look at meanwhile.
    return kind === 'mutation' ? always : isSeen;
  }

  /** What is known of it where it refreshes what a page shows. */
  refresh(_operation: Owned): Refresh | undefined {
    return undefined;
  }

  /** What is left of it at the end: an error keeps its operation, and that must not keep a QueryClient. */
  past(): Owner<Owned> {
    return noOwner;
  }
}

export const noOwner: Owner = new Owner();

/** What is kept of an operation between two attempts, where those are objects of their own. */
export interface HandedOver {
  readonly ref: Omit<OperationRef, 'attempt'>;
  readonly attempt: number;
  /** Its start was emitted, and so its end is to be. */
  readonly isStarted: boolean | undefined;
  /** Its writes so far. */
  readonly writes?: Map<string, Write> | undefined;
}

/** What an operation begins with. */
export interface OperationInit {
  /** What it goes on with, where it is no new one. */
  readonly before?: HandedOver | undefined;
  readonly attempt?: number;
  /** The policy of this query, mutation or call. */
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
  /** Its attempts are not retried, so that a loop inside it is the only one. */
  readonly isSingle?: boolean | undefined;
  /** What a lone request is, to know its retry by: method, URL and idempotency key. */
  readonly request?: string;
  /** Where the one before it went, of the same query: there this one goes. */
  readonly at?: Destination | undefined;
  /** A user has asked for its first request. */
  readonly isUrged?: boolean | undefined;
  /** A user has just asked for it: what is down is probed at once. */
  readonly isWish?: boolean | undefined;
  /** When the user meant what it writes, in epoch milliseconds. @default when its first request is asked for */
  readonly meantAt?: number | undefined;
  /** It may go on where the policy stops, by the app's own `retry` or in the outbox: its owner ends it. */
  readonly endsWithOwner?: boolean | undefined;
}

/** What is seen of an operation whose attempts are made elsewhere; what is undefined stays. */
export interface Shown {
  readonly phase: Phase;
  readonly attempt?: number;
  readonly pauses?: readonly PausedAttempt[] | undefined;
  readonly decision?: Decision | undefined;
  readonly lastError?: unknown;
}
