import type { Decision } from '../policy/decide.ts';
import {
  isIdempotentMethod,
  type Operation as OperationView,
  type OperationRef,
} from '../policy/operation.ts';
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
import { warnOfLoop } from './warn-of-loop.ts';
import type { Write } from './write-order.ts';

/** Timers are so late at most while nothing sleeps: those of a hidden tab. */
const latestMs = 1000;

/** A policy, and the parts that it was merged from. */
interface LayeredPolicy extends Partial<Record<'api' | 'own' | 'call', PolicyOptions | undefined>> {
  readonly merged: Policy;
}

/** One thing that the app wants done, and all of its attempts. Its fields are for all to read. */
export class Operation {
  /** Which one it is; the attempt is counted beside it. */
  ref: Omit<OperationRef, 'attempt'>;
  attempt: number;
  phase: Phase = sending;
  owner: Owner<Operation> = noOwner;
  policy: PolicyOptions | undefined;
  attemptLimit: AttemptLimit | undefined;
  /** Its keyed requests so far, with the bytes that they send, until it ends. */
  steps: Steps | undefined;
  /** The code that goes with a submission, or with a key that was sent. */
  submissionCode: SubmissionHook | undefined;
  /** When the user asked for it last, in epoch milliseconds: of what waits, the oldest goes first. */
  askedAt: number;
  /** A user has pressed for its next request: that goes whatever is known of its origin. */
  isUrged: boolean;
  readonly given: OperationInit;
  readonly submission: Submission | undefined;
  readonly isSingle: boolean | undefined;
  readonly request: string | undefined;
  /** Each of its requests has so many times the time limit of the policy. */
  readonly timeoutFactor: number;
  readonly effects: Effects;
  readonly errors: KnownErrors;
  readonly pauses: Pauses = new Pauses();
  readonly route: Route;
  readonly #shared: Environment;
  #layered: LayeredPolicy | undefined;
  /** Its start was emitted. */
  #isStarted: boolean | undefined;
  /** Its requests that were answered well. */
  #answered: Set<string> | undefined;
  /** Its writes, by the resource that they write to. */
  #writes: Map<string, Write> | undefined;
  /** When it last got on, in epoch milliseconds, and how long it was paused before. */
  #progress: { readonly at: number; readonly pausedMs: number } | undefined;

  constructor(shared: Environment, ref: Operation['ref'], given: OperationInit) {
    const { before, submission } = given;
    this.#shared = shared;
    this.given = given;
    this.ref = before?.ref ?? ref;
    this.attempt = given.attempt ?? 1;
    this.policy = given.policy;
    this.submission = submission;
    this.submissionCode = given.submissionCode;
    this.isSingle = given.isSingle;
    this.request = given.request;
    this.timeoutFactor = given.timeoutFactor ?? 1;
    this.askedAt = ref.startedAt;
    this.isUrged = !!given.isUrged;
    this.effects = new Effects(submission);
    this.errors = new KnownErrors(this.effects);
    this.route = new Route(given.at);
    this.#isStarted = before?.isStarted;
    this.#writes = before?.writes;
  }

  /** The owner of its present attempt, and of those that follow. */
  attend(owner: Owner<Operation>): void {
    this.owner = owner;
  }

  /** It is that of a plain mutation of React Query. */
  becomeMutation(policy: PolicyOptions | undefined): void {
    this.ref = { ...this.ref, kind: 'mutation' };
    this.policy = policy;
  }

  notifyOwner(): void {
    this.owner.onChange(this);
  }

  /** The next attempt begins. The time since it was due counts as paused. */
  next(): void {
    const now = this.#shared.clock.now();
    const dueAt = this.errors.decision?.retryAt ?? now;
    this.attempt++;
    this.phase = sending;
    this.errors.next();
    this.pauses.count(dueAt, now);
    // A timer this late means the device slept: it is asked for anew.
    if (now - dueAt > latestMs) this.askedAt = now;
  }

  /** The present attempt has this limit; undefined for none. */
  limitAttempt(limit: AttemptLimit | undefined): void {
    this.attemptLimit = limit;
  }

  /** A keyed request begins: its steps and their code are kept with it. */
  keepSteps(steps: Steps): Steps {
    return (this.steps = steps);
  }
  useSubmissionCode(code: SubmissionHook): void {
    this.submissionCode ??= code;
  }

