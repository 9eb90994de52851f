import { inDevelopment } from '../../lib/development.ts';
import { reasonOf } from '../../lib/abort.ts';
import { reporterOf } from '../../lib/input/callback.ts';
import { decide, type Decision, processedAtEnd } from '../../policy/decide.ts';
import {
  isSafeMethod,
  type OperationFacts,
  type OperationRef,
  type RetryReason,
} from '../../policy/operation.ts';
import type { Policy } from '../../policy/options.ts';
import { shownBy } from '../../origin/health/health.ts';
import { type Failure, failures, isRefusal, type Processed } from '../../policy/outcome.ts';
import type { Environment } from '../environment.ts';
import type { EventDetail } from '../events.ts';
import { reportFailure, reportOf } from '../error-info.ts';
import { failureOfAbort, isSteadfetchError } from '../errors.ts';
import type { FailureReport, RequestFacts } from '../facts.ts';
import type { Effects } from './effects.ts';
import type { Route } from './route.ts';

/** The operation that has failed. */
interface Failed {
  readonly ref: Omit<OperationRef, 'attempt'>;
  readonly given: {
    readonly idempotent?: boolean | undefined;
    readonly endsWithOwner?: boolean | undefined;
  };
  readonly effects: Effects;
  readonly submission?: { readonly isTaken: boolean } | undefined;
  readonly policyOf: (facts?: RequestFacts) => Policy;
  readonly view: (facts?: RequestFacts) => OperationFacts;
  readonly emit: (detail: EventDetail) => void;
}

/** An aborted signal. Without `aborted`, Steadfetch itself dropped the request. */
type Aborted = { readonly aborted?: boolean; readonly reason?: unknown };

// Shared: most operations never fail.
const noReasons: readonly RetryReason[] = [];

const remedy = inDevelopment(
  () => 'the status table decides. It must be synchronous and return true, false or undefined',
);

/** The errors of an operation, what they mean if they do not say so themselves, and the decisions about them. */
export class KnownErrors {
  /** The latest decision; undefined while the latest failure has none. */
  decision: Decision | undefined;
  lastError: unknown;
  /** When the latest failure that React Query is asked about occurred, in epoch milliseconds. */
  failedAt: number | undefined;
  /** When React Query continues after the wait that it was given, in epoch milliseconds. */
  dueAt: number | undefined;
  /** How many failed attempts were trials of their origin, which use up no retries. */
  trials = 0;
  /** The reasons of the granted retries. */
  retriedFor: readonly RetryReason[] = noReasons;
  previousBackoffMs: number | undefined;
  /** How long React Query has waited before the retries so far, pauses not included. */
  waitedMs = 0;
  readonly #effects: Effects;
  /** The latest request of another client, if it failed. */
  #raw: FailureReport | undefined;
  /** The caller's abort reason, once thrown, with its meaning. Boxed, because a reason may be any value. */
  #abort: { readonly reason: unknown; readonly report: FailureReport } | undefined;
  /** The present attempt was paused for too long, and ended with the failure before it. */
  #expired: { readonly error: unknown; readonly retryAt: number | undefined } | undefined;
  #isCounted = false;
  /** The abort of an earlier attempt. */
  #abortBefore: { readonly reason: unknown } | undefined;

  constructor(effects: Effects) {
    this.#effects = effects;
  }

  /** The failure of another client's latest request, which it may hand out instead of throwing it. */
  get raw(): FailureReport | undefined {
    return this.#raw;
  }
  /** Records the failure of another client's latest request; undefined if its error carries it. */
  recordRaw(report?: FailureReport): void {
    this.#raw = report;
  }

  /**
   * Records a failed attempt. `decision`: one that was made already. `askedAt`: when React Query is asked
   * what follows.
   */
  recordError(error: unknown, decision: Decision | undefined, askedAt?: number): void {
    this.waitedMs += Math.max(0, (this.dueAt ?? 0) - (this.failedAt ?? Infinity));
    this.decision = decision;
    this.lastError = error;
    this.failedAt = askedAt;
  }

  /** The app's own `retry` has the last word on it. */
  recordOwnRetry(): void {
    this.#isCounted = true;
  }

  /** Records until when React Query waits. */
  waitUntil(dueAt: number): void {
    this.dueAt = dueAt;
  }

  /** Begins another attempt. */
  next(): void {
    this.#raw = undefined;
    this.#expired = undefined;
    this.#abortBefore = this.#abort;
  }

  /** Forgets the retries before this attempt, which made progress. */
  forgetBefore(attempt: number): void {
    if (this.failedAt === undefined) return;
    this.trials = attempt - 1;
    this.retriedFor = noReasons;
    this.previousBackoffMs = undefined;
    this.waitedMs = 0;
  }

  /** Shows the errors of another operation that does all of its work. An undefined value leaves the one before. */
  mirror(decision: Decision | undefined, lastError: unknown): void {
    this.decision = decision ?? this.decision;
    this.lastError = lastError ?? this.lastError;
  }

