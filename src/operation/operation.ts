import { reasonOf } from '../lib/abort.ts';
import { reporterOf } from '../lib/input/callback.ts';
import type { Admission } from '../origin/admission.ts';
import type { Permit } from '../origin/wait-queue.ts';
import { decide, type Decision, processedAtEnd } from '../policy/decide.ts';
import {
  isIdempotentMethod,
  isSafeMethod,
  type Operation as OperationView,
  type OperationRef,
  type RetryReason,
} from '../policy/operation.ts';
import { layer, type Policy, type PolicyOptions } from '../policy/options.ts';
import { type Failure, failures } from '../policy/outcome.ts';
import { Effects } from './effects.ts';
import { reportFailure, reportOf } from './error-info.ts';
import { isSteadfetchError } from './errors.ts';
import type {
  AttemptLimit,
  Environment,
  OperationInit,
  PausedAttempt,
  Phase,
  Shown,
  SubmissionHook,
} from './environment.ts';
import type { EventDetail, OperationResult } from './events.ts';
import type { FailureReport, RequestFacts, SentRequest } from './facts.ts';
import type { Submission, Steps } from './submission.ts';
import { noteAttempt, warnOfLoop } from './warn-of-loop.ts';

interface MergedPolicy {
  readonly api: PolicyOptions | undefined;
  readonly own: PolicyOptions | undefined;
  readonly call: PolicyOptions | undefined;
  readonly policy: Policy;
}

/** Which operation a signal belongs to: the link that survives an await. */
export type Signals = WeakMap<AbortSignal, Operation>;

const none: readonly never[] = [];
const yes = (): boolean => true;
const no = (): boolean => false;

/** Timers are so late at most while nobody sleeps: those of a hidden tab. */
const latestMs = 1000;

const remedy =
  process.env.NODE_ENV !== 'production' &&
  'the status table decides. It must be synchronous and return true, false or undefined';

/** One thing that the app wants done, and all of its attempts. */
export class Operation {
  readonly #shared: Environment;
  readonly #given: OperationInit;
  readonly submission: Submission | undefined;
  /** The code that goes with a submission, or with a key that was sent. */
  submissionCode: SubmissionHook | undefined;
  readonly isSingle: boolean | undefined;
  readonly request: string | undefined;
  /** What its requests may have done at the server. */
  readonly effects: Effects;

  // Its owner sets these.
  /** The policy of this query, mutation or call. */
  policy: PolicyOptions | undefined;
  /** Whether a user waits for it in a visible page, as far as React Query can tell. */
  isForeground: (() => boolean) | undefined;
  /** Its answers may come from a service worker, and prove nothing of the network. */
  isUnproven: (() => boolean) | undefined;
  /** It need not leave the device: React Query's `networkMode` says so. */
  mayBeOffline: boolean | undefined;
  /** A user has asked for its next request: it goes whatever is known of its origin. */
  isUrged: boolean | undefined;
  /** Is told when it is paused or let go and, in a loop of ours, when it waits or goes on. */
  onChange: (() => void) | undefined;
  /** Ends its wait, in a loop of ours. */
  skip: (() => void) | undefined;
  /** Limits the present attempt, in `retry`. */
  attemptLimit: AttemptLimit | undefined;
  /** Its keyed requests so far, with the bytes that they send, until it ends. */
  steps: Steps | undefined;
  /** When a request of its present attempt was sent as a trial: a probe, or let go once its origin was back. */
  trialAt: number | undefined;
  /** When React Query, which was told to wait so long, goes on, in epoch milliseconds. */
  dueAt: number | undefined;
  /** What its failures in React Query are entered in, and whether it was asked about the last one. */
  ledger: object | undefined;
  isAsked: boolean = false;
  /** Its beginning was told, and so its end is to be told. */
  declare isTold: boolean | undefined;
  /** In development: the requests of this attempt that failed. One of them again is a second loop. */
  declare failedRequests: Set<string> | undefined;
  /** In development: the one that was sent again within this attempt. */
  declare loop: string | undefined;
  /** In development: another client has sent it, with a signal that is no query's. */
  declare hasForeignSignal: boolean | undefined;

