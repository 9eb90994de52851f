import type { Admission } from '../origin/admission.ts';
import type { Pause, Permit } from '../origin/wait-queue.ts';
import type { Decision } from '../policy/decide.ts';
import { isSafeMethod, type OperationRef, type RetryReason } from '../policy/operation.ts';
import type { Policy, PolicyOptions } from '../policy/options.ts';
import type { Failure } from '../policy/outcome.ts';
import type { Effect, Effects } from './effects.ts';
import type { Submission, Step, Steps } from './submission.ts';

/** An attempt that waits for admission, before it is sent. */
export interface PausedAttempt {
  /** Why, and until when: told anew in place, for an origin that is down tells all who wait. */
  pause: Pause;
  /** Lets it go now, whatever is known of the origin. */
  readonly go: () => void;
  /** It is no longer wanted. */
  readonly drop: () => void;
  /** It was asked for again. */
  readonly renew: () => void;
}

/** A permit that was given before an attempt began, for its first request that goes there. */
interface EarlyPermit {
  readonly admission: Admission;
  readonly permit: Permit;
}

/** What is known of a request that was sent: enough to wait for admission of the next one. */
export interface SentRequest {
  readonly name: string;
  /** The endpoint that it went to, and what a Retry-After of its answer speaks for. */
  readonly endpoint: string;
  readonly limitScope: string;
  readonly method: string;
  readonly keyed: boolean;
  readonly idempotent?: boolean | undefined;
  readonly apiPolicy?: PolicyOptions | undefined;
  readonly callPolicy?: PolicyOptions | undefined;
}

/** Is told of the requests of an attempt, which have limits of their own. */
export interface AttemptLimit {
  /** @returns What tells that the request has ended, its body included; told twice, it counts once. */
  readonly beginRequest: () => () => void;
}

/** What is known of a request: all of it of ours, next to nothing of another client's. */
export interface RequestFacts {
  /** In upper case. */
  readonly method?: string;
  /** As it was passed. */
  readonly url?: string;
  /** It carries an idempotency key that its API is declared to honour. */
  readonly keyed?: boolean;
  /** Declared to be idempotent, whatever its method. */
  readonly idempotent?: boolean | undefined;
  /** The policies of the API and of the call. */
  readonly apiPolicy?: PolicyOptions | undefined;
  readonly callPolicy?: PolicyOptions | undefined;
  /** The operation that the request is part of. */
  readonly live?: LiveOperation | undefined;
  /** What it is one attempt of, where it has a key. */
  readonly step?: Step | undefined;
  /** What it may do at the server, once it was sent. */
  readonly effect?: Effect | undefined;
}

/** The operations that have failed with one error, where React Query decides whether they go on. */
export interface Failed {
  /** The only one, or the one that React Query has asked about last. */
  latest?: LiveOperation | undefined;
  /** Where there are several: those that it has not asked about, in order. */
  queue?: Set<LiveOperation> | undefined;
}

/** A failure, and what is known of its request. */
export interface FailureReport extends RequestFacts, Failed {
  failure: Failure;
  live?: LiveOperation | undefined;
  /** What was decided about it. */
  decision?: Decision | undefined;
}

