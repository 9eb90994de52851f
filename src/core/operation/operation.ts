import { inDevelopment } from '../lib/development.ts';
import type { Decision } from '../policy/decide.ts';
import { isIdempotentMethod, type OperationFacts, type OperationRef } from '../policy/operation.ts';
import { layer, type Policy, type PolicyOptions } from '../policy/options.ts';
import type { AttemptLimit, Environment, PausedAttempt, SubmissionHook } from './environment.ts';
import type { EventDetail, OperationResult, PauseResult } from './events.ts';
import type { FailureReport, RequestFacts } from './facts.ts';
import {
  noOwner,
  type HandedOver,
  type OperationInit,
  type Owner,
  paused,
  type Phase,
  sending,
  type Shown,
  succeeded,
} from './owner.ts';
import { Effects } from './parts/effects.ts';
import { KnownErrors, usualMethod } from './parts/known-errors.ts';
import { none, Pauses } from './parts/pauses.ts';
import { Route } from './parts/route.ts';
import type { Submission, Steps } from './parts/submission.ts';
import type { Session } from './parts/session.ts';
import { warnOfLoop } from './warn-of-loop.ts';
import type { Write } from './write-order.ts';

/** Without sleep, timers are late by at most this: those of a hidden tab. */
const latestMs = 1000;

/** A policy, with the parts that it was merged from. */
interface LayeredPolicy extends Partial<Record<'api' | 'own' | 'call', PolicyOptions | undefined>> {
  readonly merged: Policy;
}

/** A read that is late. */
interface OpenRead {
  /** Whether its answer may still be used. */
  readonly isOpen: boolean;
  readonly abort: () => void;
}

/**
 * One thing that the app wants done, with all of its attempts. Any module may read its fields; only its
 * methods write them.
 */
export class Operation {
  /** The identity of the operation, without the number of the current attempt. */
  ref: Omit<OperationRef, 'attempt'>;
  attempt: number;
  phase: Phase = sending;
  owner: Owner<Operation> = noOwner;
  policy: PolicyOptions | undefined;
  attemptLimit: AttemptLimit | undefined;
  /** The keyed requests so far, with the bytes that they send. Dropped at the end. */
  steps: Steps | undefined;
  /** The code that belongs to a submission, or to a key that was sent. */
  submissionCode: SubmissionHook | undefined;
  /** When the user last requested it, in epoch milliseconds. Of the waiting requests, the oldest goes first. */
  askedAt: number;
  /** A user pressed for its next request, which is sent whatever the state of its origin. */
  isUrged: boolean;
  /** One request of its attempt failed as the probe, or by a limit, for which others wait: those are answered at another time. */
  isSplit = false;
  /** How many of its requests are under way, or paused before they are sent. */
  open = 0;
  readonly given: OperationInit;
  readonly submission: Submission | undefined;
  readonly effects: Effects;
  readonly errors: KnownErrors;
  readonly pauses: Pauses = new Pauses();
  readonly route: Route;
  readonly #shared: Environment;
  #session: Session;
  /** The mutation that it was of is gone. */
  #isLeft = false;
  #layered: LayeredPolicy | undefined;
  #late: OpenRead[] | undefined;
  /** Whether its start was emitted. */
  #isStarted: boolean | undefined;
  /** The requests that succeeded. */
  #answered: Set<string> | undefined;
  /** The writes, by the resource that they write to. */
  #writes: Map<string, Write> | undefined;
  /** The last progress: when, in epoch milliseconds, and how long the operation had been paused before. */
  #progress: { readonly at: number; readonly pausedMs: number } | undefined;

  constructor(shared: Environment, ref: Operation['ref'], given: OperationInit, session: Session) {
    const { before, submission } = given;
    this.#shared = shared;
    this.#session = session;
    this.given = given;
    this.ref = before?.ref ?? ref;
    this.attempt = given.attempt ?? 1;
    this.policy = given.policy;
    this.submission = submission;
    this.submissionCode = given.submissionCode;
    this.askedAt = ref.startedAt;
    this.isUrged = !!given.isUrged;
    this.effects = new Effects(submission);
    this.errors = new KnownErrors(this.effects);
    // The waits before its first attempts are not known.
    if (this.attempt > 1) this.errors.waitedMs = Infinity;
    this.route = new Route(given.at);
    this.#isStarted = before?.isStarted;
    this.#writes = before?.writes;
  }

