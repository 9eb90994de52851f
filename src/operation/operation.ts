import { decide, type Decision } from '../policy/decide.ts';
import type { Operation as OperationView, OperationRef } from '../policy/operation.ts';
import type { Policy, PolicyOptions } from '../policy/options.ts';
import { type Failure, failures } from '../policy/outcome.ts';
import { decideFailure, recordDecision } from './parts/decide-failure.ts';
import type { AttemptLimit, Environment, PausedAttempt, SubmissionHook } from './environment.ts';
import type { EventDetail, OperationResult, PauseResult } from './events.ts';
import type { FailureReport, RequestFacts } from './facts.ts';
import { noOwner, type HandedOver, type OperationInit, type Owner, type Shown } from './owner.ts';
import { Effects } from './parts/effects.ts';
import { KnownErrors } from './parts/known-errors.ts';
import { none, Pauses } from './parts/pauses.ts';
import { Failures, type KnownFailures, noFailures } from './parts/failures.ts';
import { layerPolicies, type LayeredPolicy } from './parts/layered-policy.ts';
import { Route } from './parts/route.ts';
import type { Submission, Steps } from './parts/submission.ts';
import { Urgency } from './parts/urgency.ts';
import { paused, type Phase, sending, succeeded } from './parts/phase.ts';
import { startAttempt, warnOfLoop } from './warn-of-loop.ts';

const noFacts: RequestFacts = {};

/** Timers are so late at most while nobody sleeps: those of a hidden tab. */
const latestMs = 1000;

/** When an operation last got on, in epoch milliseconds, and how long it was paused before. */
interface Progress {
  readonly at: number;
  readonly pausedMs: number;
}

/** One thing that the app wants done, and all of its attempts. */
export class Operation {
  readonly #shared: Environment;
  readonly #given: OperationInit;
  /** What its requests may have done at the server. */
  readonly effects: Effects;
  readonly errors: KnownErrors;
  readonly pauses: Pauses = new Pauses();
  readonly route: Route;
  readonly urgency: Urgency;
  #ref: Omit<OperationRef, 'attempt'>;
  #attempt: number;
  #phase: Phase = sending;
  #owner: Owner<Operation> = noOwner;
  #policy: PolicyOptions | undefined;
  #layered: LayeredPolicy | undefined;
  #failures: Failures | undefined;
  #isTold: boolean | undefined;
  #attemptLimit: AttemptLimit | undefined;
  #steps: Steps | undefined;
  /** Its requests that were answered well. */
  #answered: Set<string> | undefined;
  #progress: Progress | undefined;
  #submissionCode: SubmissionHook | undefined;

  constructor(shared: Environment, ref: Operation['ref'], given: OperationInit) {
    this.#shared = shared;
    this.#given = given;
    const { before, submission } = given;
    this.effects = new Effects(submission);
    this.errors = new KnownErrors(this.effects);
    this.route = new Route(given.at);
    this.#ref = before?.ref ?? ref;
    this.#attempt = given.attempt ?? 1;
    this.#isTold = before?.isTold;
    this.#policy = given.policy;
    this.urgency = new Urgency(ref.startedAt, !!given.isUrged);
    this.#submissionCode = given.submissionCode;
  }

  /** Which one it is; the attempt is counted beside it. */
  get ref(): Omit<OperationRef, 'attempt'> {
    return this.#ref;
  }
  get phase(): Phase {
    return this.#phase;
  }
  get owner(): Owner<Operation> {
    return this.#owner;
  }
  get attempt(): number {
    return this.#attempt;
  }
  get failures(): KnownFailures {
    return this.#failures ?? noFailures;
  }
  get decision(): Decision | undefined {
    return this.failures.decision;
  }
  get lastError(): unknown {
    return this.failures.lastError;
  }
  get policy(): PolicyOptions | undefined {
    return this.#policy;
  }
  get submission(): Submission | undefined {
    return this.#given.submission;
  }
  /** The code that goes with a submission, or with a key that was sent. */
  get submissionCode(): SubmissionHook | undefined {
    return this.#submissionCode;
  }
  /** Its keyed requests so far, with the bytes that they send, until it ends. */
  get steps(): Steps | undefined {
    return this.#steps;
  }
  get isSingle(): boolean | undefined {
    return this.#given.isSingle;
  }
  get request(): string | undefined {
    return this.#given.request;
  }
  /** Each of its requests has so many times the time limit of the policy. */
  get timeoutFactor(): number {
    return this.#given.timeoutFactor ?? 1;
  }
  get attemptLimit(): AttemptLimit | undefined {
    return this.#attemptLimit;
  }

