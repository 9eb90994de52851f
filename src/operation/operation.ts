import { reporterOf } from '../lib/input/callback.ts';
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
import { Effects } from './parts/effects.ts';
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
import type { FailureReport, RequestFacts } from './facts.ts';
import { KnownErrors, mayHaveTakenEffect, speakForAll, usualMethod } from './parts/known-errors.ts';
import { none, Pauses } from './parts/pauses.ts';
import { Route } from './parts/route.ts';
import type { Submission, Steps } from './parts/submission.ts';
import { startAttempt, warnOfLoop } from './warn-of-loop.ts';

/** Which operation a signal belongs to: the link that survives an await. */
export type Signals = WeakMap<AbortSignal, Operation>;

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
  declare readonly submission: Submission | undefined;
  /** The code that goes with a submission, or with a key that was sent. */
  declare submissionCode: SubmissionHook | undefined;
  declare readonly isSingle: boolean | undefined;
  declare readonly request: string | undefined;
  /** What its requests may have done at the server. */
  readonly effects: Effects;
  readonly errors: KnownErrors;
  readonly pauses: Pauses = new Pauses();
  readonly route: Route;

  // Its owner sets these. A field that is only declared takes no code before it is set.
  /** The policy of this query, mutation or call. */
  declare policy: PolicyOptions | undefined;
  /** Whether a user waits for it in a visible page, as far as React Query can tell. */
  declare isForeground: (() => boolean) | undefined;
  /** Its answers may come from a service worker, and prove nothing of the network. */
  declare isUnproven: (() => boolean) | undefined;
  /** It need not leave the device: React Query's `networkMode` says so. */
  declare mayBeOffline: boolean | undefined;
  /** A user has asked for its next request: it goes whatever is known of its origin. */
  declare isUrged: boolean | undefined;
  /** Is told when it is paused or let go and, in a loop of ours, when it waits or goes on. */
  declare onChange: (() => void) | undefined;
  /** Ends its wait, in a loop of ours. */
  declare skip: (() => void) | undefined;
  /** Limits the present attempt, in `retry`. */
  declare attemptLimit: AttemptLimit | undefined;
  /** Its keyed requests so far, with the bytes that they send, until it ends. */
  declare steps: Steps | undefined;
  /** When React Query, which was told to wait so long, goes on, in epoch milliseconds. */
  declare dueAt: number | undefined;
  /** What its failures in React Query are entered in, and whether it was asked about the last one. */
  declare ledger: object | undefined;
  declare isAsked: boolean | undefined;
  /** Its beginning was told, and so its end is to be told. */
  declare isTold: boolean | undefined;

  #ref: Omit<OperationRef, 'attempt'>;
  #attempt: number;
  #phase: Phase = 'sending';
  #retriedFor: readonly RetryReason[] = none;
  #previousBackoffMs: number | undefined;
  #askedAt: number;
  #trials = 0;
  #decision: Decision | undefined;
  #lastError: unknown;
  #failedAt: number | undefined;
  /** What was merged last: the same for each of its attempts, as a rule, and merging takes long. */
  #merged: Policy;
  #layers: readonly unknown[] = none;

  constructor(shared: Environment, ref: Operation['ref'], given: OperationInit) {
    this.#shared = shared;
    this.#given = given;
    this.submission = given.submission;
    this.submissionCode = given.submissionCode;
    this.isSingle = given.isSingle;
    this.request = given.request;
    this.effects = new Effects(given.submission);
    this.errors = new KnownErrors(this.effects);
    this.#merged = shared.policy;
    this.policy = given.policy;
    this.isUrged = given.isUrged;
    this.#ref = given.before?.ref ?? ref;
    this.isTold = given.before?.isTold;
    this.#attempt = given.attempt ?? 1;
    this.#askedAt = ref.startedAt;
    this.route = new Route(given.at);
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
    this.errors.next();
    const now = this.#shared.clock.now();
    const dueAt = this.#decision?.retryAt ?? now;
    this.pauses.count(dueAt, now);
    // What is so late was asleep, and asks anew.
    if (now - dueAt > latestMs) this.#askedAt = now;
  }

  /** Tells of the start of an attempt. */
  start(): void {
    if (process.env.NODE_ENV !== 'production') startAttempt(this.#shared.emitter, this);
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
    const report = this.errors.reportOf(error, nowMs);
    if (!this.errors.abortOf(error)) report.failure = classifyError(error, report.failure);
    report.failure = this.#meaningOfAbort(error, report);
    const { failure } = report;
    this.submissionCode?.noteStored(this, report);
    const policy = this.policyOf(report);
    // A request that cannot be linked to its query is an operation of its own.
    const { route } = (this.route.at ? this : operationOf(report)) ?? this;
    const { isTrial, isLate, isDown, limitedMs } = route.fail(failure, nowMs);
    if (isTrial) this.#trials++;
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
      isDown: isLate || (isPausedNext && isDown),
      limitedMs,
      onMistake: policy.shouldRetry && reporterOf(this.#shared, 'shouldRetry', remedy),
    });
    this.#enter(error, report, failure, decision);
    const isRetried = decision.kind === 'retry';
    if (isRetried) {
      this.#retriedFor = this.#retriedFor.concat(decision.reason);
      this.#previousBackoffMs = decision.backoffMs;
    }
    if (isRetried || this.#given.endsWithOwner) {
      this.pauses.each('drop');
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
    this.pauses.each('drop');
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
    if (this.pauses.add(paused, this.#shared.clock.now())) this.#phase = 'paused';
    // Thousands may be told at once.
    if (this.#shared.emitter.isHeard()) this.emit({ type: 'pause:start', ...paused.pause });
    this.onChange?.();
  }

  /** It waits no longer. */
  resume(
    paused: PausedAttempt,
    result: Extract<EventDetail, { readonly type: 'pause:end' }>['result'],
  ): void {
    const isOver = this.pauses.remove(paused, this.#shared.clock.now());
    if (isOver && this.#phase === 'paused') this.#phase = 'sending';
    this.emit({ type: 'pause:end', result });
    this.onChange?.();
  }

  /** What is paused was asked for again. */
  renew(): void {
    this.#askedAt = this.#shared.clock.now();
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
    this.pauses.mirror(shown.pauses ?? none);
    this.#attempt = shown.attempt ?? this.#attempt;
    this.#decision = shown.decision ?? this.#decision;
    this.#lastError = shown.lastError ?? this.#lastError;
  }

  /** All that was said of how its failures are answered. */
  policyOf({ apiPolicy: api, callPolicy: call }: RequestFacts): Policy {
    const { policy: own } = this;
    const known = this.#layers;
    if (known[0] !== api || known[1] !== own || known[2] !== call) {
      this.#layers = [api, own, call];
      this.#merged = layer(this.#shared.policy, api, own, call);
    }
    return this.#merged;
  }

  /** The operation as the policy, `shouldRetry` and errors see it: a value that no longer changes. */
  view({ method, url, keyed = false, idempotent }: RequestFacts): OperationView {
    const { id, kind, startedAt, queryKey } = this.#ref;
    const known = method ?? usualMethod(kind);
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
      pausedMs: this.pauses.pausedMs,
    };
  }

  /**
   * The abort of its own signal is not decided on: its owner ends it. Any other is that of a request within it,
   * after which React Query goes on. It ends a mutation, which React Query would not send again: it is how an
   * app cancels there.
   */
  #meaningOfAbort(error: unknown, report: FailureReport): Failure {
    const { failure } = report;
    const { processed } = failure;
    if (this.errors.isOver(error, report)) return { kind: 'aborted', processed };
    const isCancel = this.#ref.kind === 'mutation' && !this.#given.endsWithOwner;
    return failure.kind !== 'aborted' || isCancel ? failure : { kind: 'error', processed };
  }

  /** Enters what was decided about a failure. */
  #enter(error: unknown, report: FailureReport, failure: Failure, decision: Decision): void {
    this.#decision = decision;
    this.#lastError = error;
    const { method, url } = report;
    // Of what another client has sent, all that is known is its error. Our own is counted already.
    const isOwn = report.operation === this && method !== undefined && !isSafeMethod(method);
    if (!isOwn && mayHaveTakenEffect(report, this)) this.effects.beginForeign();
    if (decision.kind === 'stop') {
      const processed = processedAtEnd(report.failure, this.#ref, this.effects.isUnknown());
      report.failure = speakForAll(error, report.failure, processed);
    }
    report.operation = this;
    report.decision = decision;
    this.errors.keep(error, report);
    if (!this.#shared.emitter.isHeard()) return;
    const { maxRetries } = this.policyOf(report);
    this.emit({ type: 'decision', failure, decision, error, method, url, maxRetries });
  }
}

/** The operation whose request has failed, where it is known. */
export const operationOf = ({ operation }: FailureReport): Operation | undefined =>
  operation instanceof Operation ? operation : undefined;