  #ref: Omit<OperationRef, 'attempt'>;
  #attempt: number;
  #phase: Phase = 'sending';
  #retriedFor: readonly RetryReason[] = none;
  #previousBackoffMs: number | undefined;
  #askedAt: number;
  #trials = 0;
  #pauses: readonly PausedAttempt[] = none;
  #pausedSince = 0;
  #pausedMs = 0;
  /** Until when that is counted. */
  #pausedTo = -Infinity;
  #admission: Admission | undefined;
  #sent: SentRequest | undefined;
  /** A permit that was given before the attempt began, for its first request that goes there. */
  #permit: Permit | undefined;
  #decision: Decision | undefined;
  #lastError: unknown;
  #failedAt: number | undefined;
  /** The latest request of another client, where it has failed: the error may say nothing of it. */
  #raw: { readonly attempt: number; readonly report: FailureReport } | undefined;
  /** The caller's abort reason, once it was thrown, and what it means; boxed, because a reason may be any value. */
  #abort: { readonly reason: unknown; failure: Failure } | undefined;
  /** What was merged last: the same for each of its attempts, as a rule, and merging takes long. */
  #merged: MergedPolicy | undefined;

  constructor(shared: Environment, ref: Operation['ref'], given: OperationInit) {
    this.#shared = shared;
    this.#given = given;
    this.submission = given.submission;
    this.submissionCode = given.submissionCode;
    this.isSingle = given.isSingle;
    this.request = given.request;
    this.effects = new Effects(given.submission);
    this.policy = given.policy;
    this.isUrged = given.isUrged;
    this.#ref = given.before?.ref ?? ref;
    this.isTold = given.before?.isTold;
    this.#attempt = given.attempt ?? 1;
    this.#askedAt = ref.startedAt;
    this.#admission = given.admission;
    this.#sent = given.sent;
  }

  /** Which one it is; the attempt is counted beside it. */
  get ref(): Omit<OperationRef, 'attempt'> {
    return this.#ref;
  }
  get attempt(): number {
    return this.#attempt;
  }
  get phase(): Phase {
    return this.#phase;
  }
  /** When the user asked for it last. */
  get askedAt(): number {
    return this.#askedAt;
  }
  /** Its attempts that were trials of its origin and failed: they use up none of its retries. */
  get trials(): number {
    return this.#trials;
  }
  /** Its requests that wait for the admission of an origin. */
  get pauses(): readonly PausedAttempt[] {
    return this.#pauses;
  }
  /** Where its latest request went: its next attempt waits there before it begins. */
  get admission(): Admission | undefined {
    return this.#admission;
  }
  get sent(): SentRequest | undefined {
    return this.#sent;
  }
  get decision(): Decision | undefined {
    return this.#decision;
  }
  get lastError(): unknown {
    return this.#lastError;
  }
  /** When the last attempt failed, in epoch milliseconds. */
  get failedAt(): number | undefined {
    return this.#failedAt;
  }

  /** The next attempt begins. What has passed since its time had come, it was paused. */
  next(): void {
    this.#attempt++;
    this.#phase = 'sending';
    if (process.env.NODE_ENV !== 'production') this.failedRequests = this.loop = undefined;
    const now = this.#shared.clock.now();
    const dueAt = this.#decision?.retryAt ?? now;
    this.countPaused(dueAt, now);
    // What is so late was asleep, and asks anew.
    if (now - dueAt > latestMs) this.#askedAt = now;
  }