  /** Sets the owner of its current attempt and of those that follow. */
  attend(owner: Owner<Operation>): void {
    this.owner = owner;
  }

  /** Turns it into the operation of a plain React Query mutation. */
  becomeMutation(policy: PolicyOptions | undefined): void {
    this.ref = { ...this.ref, kind: 'mutation' };
    this.policy = policy;
  }

  /** Nothing more of it is sent, because its session or its mutation is gone. What is under way ends by itself. */
  get isLeft(): boolean {
    return this.#isLeft || this.#session.isOver;
  }
  leave(): void {
    this.#isLeft = true;
  }
  /** For a mutationFn that runs on after its mutation is gone: each request is sent at once, without retries, or not at all. */
  hurry(): void {
    this.policy = { ...this.policy, maxRetries: 0, whenDown: 'fail' };
  }
  /** Moves the operation to this session. */
  join(session: Session): void {
    this.#session = session;
  }

  /** True for a single request outside any query, mutation or entry. */
  get isLone(): boolean {
    return this.given.request !== undefined;
  }
  /** True if attempts are not retried, so that a loop inside the operation is the only one. */
  get isSingle(): boolean {
    return this.isLone || this.policyOf().maxRetries === 0;
  }

  /** True for a query that its app never retries. */
  get isOnce(): boolean {
    return this.ref.kind === 'query' && this.#isSpent(0);
  }
  /** True for a query or a mutation that makes no attempt after this one, if it fails. */
  isLastAttempt(request: RequestFacts): boolean {
    const retries = this.attempt - 1 - this.errors.trials;
    return this.ref.kind !== 'call' && this.#isSpent(retries, request);
  }
  /** Whether no retry is left after so many, for an operation that waits for its server. */
  #isSpent(retries: number, request?: RequestFacts): boolean {
    const { maxRetries, whenDown } = this.policyOf(request);
    return retries >= maxRetries && whenDown === 'pause';
  }

  /** Begins the next attempt. The time since it was due counts as paused. */
  next(): void {
    const now = this.#shared.clock.now();
    const dueAt = this.errors.decision?.retryAt ?? now;
    this.attempt++;
    this.isSplit = false;
    this.phase = sending;
    this.errors.next();
    this.pauses.count(dueAt, now);
    // A timer this late means the device slept: the request counts as new.
    if (now - dueAt > latestMs) this.askedAt = now;
  }

  /** Records that a request of it begins, however it is linked to it. @returns a function that reports its end. */
  beginRequest(url: string): () => void {
    const end = this.attemptLimit?.beginRequest(url);
    this.open++;
    return () => {
      this.open--;
      end?.();
    };
  }

  /** Sets the time limit of the current attempt; undefined for none. */
  limitAttempt(limit: AttemptLimit | undefined): void {
    this.attemptLimit = limit;
  }

  /** A keyed request begins: its steps, and the code for them, stay with the operation. */
  keepSteps<S extends Steps>(steps: S): S {
    this.steps = steps;
    return steps;
  }
  useSubmissionCode(code: SubmissionHook): void {
    this.submissionCode ??= code;
  }

  /**
   * Records that a request succeeded. The first time is progress: the deadline counts from here and, if the
   * next attempt resumes here, so do the retries. Not for mutations: a write must never be sent that late.
   */
  recordAnswer(request: string): void {
    if (this.ref.kind === 'mutation') return;
    this.#answered ??= new Set();
    if (this.#answered.has(request)) return;
    this.#answered.add(request);
    this.#progress = { at: this.#shared.clock.now(), pausedMs: this.pauses.pausedMs };
    if (this.given.isResumed) this.errors.forgetBefore(this.attempt);
  }

  /**
   * Records a failed attempt. `decision`: one that was made already. `askedAt`: when React Query is asked
   * what follows.
   */
  recordError(error: unknown, decision: Decision | undefined, askedAt?: number): void {
    this.errors.recordError(error, decision, askedAt);
    // The attempt that the user pressed for is over.
    this.isUrged = false;
  }

  /**
   * Decides about the failure of the current attempt, and records the decision. `skip` ends the wait that
   * follows.
   */
  fail(error: unknown, nowMs: number, skip?: () => void): Decision {
    const { errors, given } = this;
    inDevelopment(() => warnOfLoop(this.#shared.emitter, this, error));
    const endsByAbort = this.ref.kind === 'mutation' && !given.endsWithOwner;
    const report = errors.classify(error, this.#shared, nowMs, endsByAbort);
    // Answers to requests without the query's signal, or of another client, cannot be seen. That a different
    // page fails now shows that the pages before it succeeded.
    if (given.isResumed && report.operation !== this)
      this.recordAnswer(`before ${report.request?.method} ${report.request?.url}`);
    this.submissionCode?.recordStored(this, report);
    // A request that cannot be linked to its query is an operation of its own.
    const { route } = (this.route.at ? this : operationOf(report)) ?? this;
    const made = this.#decidedWithin(operationOf(report));
    const decision = this.isLeft
      ? errors.recordCancel(this, error, report)
      : made
        ? errors.recordDecision(this, error, report, made)
        : errors.decide(this, this.#shared, error, report, route, nowMs);
    if (decision.kind === 'retry' || given.endsWithOwner) {
      this.pauses.each('drop');
      this.phase = { kind: 'waiting', decision, skip };
    } else this.end(decision.reason === 'aborted' ? 'cancelled' : 'failed');
    return decision;
  }

  /** The decision to give up another query that this one has asked for, if that was retried: its retries are those of this one. */
  #decidedWithin(other: Operation | undefined): Decision | undefined {
    const isWithin = other?.given.within === this.ref.id && other.attempt > 1;
    const decision = isWithin ? other.errors.decision : undefined;
    return decision?.kind === 'stop' ? decision : undefined;
  }

  /** The user pressed Try now: its pauses end, and so does a wait in the retry loop. */
  retryNow(): void {
    const { phase } = this;
    this.pauses.each('go');
    if (phase.kind !== 'waiting') return;
    this.urge();
    phase.skip?.();
  }

  /** Marks its next request, or that of the operation that replaces it, as pressed for by a user. */
  urge(): void {
    this.isUrged = true;
  }

  /** Clears that mark, because the request is sent. @returns whether it was set. */
  takeUrge(): boolean {
    const { isUrged } = this;
    this.isUrged = false;
    return isUrged;
  }

  /** Ends the operation with this error, because the user cancelled it. */
  cancel(error: unknown, report: FailureReport): void {
    this.errors.recordCancel(this, error, report);
    this.end('cancelled');
  }

  /** Ends the operation. No event is emitted without a result, or if its start was not emitted. */
  end(result?: OperationResult): void {
    if (result && this.#isStarted) this.emit({ type: 'operation:end', result });
    if (this.phase.kind !== 'ended')
      this.phase = result === 'succeeded' ? succeeded : { kind: 'ended', result };
    this.steps = undefined;
    this.#answered = undefined;
    if (this.pauses.list !== none) this.pauses.each('drop');
    this.owner = this.owner.past();
    for (const read of this.#late ?? none) read.abort();
    this.#late = undefined;
    for (const write of this.#writes?.values() ?? none) write.end();
  }

  /** Whether a read of it that is late may still be answered. */
  get isLate(): boolean {
    return !!this.#late?.some(({ isOpen }) => isOpen);
  }

  /** Aborts a read of it that is late, at its end. */
  keepLate(read: OpenRead): void {
    (this.#late ??= []).push(read);
  }

  /** The state to begin the next attempt with, if that is an object of its own. */
  handOver(): HandedOver {
    const writes = this.#writes;
    return { ref: this.ref, attempt: this.attempt, isStarted: this.#isStarted, writes };
  }

  /** @returns the write of this operation to the resource. */
  writeTo(resource: string): Write | undefined {
    return this.#writes?.get(resource);
  }
  keepWrite(resource: string, write: Write): void {
    this.#writes = (this.#writes ?? new Map<string, Write>()).set(resource, write);
  }

  /** Shows the state of another operation that does all of its work. */
  mirror({ phase, attempt, pauses, decision, lastError }: Shown): void {
    this.phase = phase;
    this.attempt = attempt ?? this.attempt;
    this.pauses.mirror(pauses ?? none);
    this.errors.mirror(decision, lastError);
  }

  /** Emits an event. An operation that has ended is silent, even if requests are still in flight. */
  emit(detail: EventDetail): void {
    const { clock, emitter } = this.#shared;
    if (!emitter.isHeard || this.phase.kind === 'ended') return;
    // A query may be paused before its first attempt. A lone request has no attempts, so its pause starts
    // nothing.
    const isStart =
      detail.type === 'attempt:start' || (detail.type === 'pause:start' && !this.given.request);
    if (isStart && !this.#isStarted) {
      this.#isStarted = true;
      this.emit({ type: 'operation:start' });
    }
    const at = clock.now() - (clock.setBackMs?.() ?? 0);
    emitter.emit({ ...detail, at, operation: { ...this.ref, attempt: this.attempt } });
  }

  /** Records that one of its requests waits for admission, or that the reason for waiting changed. */
  pause(request: PausedAttempt): void {
    const { clock, emitter } = this.#shared;
    if (this.pauses.add(request, clock.now()) && this.phase === sending) this.phase = paused;
    // Thousands may be paused at once, so no event object is created in vain.
    if (emitter.isHeard) this.emit({ type: 'pause:start', ...request.pause });
    this.owner.onChange(this);
  }

  /** Records that a request has failed for all that wait. */
  splitIfPaused(): void {
    this.isSplit ||= this.pauses.list.length > 0;
  }

  /** Records that a request no longer waits. */
  resume(request: PausedAttempt, result: PauseResult): void {
    if (this.pauses.remove(request, this.#shared.clock.now()) && this.phase === paused)
      this.phase = sending;
    this.emit({ type: 'pause:end', result });
    this.owner.onChange(this);
  }

  /** Records that the operation was requested again while paused. */
  renew(): void {
    this.askedAt = this.#shared.clock.now();
  }

  /**
   * The policy for its failures: the policies of an API, the operation and a call, over that of the instance.
   * Usually the same for every request, and slow to merge, so the latest is cached.
   */
  policyOf({ apiPolicy: api, callPolicy: call }: RequestFacts = {}): Policy {
    const { policy: shared } = this.#shared;
    const { policy: own } = this;
    let known = this.#layered;
    if (known?.api !== api || known?.own !== own || known?.call !== call)
      this.#layered = known = { merged: layer(shared, api, own, call), api, own, call };
    return known?.merged ?? shared;
  }

  /** When its deadline is, in epoch milliseconds. */
  dueAt(request: RequestFacts): number {
    const { startedAt, progressedAt = startedAt, pausedMs } = this.view(request);
    return progressedAt + pausedMs + this.policyOf(request).deadlineMs;
  }

  /** The operation as the policy, `shouldRetry` and errors see it: an immutable value. */
  view({ method, url, keyed = false, idempotent }: RequestFacts = {}): OperationFacts {
    const { id, kind, startedAt, queryKey } = this.ref;
    const { trials, retriedFor, previousBackoffMs } = this.errors;
    const { at: progressedAt = startedAt, pausedMs: before = 0 } = this.#progress ?? {};
    const known = method ?? usualMethod(kind);
    // Field by field: it is created for every failure, and a spread takes several times as long.
    return {
      id,
      kind,
      startedAt,
      queryKey,
      attempt: this.attempt,
      trials,
      method: known,
      url,
      keyed,
      idempotent: !!(this.given.idempotent || idempotent) || isIdempotentMethod(known),
      retriedFor,
      previousBackoffMs,
      progressedAt,
      pausedMs: this.pauses.pausedMs - before,
    };
  }
}

/** The operation whose request failed, if known. */
export const operationOf = ({ operation }: FailureReport): Operation | undefined =>
  operation instanceof Operation ? operation : undefined;