  /** The owner of its present attempt, and of those that follow. */
  attend(owner: Owner<Operation>): void {
    this.#owner = owner;
  }

  /** It is that of a plain mutation of React Query. */
  becomeMutation(policy: PolicyOptions | undefined, owner: Owner<Operation>): void {
    this.#ref = { ...this.#ref, kind: 'mutation' };
    this.#policy = policy;
    this.#owner = owner;
  }

  notifyOwner(): void {
    this.#owner.onChange(this);
  }

  /** The next attempt begins. The time since it was due counts as paused. */
  next(): void {
    const now = this.#shared.clock.now();
    const dueAt = this.decision?.retryAt ?? now;
    this.#attempt++;
    this.#phase = sending;
    this.errors.next();
    this.pauses.count(dueAt, now);
    // A timer this late means the device slept: it is asked for anew.
    if (now - dueAt > latestMs) this.urgency.renew(now);
  }

  /** Emits the start of an attempt. */
  start(): void {
    if (process.env.NODE_ENV !== 'production') startAttempt(this.#shared.emitter, this);
    this.emit({ type: 'attempt:start' });
  }

  /** The present attempt has this limit; undefined for none. */
  limitAttempt(limit: AttemptLimit | undefined): void {
    this.#attemptLimit = limit;
  }

  /** A keyed request begins: its steps and their code are kept with it. */
  keepSteps(steps: Steps): Steps {
    return (this.#steps = steps);
  }
  useSubmissionCode(code: SubmissionHook): void {
    this.#submissionCode ??= code;
  }

  /**
   * A request of it was answered well. The first time that is progress: its deadline counts from here and,
   * where its next attempt goes on from here, so do its retries. A write is never sent so late.
   */
  recordAnswer(request: string): void {
    if (this.#ref.kind === 'mutation') return;
    this.#answered ??= new Set();
    if (this.#answered.has(request)) return;
    this.#answered.add(request);
    this.#progress = { at: this.#shared.clock.now(), pausedMs: this.pauses.pausedMs };
    if (this.#given.isResumed) this.#failures?.forgetBefore(this.#attempt);
  }

  /** An attempt is over: `error` is undefined where it has succeeded. */
  endAttempt(error: unknown): void {
    this.emit({ type: 'attempt:end', error });
    this.route.returnPermit();
  }

  /** An attempt has succeeded, and with it the operation. */
  succeed(): void {
    if (process.env.NODE_ENV !== 'production') warnOfLoop(this.#shared.emitter, this);
    this.endAttempt(undefined);
    this.end('succeeded');
  }

  /** Decides on the failure of the present attempt, and records it. `skip` ends the wait that follows. */
  fail(error: unknown, skip?: () => void): Decision {
    const { emitter, clock, classifyError } = this.#shared;
    if (process.env.NODE_ENV !== 'production') warnOfLoop(emitter, this, error);
    const nowMs = clock.now();
    const report = this.errors.reportOf(error, nowMs);
    if (!this.errors.abortOf(error)) report.failure = classifyError(error, report.failure);
    report.failure = this.#meaningOfAbort(error, report);
    const { kind } = report.failure;
    // Answers to requests without its signal, or of another client, are not seen: that another page fails is.
    if (this.#given.isResumed && report.operation !== this)
      this.recordAnswer(`before ${report.request?.method} ${report.request?.url}`);
    this.#submissionCode?.recordStored(this, report);
    const known = (this.#failures ??= new Failures());
    const decision = decideFailure(report, {
      shared: this.#shared,
      operation: this,
      failures: known,
      // A request that cannot be linked to its query is an operation of its own.
      route: ((this.route.at ? this : operationOf(report)) ?? this).route,
      idempotent: this.#given.idempotent,
      nowMs,
    });
    recordDecision(this, known, error, report, decision);
    if (decision.kind === 'retry') known.grantRetry(decision);
    if (decision.kind === 'retry' || this.#given.endsWithOwner) {
      this.pauses.each('drop');
      this.#phase = { kind: 'waiting', decision, skip };
    } else this.end(kind === 'aborted' ? 'cancelled' : 'failed');
    return decision;
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

  /** An attempt has failed, and its owner is asked what follows; `decision`: what was decided already. */
  recordError(error: unknown, nowMs: number, decision: Decision | undefined): void {
    (this.#failures ??= new Failures()).recordError(error, nowMs, decision);
    // The attempt that was asked for is over.
    this.urgency.take();
  }

  /** React Query, which asks what follows, waits until then. */
  waitUntil(dueAt: number): void {
    this.#failures?.waitUntil(dueAt);
  }

  /** The user wants it now: what is paused goes, and a wait in a loop of ours ends. */
  retryNow(): void {
    const phase = this.#phase;
    this.pauses.each('go');
    if (phase.kind !== 'waiting') return;
    this.urgency.urge();
    phase.skip?.();
  }

  /** The user has cancelled it: it ends with this error. */
  cancel(error: unknown, report: FailureReport): void {
    const { clock, random } = this.#shared;
    const given = { nowMs: clock.now(), random, isCancelled: true };
    const decision = decide(
      failures.aborted,
      this.view(report.request),
      this.policyOf(report.request),
      given,
    );
    const known = (this.#failures ??= new Failures());
    recordDecision(this, known, error, report, decision, failures.aborted);
    this.end('cancelled');
  }

  /** It is over: without a result, silently; and so is one whose beginning was not told. */
  end(result?: OperationResult): void {
    if (result && this.#isTold) this.emit({ type: 'operation:end', result });
    if (this.#phase.kind !== 'ended')
      this.#phase = result === 'succeeded' ? succeeded : { kind: 'ended', result };
    this.#steps = undefined;
    this.#answered = undefined;
    this.pauses.each('drop');
    this.#owner = this.#owner.past();
  }

  /** Where its attempts are objects of their own: what the next one begins with. */
  handOver(): HandedOver {
    return { ref: this.#ref, attempt: this.attempt, isTold: this.#isTold };
  }

  /** All that it does is done elsewhere: it looks as that does. */
  mirror({ phase, attempt, pauses, decision, lastError }: Shown): void {
    this.#phase = phase;
    this.#attempt = attempt ?? this.#attempt;
    this.pauses.mirror(pauses ?? none);
    (this.#failures ??= new Failures()).mirror(decision, lastError);
  }

  /** Emits an event. An operation that has ended is silent, whatever of it is still under way. */
  emit(detail: EventDetail): void {
    const { clock, emitter } = this.#shared;
    if (!emitter.isHeard() || this.#phase.kind === 'ended') return;
    // A query may be paused before its first attempt. A lone request, which has no attempts, is no more than that.
    const isStart =
      detail.type === 'attempt:start' || (detail.type === 'pause:start' && !this.request);
    if (isStart && !this.#isTold) {
      this.#isTold = true;
      this.emit({ type: 'operation:start' });
    }
    const at = clock.now() - (clock.setBackMs?.() ?? 0);
    emitter.emit({ ...detail, at, operation: { ...this.#ref, attempt: this.attempt } });
  }

  /** One of its requests waits for admission, or waits for another reason than before. */
  pause(request: PausedAttempt): void {
    const isNew = this.pauses.add(request, this.#shared.clock.now());
    if (isNew && this.#phase === sending) this.#phase = paused;
    // Thousands may be told at once.
    if (this.#shared.emitter.isHeard()) this.emit({ type: 'pause:start', ...request.pause });
    this.notifyOwner();
  }

  /** It waits no longer. */
  resume(request: PausedAttempt, result: PauseResult): void {
    const isOver = this.pauses.remove(request, this.#shared.clock.now());
    if (isOver && this.#phase === paused) this.#phase = sending;
    this.emit({ type: 'pause:end', result });
    this.notifyOwner();
  }

  /** What is paused was asked for again. */
  renew(): void {
    this.urgency.renew(this.#shared.clock.now());
  }

  /** All that was said of how its failures are answered. */
  policyOf(facts: RequestFacts = noFacts): Policy {
    const { policy } = this.#shared;
    this.#layered = layerPolicies(this.#layered, policy, this.#policy, facts);
    return this.#layered?.merged ?? policy;
  }

  /** The operation as the policy, `shouldRetry` and errors see it: a value that no longer changes. */
  view(facts: RequestFacts = noFacts): OperationView {
    const { idempotent } = this.#given;
    const { pausedMs } = this.pauses;
    const { at = this.#ref.startedAt, pausedMs: before = 0 } = this.#progress ?? {};
    const since = { progressedAt: at, pausedMs: pausedMs - before };
    return this.failures.view(this.#ref, this.#attempt, idempotent, since, facts);
  }
}

/** The operation whose request has failed, where it is known. */
export const operationOf = ({ operation }: FailureReport): Operation | undefined =>
  operation instanceof Operation ? operation : undefined;