  /** Tells of the start of an attempt. */
  start(): void {
    if (process.env.NODE_ENV !== 'production') noteAttempt(this.#shared.emitter, this);
    this.emit({ type: 'attempt:start' });
  }

  /** An attempt has succeeded, and with it the operation. */
  succeed(): void {
    if (process.env.NODE_ENV !== 'production') warnOfLoop(this.#shared.emitter, this);
    this.emit({ type: 'attempt:end', error: undefined });
    this.end('succeeded');
  }

  /** Decides on the failure of the present attempt, and enters it. */
  fail(error: unknown): Decision {
    const { clock, random, classifyError } = this.#shared;
    if (process.env.NODE_ENV !== 'production') warnOfLoop(this.#shared.emitter, this, error);
    const nowMs = clock.now();
    const report = this.reportOf(error, nowMs);
    if (!this.#abortOf(error)) report.failure = classifyError(error, report.failure);
    const { failure } = report;
    this.submissionCode?.noteStored(this, report);
    const policy = this.policyOf(report);
    // A request that cannot be linked to its query is an operation of its own.
    const own = this.#admission ? this : operationOf(report);
    const { admission, sent, trialAt } = own ?? {};
    const endpoint = sent?.endpoint ?? '';
    // A probe was sent for all who wait: it is no retry of this operation's. But what is slow where
    // the rest of its origin answers will be slow again.
    const isSlowByNature = failure.kind === 'timeout' && !!admission?.isItsOwnFault(endpoint);
    if (trialAt !== undefined && !isSlowByNature) this.#trials++;
    if (own) own.trialAt = undefined;
    // Others were answered while this probe hung: it is late enough for its user.
    const isOver = trialAt !== undefined && !!admission && trialAt <= admission.recoveredAt();
    // The next attempt is paused where this one went, without a wait of its own: that of a query before
    // it begins, any other by its request, and so not where something else has failed.
    const isPausedNext = this.#ref.kind === 'query' || report.url !== undefined;
    // What this request itself may have done is an input already.
    if (report.effect) report.effect.isRepeatable = true;
    const decision = decide(failure, this.view(report), policy, {
      nowMs,
      random,
      isUnrepeatable:
        this.#ref.kind !== 'query' && !this.#given.idempotent && this.effects.isUnrepeatable(),
      isDown: isOver || (isPausedNext && !!admission?.isDown(endpoint)),
      limitedMs: admission && sent ? Math.ceil(admission.limitedUntil(sent.limitScope) - nowMs) : 0,
      onMistake: reporterOf(this.#shared, 'shouldRetry', remedy),
    });
    this.#enter(error, report, failure, decision);
    const isRetried = decision.kind === 'retry';
    if (isRetried) {
      this.#retriedFor = this.#retriedFor.concat(decision.reason);
      this.#previousBackoffMs = decision.backoffMs;
    }
    if (isRetried || this.#given.endsWithOwner) {
      this.#dropPauses();
      this.#phase = 'waiting';
    } else this.end(failure.kind === 'aborted' ? 'cancelled' : 'failed');
    return decision;
  }

  /** The user has cancelled it: it ends with this error. */
  cancel(error: unknown, report: FailureReport): void {
    const failure = failures.aborted;
    const { clock, random } = this.#shared;
    const given = { nowMs: clock.now(), random, isCancelled: true };
    const decision = decide(failure, this.view(report), this.policyOf(report), given);
    this.#enter(error, report, failure, decision);
    this.end('cancelled');
  }

  /** An attempt has failed; `decision`: what was decided already. */
  recordError(error: unknown, nowMs: number, decision: Decision | undefined): void {
    this.#decision = decision;
    this.#lastError = error;
    this.#failedAt = nowMs;
    // The attempt that was asked for is over.
    this.isUrged = false;
  }

  /** It is over: without a result, silently; and so is one whose beginning was not told. */
  end(result?: OperationResult): void {
    if (result && this.isTold) this.emit({ type: 'operation:end', result });
    this.#phase = 'ended';
    this.steps = undefined;
    this.#dropPauses();
    // They would keep the QueryClient for as long as its error is kept.
    this.onChange = undefined;
    this.isForeground = undefined;
    if (this.isUnproven) this.isUnproven = this.isUnproven() ? yes : no;
  }

  /** Tells the listeners. An operation that has ended is silent, whatever of it is still under way. */
  emit(detail: EventDetail): void {
    const { clock, emitter } = this.#shared;
    if (!emitter.isHeard() || this.#phase === 'ended') return;
    const { type } = detail;
    // A query may be paused before its first attempt. A lone request, which has no attempts, is no more than that.
    const isStart = type === 'attempt:start' || (type === 'pause:start' && !this.request);
    if (isStart && !this.isTold) {
      this.isTold = true;
      this.emit({ type: 'operation:start' });
    }
    const at = clock.now() - (clock.setBackMs?.() ?? 0);
    emitter.emit({ ...detail, at, operation: { ...this.#ref, attempt: this.#attempt } });
  }

  /** One of its requests waits for admission, or waits for another reason than before. */
  pause(paused: PausedAttempt): void {
    if (!this.#pauses.includes(paused)) {
      if (this.#pauses.length === 0) this.#pausedSince = this.#shared.clock.now();
      this.#pauses = [...this.#pauses, paused];
      this.#phase = 'paused';
    }
    // Thousands may be told at once.
    if (this.#shared.emitter.isHeard()) this.emit({ type: 'pause:start', ...paused.pause });
    this.onChange?.();
  }

  /** It waits no longer. */
  resume(
    paused: PausedAttempt,
    result: Extract<EventDetail, { readonly type: 'pause:end' }>['result'],
  ): void {
    this.#pauses = this.#pauses.filter((other) => other !== paused);
    if (this.#pauses.length === 0) {
      this.countPaused(this.#pausedSince, this.#shared.clock.now());
      if (this.#phase === 'paused') this.#phase = 'sending';
    }
    this.emit({ type: 'pause:end', result });
    this.onChange?.();
  }

  /** What is paused was asked for again. */
  renew(): void {
    this.#askedAt = this.#shared.clock.now();
  }

  /** The time since then was no part of the operation's own: what overlaps is counted once. */
  countPaused(sinceMs: number, nowMs: number): void {
    this.#pausedMs += Math.max(0, nowMs - Math.max(sinceMs, this.#pausedTo));
    this.#pausedTo = nowMs;
  }

  /** A request is to go there. @returns the permit that was given for it before its attempt began. */
  goTo(admission: Admission, sent: SentRequest): Permit | undefined {
    const permit = this.#admission === admission ? this.#permit : undefined;
    if (permit) this.#permit = undefined;
    this.#admission = admission;
    this.#sent = sent;
    return permit;
  }

  /** A permit for the first request of the attempt that is about to begin. */
  keepPermit(permit: Permit): void {
    this.#permit = permit;
  }

  /** The attempt is over: a permit that it has not taken goes back. */
  returnPermit(): void {
    const permit = this.#permit;
    this.#permit = undefined;
    permit?.settle(undefined, undefined, true);
  }

  /** What became of the latest request of another client: undefined where that is known by its error. */
  recordRaw(report?: FailureReport): void {
    this.#raw = report && { attempt: this.#attempt, report };
  }

  /** @returns the caller's own reason, which is no failure. */
  abortBy(signal: { readonly reason?: unknown }, failure: Failure = failures.aborted): unknown {
    const reason = reasonOf(signal);
    this.#abort = { reason, failure };
    return reason;
  }

  /** The same of a request that was not sent. Others that the reason has stopped may have been. */
  abortUnsent(facts: RequestFacts, signal: { readonly reason?: unknown }): unknown {
    const isUnknown = this.effects.isUnknown();
    const failure = isUnknown ? failures.aborted : ({ kind: 'aborted', processed: 'no' } as const);
    const reason = this.abortBy(signal, failure);
    const { kind } = reportOf(reason, 0).failure;
    // One reason may stop several operations.
    if (kind === 'error' || (kind === 'aborted' && isUnknown))
      reportFailure(reason, { ...facts, failure });
    return reason;
  }

  /** It is that of a plain mutation of React Query. */
  becomeMutation(policy: PolicyOptions | undefined, onChange: () => void): void {
    this.#ref = { ...this.#ref, kind: 'mutation' };
    this.policy = policy;
    this.onChange = onChange;
  }

  /** All that it does is done elsewhere: it looks as that does. */
  mirror(shown: Shown): void {
    this.#phase = shown.phase;
    this.#pauses = shown.pauses ?? none;
    this.#attempt = shown.attempt ?? this.#attempt;
    this.#decision = shown.decision ?? this.#decision;
    this.#lastError = shown.lastError ?? this.#lastError;
  }

  /** All that was said of how its failures are answered. */
  policyOf(facts: RequestFacts): Policy {
    const { policy: base } = this.#shared;
    const { policy: own } = this;
    const { apiPolicy: api, callPolicy: call } = facts;
    if (!api && !own && !call) return base;
    const merged = this.#merged;
    if (merged && merged.own === own && merged.api === api && merged.call === call)
      return merged.policy;
    const policy = layer(base, api, own, call);
    this.#merged = { api, own, call, policy };
    return policy;
  }

  /** The operation as the policy, `shouldRetry` and errors see it: a value that no longer changes. */
  view({ method, url, keyed = false, idempotent }: RequestFacts): OperationView {
    const { id, kind, startedAt, queryKey } = this.#ref;
    const known = method ?? methodOf(kind);
    // Written out: it is made for every failure, and a spread takes several times as long.
    return {
      id,
      kind,
      startedAt,
      queryKey,
      attempt: this.#attempt,
      trials: this.#trials,
      method: known,
      url,
      keyed,
      idempotent: !!(this.#given.idempotent || idempotent) || isIdempotentMethod(known),
      retriedFor: this.#retriedFor,
      previousBackoffMs: this.#previousBackoffMs,
      pausedMs: this.#pausedMs,
    };
  }

  /** What is known of an error that an attempt has ended in: by itself, or by the request that it was made of. */
  reportOf(error: unknown, nowMs: number): FailureReport {
    const own = reportOf(error, nowMs);
    const raw = this.#raw;
    const abort = this.#abortOf(error);
    if (abort) return { ...own, failure: abort.failure };
    if (raw?.attempt !== this.#attempt || own.operation) return own;
    return isAbout(own, raw.report) ? { ...raw.report } : own;
  }

  /** Enters what was decided about a failure. */
  #enter(error: unknown, report: FailureReport, failure: Failure, decision: Decision): void {
    this.#decision = decision;
    this.#lastError = error;
    const { method, url } = report;
    // Of what another client has sent, all that is known is its error. Our own is counted already.
    const isOwn = report.operation === this && method !== undefined && !isSafeMethod(method);
    if (!isOwn && mayHaveTakenEffect(report, this)) this.effects.beginForeign();
    if (decision.kind === 'stop') report.failure = this.#endOf(error, report.failure);
    const abort = this.#abortOf(error);
    if (abort) abort.failure = report.failure;
    report.operation = this;
    report.decision = decision;
    reportFailure(error, report);
    if (!this.#shared.emitter.isHeard()) return;
    const { maxRetries } = this.policyOf(report);
    this.emit({ type: 'decision', failure, decision, error, method, url, maxRetries });
  }

  /** What was entered of an error that is the caller's own reason. */
  #abortOf(error: unknown): { failure: Failure } | undefined {
    return this.#abort?.reason === error ? this.#abort : undefined;
  }

  /** The error that an operation ends in speaks for all of its requests. */
  #endOf(error: unknown, failure: Failure): Failure {
    const processed = processedAtEnd(failure, this.#ref, this.effects.isUnknown());
    if (processed === failure.processed) return failure;
    const outcome = { ...failure, processed } as const;
    try {
      if (isSteadfetchError(error)) Object.assign(error, { outcome });
    } catch {
      // Frozen, or a proxy of somebody else's: it says what it says.
    }
    return outcome;
  }

  /** What an attempt has left at an admission is not sent beside the next one. */
  #dropPauses(): void {
    for (const { drop } of this.#pauses) drop();
  }
}

/** The operation whose request has failed, where it is known. */
export const operationOf = ({ operation }: FailureReport): Operation | undefined =>
  operation instanceof Operation ? operation : undefined;

/** Whether an operation that ends in this failure may have taken effect. */
export function mayHaveTakenEffect(
  { failure, method }: FailureReport,
  operation: Operation | undefined,
): boolean {
  const isRead = isSafeMethod(method ?? methodOf(operation?.ref.kind));
  return (failure.processed !== 'no' && !isRead) || !!operation?.effects.isUnknown();
}

/** Whether an error that says nothing, or only the status of what has gone with a key, is about this request. */
const isAbout = ({ failure, method }: FailureReport, sent: FailureReport): boolean =>
  failure.kind === 'error' ||
  (!!sent.keyed &&
    method === undefined &&
    failure.kind === 'http' &&
    sent.failure.kind === 'http' &&
    failure.status === sent.failure.status);

/** The method of a request that is somebody else's: a query reads; anything else might write. */
const methodOf = (kind: OperationRef['kind'] | undefined): string =>
  kind === 'query' ? 'GET' : 'POST';