  /** Records that the present attempt was paused for too long. @returns the failure before it, with which it ends. */
  recordExpiry(retryAt: number | undefined): unknown {
    this.#expired = { error: this.lastError, retryAt };
    return this.lastError;
  }

  /** Records an abort. @returns the caller's own reason, as fetch rejects with it. */
  abortBy(signal: Aborted, report: FailureReport): unknown {
    const reason = reasonOf(signal);
    this.#abort = { reason, report };
    return reason;
  }

  /** Records the abort of a request that was not sent. Other requests with the same signal may have been sent. */
  abortUnsent(request: RequestFacts | undefined, signal: Aborted): unknown {
    const isUnknown = this.#effects.isUnknown();
    const shown = failureOfAbort(signal.reason, {
      kind: 'timeout',
      phase: 'headers',
      processed: 'unknown',
    });
    const failure: Failure = isUnknown ? shown : { ...shown, processed: 'no' };
    const unsent = signal.aborted ? 'aborted' : 'dropped';
    const report: FailureReport = { request, failure, unsent };
    const reason = this.abortBy(signal, report);
    const { kind } = reportOf(reason, 0).failure;
    // One reason may stop several operations, so its report must hold for all of them.
    if (kind === 'error' || (kind === failure.kind && isUnknown)) reportFailure(reason, report);
    return reason;
  }

  /** The meaning of the caller's own abort reason; undefined for any other error. */
  abortOf(error: unknown): FailureReport | undefined {
    const abort = this.#abort;
    return abort?.reason === error ? abort?.report : undefined;
  }

  /** The report of the error that ended an attempt: its own, or that of the request that it was created from. */
  reportOf(error: unknown, nowMs: number): FailureReport {
    const own = reportOf(error, nowMs);
    const raw = this.#raw;
    const abort = this.abortOf(error);
    if (abort) return { ...own, ...abort };
    return raw && !own.operation && isAbout(own, raw) ? { ...raw } : own;
  }

  /**
   * The same, with the meaning of the failure for the policy.
   *
   * The abort of the operation's own signal is not decided about: its owner ends it. Any other abort is of a
   * request within it, after which React Query continues. With `endsByAbort` it ends the operation: this is
   * how an app cancels a mutation, which React Query would not send again.
   */
  classify(
    error: unknown,
    { classifyError }: Environment,
    nowMs: number,
    endsByAbort: boolean,
  ): FailureReport {
    const report = this.reportOf(error, nowMs);
    const read = this.abortOf(error) ? report.failure : classifyError(error, report.failure);
    const { kind, processed } = read;
    if (report.unsent && this.#isOver(error, report.unsent))
      return { ...report, failure: { kind: 'aborted', processed } };
    const isWithin = kind === 'aborted' && !endsByAbort;
    return { ...report, failure: isWithin ? { kind: 'error', processed } : read };
  }

  /**
   * Whether nothing more will be sent: Steadfetch dropped the request, or its signal was already aborted in
   * an earlier attempt and stays so.
   */
  #isOver(error: unknown, unsent: FailureReport['unsent']): boolean {
    const before = this.#abortBefore;
    return unsent === 'dropped' || (before !== undefined && before.reason === error);
  }

  /**
   * Decides whether and when another attempt follows a failure, and records the decision. `route`: where its
   * request went.
   */
  decide(
    operation: Failed,
    shared: Environment,
    error: unknown,
    report: FailureReport,
    route: Route,
    nowMs: number,
  ): Decision {
    const policy = operation.policyOf(report.request);
    const expired = this.#expired;
    const decision: Decision =
      expired && isFrom(error, expired.error)
        ? { kind: 'stop', reason: 'paused-too-long', retryAt: expired.retryAt }
        : this.#decideBy(operation, shared, report, policy, route, nowMs);
    this.recordDecision(operation, error, report, decision);
    if (decision.kind === 'retry') {
      this.retriedFor = this.retriedFor.concat(decision.reason);
      this.previousBackoffMs = decision.backoffMs;
    }
    return decision;
  }