/** An operation under way. */
export interface LiveOperation {
  /** Which one it is; the attempt is counted beside it. */
  ref: Omit<OperationRef, 'attempt'>;
  attempt: number;
  phase: 'sending' | 'paused' | 'waiting' | 'ended';
  retriedFor: readonly RetryReason[];
  /** When the user asked for it last. */
  askedAt: number;
  /** Its attempts that were trials of its origin and failed: they use up none of its retries. */
  trials: number;
  /** When a request of its present attempt was sent as a trial: a probe, or let go once its origin was back. */
  trialAt: number | undefined;
  /** Whether a user waits for it in a visible page, as far as React Query can tell. */
  isForeground: (() => boolean) | undefined;
  /** What its requests may have done at the server. */
  readonly effects: Effects;
  /** In development: the requests of this attempt that failed. One of them again is a second loop. */
  failedRequests?: Set<string> | undefined;
  previousBackoffMs: number | undefined;
  /** What does not count against its deadline: it was paused, or asleep with its page or machine. */
  pausedMs: number;
  /** Until when that is counted. */
  pausedTo: number | undefined;
  /** Its requests that wait for the admission of an origin, and since when. */
  pauses: readonly PausedAttempt[];
  pausedSince?: number;
  /** Listeners know that it has begun. */
  isTold?: boolean;
  /** Is told when it is paused or let go and, in a loop of ours, when it waits or goes on. */
  onChange?: (() => void) | undefined;
  /** Limits the present attempt, in `retry`. */
  attemptLimit?: AttemptLimit | undefined;
  /** Ends its wait, in a loop of ours. */
  skip?: () => void;
  /** Where its latest request went: its next attempt waits there before it begins. */
  admission: Admission | undefined;
  sent: SentRequest | undefined;
  /** A permit that was given before the attempt began. */
  earlyPermit: EarlyPermit | undefined;
  /** It need not leave the device: React Query's `networkMode` says so. */
  mayBeOffline: boolean | undefined;
  /** Its answers may come from a service worker, and prove nothing of the network. */
  isUnproven: (() => boolean) | undefined;
  /** A user has asked for its next request: it goes whatever is known of its origin. */
  isUrged?: boolean | undefined;
  decision?: Decision | undefined;
  /** When React Query, which was told to wait so long, goes on, in epoch milliseconds. */
  dueAt: number | undefined;
  /** The app's own `retry` may go on where the policy stops: it ends when its query does. */
  endsWithQuery: boolean | undefined;
  lastError?: unknown;
  /** The latest request of another client, where it has failed: the error may say nothing of it. */
  raw: { readonly attempt: number; readonly report: FailureReport } | undefined;
  /** What its failures in React Query are entered in, and whether it was asked about the last one. */
  ledger: object | undefined;
  isAsked: boolean;
  /** When the last attempt failed, in epoch milliseconds. */
  failedAt: number | undefined;
  /** The caller's abort reason, once it was thrown; boxed, because a reason may be any value. */
  abort?: { readonly reason: unknown };
  /** What a lone request is, to know its retry by: method, URL and idempotency key. */
  request?: string;
  /** The policy of this query, mutation or call. */
  policy?: PolicyOptions | undefined;
  /** What was merged last from the instance's policy, its own, and those of an API and a call. */
  merged: MergedPolicy | undefined;
  /** Whatever it sends may be sent again. */
  readonly idempotent?: boolean | undefined;
  /** Its idempotency key, where it has one. */
  readonly submission?: Submission | undefined;
  /** The code that goes with a submission. */
  readonly submissionCode?: object | undefined;
  /** Its keyed requests so far, with the bytes that they send, until it ends. */
  steps?: Steps | undefined;
  /** Nobody retries its attempts, so that a loop inside it is the only one. */
  readonly isSingle?: boolean | undefined;
}

interface MergedPolicy {
  readonly api: PolicyOptions | undefined;
  readonly own: PolicyOptions | undefined;
  readonly call: PolicyOptions | undefined;
  readonly policy: Policy;
}

/** A mutation of ours whose mutationFn runs. */
export interface Execution {
  readonly submission: Submission;
  /** Nothing that it has sent is under way: it may be about to send something. */
  readonly isIdle: () => boolean;
}

/** What an operation begins with. */
export type OperationInit = Partial<
  Pick<
    LiveOperation,
    | 'policy'
    | 'idempotent'
    | 'submission'
    | 'submissionCode'
    | 'isSingle'
    | 'attempt'
    | 'request'
    | 'admission'
    | 'sent'
    | 'isUrged'
    | 'endsWithQuery'
  >
>;

/** Which operation a signal belongs to: the link that survives an await. */
export type Signals = WeakMap<AbortSignal, LiveOperation>;

/** The caller's own reason, which is no failure. */
export function abortedBy(live: LiveOperation, { reason }: { readonly reason: unknown }): unknown {
  live.abort = { reason };
  return reason;
}

/** The time since then was no part of the operation's own: what overlaps is counted once. */
export function countPaused(live: LiveOperation, sinceMs: number, nowMs: number): void {
  live.pausedMs += Math.max(0, nowMs - Math.max(sinceMs, live.pausedTo ?? sinceMs));
  live.pausedTo = nowMs;
}

const always = (): boolean => true;
/** Where nothing tells whether a user waits: in a page that is seen, one does. */
const isPageSeen = (): boolean => globalThis.document?.visibilityState !== 'hidden';

/** Tells at any time whether a user waits for it in a visible page. */
export function whetherAwaited(live: LiveOperation): () => boolean {
  // A mutation is what a user has pressed for, whatever they look at meanwhile.
  return live.isForeground ?? (live.ref.kind === 'mutation' ? always : isPageSeen);
}

/** Whether an operation that ends in this failure may have taken effect. */
export function mayHaveTakenEffect(
  { failure, method = 'POST' }: FailureReport,
  live: LiveOperation | undefined,
): boolean {
  return (failure.processed !== 'no' && !isSafeMethod(method)) || !!live?.effects.isUnknown();
}