  /**
   * A request of it was answered well. The first time that is progress: its deadline counts from here and,
   * where its next attempt goes on from here, so do its retries. A write is never sent so late.
   */
  recordAnswer(request: string): void {
    if (this.ref.kind === 'mutation') return;
    this.#answered ??= new Set();
    if (this.#answered.has(request)) return;
    this.#answered.add(request);
    this.#progress = { at: this.#shared.clock.now(), pausedMs: this.pauses.pausedMs };
    if (this.given.isResumed) this.errors.forgetBefore(this.attempt);
  }

  /** An attempt has failed; `decision`: what was decided already; `askedAt`: when React Query is asked what follows. */
  recordError(error: unknown, decision: Decision | undefined, askedAt?: number): void {
    this.errors.recordError(error, decision, askedAt);
    // The attempt that was asked for is over.
    this.isUrged = false;
  }

  /** Decides on the failure of the present attempt, and records it. `skip` ends the wait that follows. */
  fail(error: unknown, nowMs: number, skip?: () => void): Decision {
    const { errors, given } = this;
    if (process.env.NODE_ENV !== 'production') warnOfLoop(this.#shared.emitter, this, error);
    const endsByAbort = this.ref.kind === 'mutation' && !given.endsWithOwner;
    const report = errors.classify(error, this.#shared, nowMs, endsByAbort);
    // Answers to requests without its signal, or of another client, are not seen: that another page fails is.
    if (given.isResumed && report.operation !== this)
      this.recordAnswer(`before ${report.request?.method} ${report.request?.url}`);
    this.submissionCode?.recordStored(this, report);
    // A request that cannot be linked to its query is an operation of its own.
    const { route } = (this.route.at ? this : operationOf(report)) ?? this;
    const decision = errors.decide(this, this.#shared, error, report, route, nowMs);
    if (decision.kind === 'retry' || given.endsWithOwner) {
      this.pauses.each('drop');
      this.phase = { kind: 'waiting', decision, skip };
    } else this.end(decision.reason === 'aborted' ? 'cancelled' : 'failed');
    return decision;
  }

  /** The user wants it now: its pauses end, and so does a wait in a loop of ours. */
  retryNow(): void {
    const { phase } = this;
    this.pauses.each('go');
    if (phase.kind !== 'waiting') return;
    this.urge();
    phase.skip?.();
  }

  /** A user presses for its next request, or that of the operation that takes its place. */
  urge(): void {
    this.isUrged = true;
  }

  /** That request goes. @returns whether a user has pressed for it. */
  takeUrge(): boolean {
    const { isUrged } = this;
    this.isUrged = false;
    return isUrged;
  }

  /** The user has cancelled it: it ends with this error. */
  cancel(error: unknown, report: FailureReport): void {
    this.errors.recordCancel(this, error, report);
    this.end('cancelled');
  }

  /** It is over: without a result, silently; and so is one whose start was not emitted. */
  end(result?: OperationResult): void {
    if (result && this.#isStarted) this.emit({ type: 'operation:end', result });
    if (this.phase.kind !== 'ended')
      this.phase = result === 'succeeded' ? succeeded : { kind: 'ended', result };
    this.steps = undefined;
    this.#answered = undefined;
    if (this.pauses.list !== none) this.pauses.each('drop');
    this.owner = this.owner.past();
    for (const write of this.#writes?.values() ?? none) write.end();
  }

  /** Where its attempts are objects of their own: what the next one begins with. */
  handOver(): HandedOver {
    const writes = this.#writes;
    return { ref: this.ref, attempt: this.attempt, isStarted: this.#isStarted, writes };
  }

  /** Its write to this resource. */
  writeTo(resource: string): Write | undefined {
    return this.#writes?.get(resource);
  }
  keepWrite(resource: string, write: Write): void {
    this.#writes = (this.#writes ?? new Map<string, Write>()).set(resource, write);
  }

  /** All that it does is done elsewhere: it looks as that does. */
  mirror({ phase, attempt, pauses, decision, lastError }: Shown): void {
    this.phase = phase;
    this.attempt = attempt ?? this.attempt;
    this.pauses.mirror(pauses ?? none);
    this.errors.mirror(decision, lastError);
  }

  /** Emits an event. An operation that has ended is silent, whatever of it is still under way. */
  emit(detail: EventDetail): void {
    const { clock, emitter } = this.#shared;
    if (!emitter.isHeard || this.phase.kind === 'ended') return;
    // A query may be paused before its first attempt. A lone request, which has no attempts, is no more than that.
    const isStart =
      detail.type === 'attempt:start' || (detail.type === 'pause:start' && !this.request);
    if (isStart && !this.#isStarted) {
      this.#isStarted = true;
      this.emit({ type: 'operation:start' });
    }
    const at = clock.now() - (clock.setBackMs?.() ?? 0);
    emitter.emit({ ...detail, at, operation: { ...this.ref, attempt: this.attempt } });
  }

  /** One of its requests waits for admission, or waits for another reason than before. */
  pause(request: PausedAttempt): void {
    const { clock, emitter } = this.#shared;
    if (this.pauses.add(request, clock.now()) && this.phase === sending) this.phase = paused;
    // Thousands may be paused at once.
    if (emitter.isHeard) this.emit({ type: 'pause:start', ...request.pause });
    this.notifyOwner();
  }

  /** It waits no longer. */
  resume(request: PausedAttempt, result: PauseResult): void {
    if (this.pauses.remove(request, this.#shared.clock.now()) && this.phase === paused)
      this.phase = sending;
    this.emit({ type: 'pause:end', result });
    this.notifyOwner();
  }

  /** It is paused, and was asked for again. */
  renew(): void {
    this.askedAt = this.#shared.clock.now();
  }

  /**
   * How its failures are answered: the policies of an API, the operation and a call over that of the instance.
   * They are the same for each of its requests, as a rule, and merging takes long: so the latest is kept.
   */
  policyOf({ apiPolicy: api, callPolicy: call }: RequestFacts = {}): Policy {
    const { policy: shared } = this.#shared;
    const { policy: own } = this;
    let known = this.#layered;
    if (known?.api !== api || known?.own !== own || known?.call !== call)
      this.#layered = known = { merged: layer(shared, api, own, call), api, own, call };
    return known?.merged ?? shared;
  }

  /** The operation as the policy, `shouldRetry` and errors see it: a value that no longer changes. */
  view({ method, url, keyed = false, idempotent }: RequestFacts = {}): OperationView {
    const { id, kind, startedAt, queryKey } = this.ref;
    const { trials, retriedFor, previousBackoffMs } = this.errors;
    const { at: progressedAt = startedAt, pausedMs: before = 0 } = this.#progress ?? {};
    const known = method ?? usualMethod(kind);
    // Written out: it is made for every failure, and a spread takes several times as long.
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

/** The operation whose request has failed, where it is known. */
export const operationOf = ({ operation }: FailureReport): Operation | undefined =>
  operation instanceof Operation ? operation : undefined;