  /** Decides by the policy, by what its origin knows, and by what the operation may have done. */
  #decideBy(
    operation: Failed,
    shared: Environment,
    report: FailureReport,
    policy: Policy,
    route: Route,
    nowMs: number,
  ): Decision {
    const { failure, request, effect } = report;
    const there = route.fail(failure, nowMs, report.operation === operation ? request : undefined);
    const isQuery = operation.ref.kind === 'query';
    // The app's own `retry` counts every attempt, also probes and refusals: they keep React Query's pace.
    const isCounted = this.#isCounted || (isQuery && !!operation.given.endsWithOwner);
    if (there.isTrial && !isCounted) this.trials++;
    // The next attempt is paused where this one went, without backoff: a query before the attempt begins,
    // anything else by its request, and so not if the failure is not a request's.
    const isOurs = request?.url !== undefined;
    const isDown = !!there.isLate || ((isQuery || isOurs) && !!there.isDown);
    // The effect of this request is already an input of the decision.
    effect?.allowRepeat();
    return decide(failure, operation.view(request), policy, {
      ...there,
      nowMs,
      random: shared.random,
      isUnrepeatable: isUnrepeatable(operation),
      isUnseen: isUnseen(operation, report),
      isDown: !isCounted && isDown,
      isUnpaused: !route.at || (there.isUnpaused && isOurs) || pausesNothing(failure),
      waitedMs: this.waitedMs,
      isCounted,
      isSuperseded: request?.write?.obstacle() === 'superseded',
      onMistake: policy.shouldRetry && reporterOf(shared.emitter, 'shouldRetry', remedy),
    });
  }

  /** Ends the operation with this error, because the user cancelled it. */
  recordCancel(operation: Failed, error: unknown, report: FailureReport): Decision {
    const decision: Decision = { kind: 'stop', reason: 'cancelled', retryAt: undefined };
    return this.recordDecision(operation, error, report, decision, failures.aborted);
  }

  /** Records a decision on the error and in the effects of the operation, and emits it. @returns the same decision. */
  recordDecision(
    operation: Failed,
    error: unknown,
    report: FailureReport,
    decision: Decision,
    failure: Failure = report.failure,
  ): Decision {
    const { maxRetries } = operation.policyOf(report.request);
    this.decision = decision;
    this.lastError = error;
    const { method, url } = report.request ?? {};
    if (mayHaveTakenEffect(report, operation)) {
      // Of another client's request only the error is known. Requests of ours are counted already.
      const isOwn = report.operation === operation && method !== undefined && !isSafeMethod(method);
      if (!isOwn) this.#effects.beginForeign(true);
    }
    const own = report.failure;
    const shown =
      decision.kind === 'stop'
        ? speakForAll(error, own, processedAtEnd(own, operation.ref, this.#effects.isUnknown()))
        : own;
    this.keep(error, { ...report, failure: shown, operation, decision });
    operation.emit({ type: 'decision', failure, decision, error, method, url, maxRetries });
    return decision;
  }

  /** Keeps a report on its error or, if the error is the caller's abort reason, here. */
  keep(error: unknown, report: FailureReport): void {
    if (this.abortOf(error)) this.#abort = { reason: error, report };
    reportFailure(error, report);
  }
}

/** Whether a failure is neither a sign of an outage nor of a rate limit, so that nothing is paused after it. */
const pausesNothing = (failure: Failure): boolean =>
  shownBy(failure) !== 'outage' && !isRefusal(failure);

/** Whether another attempt would do something twice. A queryFn reads, whatever it sends. */
const isUnrepeatable = ({ ref, given, effects }: Failed): boolean =>
  ref.kind !== 'query' && !given.idempotent && effects.isUnrepeatable();

/**
 * Whether a mutation has failed by the error of another client, whose requests are not seen: its mutationFn may have
 * sent others before that one. Where it has taken its key, the app says that they carry it.
 */
const isUnseen = ({ ref, submission }: Failed, { operation, unsent }: FailureReport): boolean =>
  ref.kind === 'mutation' && !operation && !unsent && !submission?.isTaken;

/** Makes the error that an operation ends with cover all of its requests. */
export function speakForAll(error: unknown, failure: Failure, processed: Processed): Failure {
  if (processed === failure.processed) return failure;
  const outcome = { ...failure, processed } as const;
  try {
    if (isSteadfetchError(error)) Object.assign(error, { outcome });
  } catch {
    // A frozen error, or a proxy of the app's, stays as it is.
  }
  return outcome;
}

/** Whether an error without a report of its own is about this request: it says nothing, or its status and maybe its method. */
const isAbout = ({ failure, request }: FailureReport, sent: FailureReport): boolean =>
  failure.kind === 'error' ||
  ((request?.method ?? sent.request?.method) === sent.request?.method &&
    failure.kind === 'http' &&
    sent.failure.kind === 'http' &&
    failure.status === sent.failure.status);

/** Whether it is this error, or what a client has made of it. */
function isFrom(error: unknown, source: unknown): boolean {
  try {
    return Object.is(error, source) || (Object(error) as { cause?: unknown }).cause === source;
  } catch {
    // A getter of the app's error threw.
    return false;
  }
}

/** Whether an operation that ends with this failure may have taken effect. */
export function mayHaveTakenEffect(
  { failure, request }: FailureReport,
  operation: { readonly ref: Pick<OperationRef, 'kind'>; readonly effects: Effects } | undefined,
): boolean {
  const method = request?.method ?? usualMethod(operation?.ref.kind);
  return (failure.processed !== 'no' && !isSafeMethod(method)) || !!operation?.effects.isUnknown();
}

/** The method of another client's request: a query reads, anything else may write. */
export const usualMethod = (kind: OperationRef['kind'] | undefined): string =>
  kind === 'query' ? 'GET' : 'POST';
