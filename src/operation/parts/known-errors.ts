import { reasonOf } from '../../lib/abort.ts';
import { reporterOf } from '../../lib/input/callback.ts';
import { decide, type Decision, processedAtEnd } from '../../policy/decide.ts';
import {
  isSafeMethod,
  type Operation,
  type OperationRef,
  type RetryReason,
} from '../../policy/operation.ts';
import type { Policy } from '../../policy/options.ts';
import { type Failure, failures, type Processed } from '../../policy/outcome.ts';
import type { Environment } from '../environment.ts';
import type { EventDetail } from '../events.ts';
import { reportFailure, reportOf } from '../error-info.ts';
import { failureOfAbort, isSteadfetchError } from '../errors.ts';
import type { FailureReport, RequestFacts } from '../facts.ts';
import type { Write } from '../write-order.ts';
import type { Effects } from './effects.ts';
import type { Route } from './route.ts';

/** The operation that has failed. */
interface Failed {
  readonly ref: Omit<OperationRef, 'attempt'>;
  readonly given: { readonly idempotent?: boolean | undefined };
  readonly effects: Effects;
  readonly policyOf: (facts?: RequestFacts) => Policy;
  readonly view: (facts?: RequestFacts) => Operation;
  readonly emit: (detail: EventDetail) => void;
  readonly writeTo: (resource: string) => Write | undefined;
}

/** A signal that was aborted; without one, it is ours that drops a request. */
type Aborted = { readonly aborted?: boolean; readonly reason?: unknown };

// Most operations never fail, and share this one.
const noReasons: readonly RetryReason[] = [];

const remedy =
  process.env.NODE_ENV !== 'production' &&
  'the status table decides. It must be synchronous and return true, false or undefined';

/** The errors of an operation: what they mean where they do not say it themselves, and what was decided on them. */
export class KnownErrors {
  /** The latest decision; undefined while the latest failure waits for one. */
  decision: Decision | undefined;
  lastError: unknown;
  /** When the latest failed that React Query is asked about, in epoch milliseconds. */
  failedAt: number | undefined;
  /** When React Query, which was told to wait so long, goes on, in epoch milliseconds. */
  dueAt: number | undefined;
  /** How many failed attempts were trials of their origin: they use up no retries. */
  trials = 0;
  /** The reasons of the retries that were granted. */
  retriedFor: readonly RetryReason[] = noReasons;
  previousBackoffMs: number | undefined;
  readonly #effects: Effects;
  /** The latest request of another client, where it has failed. */
  #raw: FailureReport | undefined;
  /** The caller's abort reason, once it was thrown, and what it means; boxed, because a reason may be any value. */
  #abort: { readonly reason: unknown; readonly report: FailureReport } | undefined;
  /** That of an attempt before. */
  #abortBefore: { readonly reason: unknown } | undefined;

  constructor(effects: Effects) {
    this.#effects = effects;
  }

  /** The failure of the latest request of another client; undefined where its error says it. */
  recordRaw(report?: FailureReport): void {
    this.#raw = report;
  }

  /** An attempt has failed; `decision`: what was decided already; `askedAt`: when React Query is asked what follows. */
  recordError(error: unknown, decision: Decision | undefined, askedAt?: number): void {
    this.decision = decision;
    this.lastError = error;
    this.failedAt = askedAt;
  }

  /** React Query waits until then. */
  waitUntil(dueAt: number): void {
    this.dueAt = dueAt;
  }

  /** Another attempt begins. */
  next(): void {
    this.#raw = undefined;
    this.#abortBefore = this.#abort;
  }

  /** It has got on in this attempt: no retry before it counts. */
  forgetBefore(attempt: number): void {
    if (this.failedAt === undefined) return;
    this.trials = attempt - 1;
    this.retriedFor = noReasons;
    this.previousBackoffMs = undefined;
  }

  /** Those of an operation elsewhere, which does all that this one does; what is undefined stays. */
  mirror(decision: Decision | undefined, lastError: unknown): void {
    this.decision = decision ?? this.decision;
    this.lastError = lastError ?? this.lastError;
  }

  /** @returns the caller's own reason, as fetch rejects with it. */
  abortBy(signal: Aborted, report: FailureReport): unknown {
    const reason = reasonOf(signal);
    this.#abort = { reason, report };
    return reason;
  }

  /** The same of a request that was not sent. Others that the reason has stopped may have been. */
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
    // One reason may stop several operations.
    if (kind === 'error' || (kind === failure.kind && isUnknown)) reportFailure(reason, report);
    return reason;
  }

  /** The meaning of the caller's own reason; undefined for any other error. */
  abortOf(error: unknown): FailureReport | undefined {
    const abort = this.#abort;
    return abort?.reason === error ? abort?.report : undefined;
  }

  /** The report of an error that an attempt has ended in: its own, or that of the request that it was made of. */
  reportOf(error: unknown, nowMs: number): FailureReport {
    const own = reportOf(error, nowMs);
    const raw = this.#raw;
    const abort = this.abortOf(error);
    if (abort) return { ...own, ...abort };
    return raw && !own.operation && isAbout(own, raw) ? { ...raw } : own;
  }

  /**
   * The same, with what the failure means to the policy.
   *
   * The abort of its own signal is not decided on: its owner ends it. Any other is that of a request within it,
   * after which React Query goes on. It ends what has `endsByAbort`, which React Query would not send again: it
   * is how an app cancels a mutation.
   */
  classify(
    error: unknown,
    { classifyError }: Environment,
    nowMs: number,
    endsByAbort: boolean,
  ): FailureReport {
    const report = this.reportOf(error, nowMs);
    if (!this.abortOf(error)) report.failure = classifyError(error, report.failure);
    const { kind, processed } = report.failure;
    if (report.unsent && this.#isOver(error, report.unsent))
      report.failure = { kind: 'aborted', processed };
    else if (kind === 'aborted' && !endsByAbort) report.failure = { kind: 'error', processed };
    return report;
  }

  /**
   * Whether nothing is ever sent any more: we have dropped it, or its signal has ended an attempt before, and
   * is aborted for good.
   */
  #isOver(error: unknown, unsent: FailureReport['unsent']): boolean {
    const before = this.#abortBefore;
    return unsent === 'dropped' || (before !== undefined && before.reason === error);
  }

  /** Decides whether another attempt follows a failure, and when, and records it. `route`: where its request went. */
  decide(
    operation: Failed,
    shared: Environment,
    error: unknown,
    report: FailureReport,
    route: Route,
    nowMs: number,
  ): Decision {
    const { failure, request, effect } = report;
    const policy = operation.policyOf(request);
    const { isTrial, isLate, isDown, limitedMs, isAlone } = route.fail(failure, nowMs);
    if (isTrial) this.trials++;
    const isQuery = operation.ref.kind === 'query';
    // The next attempt is paused where this one went, without a wait of its own: that of a query before
    // it begins, any other by its request, and so not where something else has failed.
    const isPausedNext = isQuery || request?.url !== undefined;
    // The effect of this request itself is an input already.
    effect?.allowRepeat();
    const decision = decide(failure, operation.view(request), policy, {
      nowMs,
      random: shared.random,
      isUnrepeatable: !isQuery && !operation.given.idempotent && this.#effects.isUnrepeatable(),
      isDown: isLate || (isPausedNext && isDown),
      limitedMs,
      isAlone,
      isForeign: !route.at,
      isSuperseded: shared.writeOrder.isSuperseded(operation, request?.url),
      onMistake: policy.shouldRetry && reporterOf(shared, 'shouldRetry', remedy),
    });
    this.#recordDecision(operation, error, report, decision, failure, policy.maxRetries);
    if (decision.kind === 'retry') {
      this.retriedFor = this.retriedFor.concat(decision.reason);
      this.previousBackoffMs = decision.backoffMs;
    }
    return decision;
  }

  /** The user has cancelled the operation: it ends with this error. */
  recordCancel(operation: Failed, error: unknown, report: FailureReport): void {
    const decision: Decision = { kind: 'stop', reason: 'cancelled', retryAt: undefined };
    const { maxRetries } = operation.policyOf(report.request);
    this.#recordDecision(operation, error, report, decision, failures.aborted, maxRetries);
  }

  /** Records a decision, on the error and in what the operation may have done, and emits it. */
  #recordDecision(
    operation: Failed,
    error: unknown,
    report: FailureReport,
    decision: Decision,
    failure: Failure,
    maxRetries: number,
  ): void {
    this.decision = decision;
    this.lastError = error;
    const { method, url } = report.request ?? {};
    if (mayHaveTakenEffect(report, operation)) {
      // Of what another client has sent, all that is known is its error. Our own is counted already.
      const isOwn = report.operation === operation && method !== undefined && !isSafeMethod(method);
      if (!isOwn) this.#effects.beginForeign();
    }
    if (decision.kind === 'stop') {
      const processed = processedAtEnd(report.failure, operation.ref, this.#effects.isUnknown());
      report.failure = speakForAll(error, report.failure, processed);
    }
    report.operation = operation;
    report.decision = decision;
    this.keep(error, report);
    operation.emit({ type: 'decision', failure, decision, error, method, url, maxRetries });
  }

  /** Keeps what was found out: on the error, and here where that is not ours. */
  keep(error: unknown, report: FailureReport): void {
    if (this.abortOf(error)) this.#abort = { reason: error, report };
    reportFailure(error, report);
  }
}

/** The error that an operation ends in speaks for all of its requests. */
export function speakForAll(error: unknown, failure: Failure, processed: Processed): Failure {
  if (processed === failure.processed) return failure;
  const outcome = { ...failure, processed } as const;
  try {
    if (isSteadfetchError(error)) Object.assign(error, { outcome });
  } catch {
    // Frozen, or a proxy of the app's: it says what it says.
  }
  return outcome;
}

/** Whether an error that says nothing, or only the status of what has gone with a key, is about this request. */
const isAbout = ({ failure, request }: FailureReport, sent: FailureReport): boolean =>
  failure.kind === 'error' ||
  (!!sent.request?.keyed &&
    request?.method === undefined &&
    failure.kind === 'http' &&
    sent.failure.kind === 'http' &&
    failure.status === sent.failure.status);

/** Whether an operation that ends in this failure may have taken effect. */
export function mayHaveTakenEffect(
  { failure, request }: FailureReport,
  operation: { readonly ref: Pick<OperationRef, 'kind'>; readonly effects: Effects } | undefined,
): boolean {
  const method = request?.method ?? usualMethod(operation?.ref.kind);
  return (failure.processed !== 'no' && !isSafeMethod(method)) || !!operation?.effects.isUnknown();
}

/** The method of a request that another client has sent: a query reads; anything else might write. */
export const usualMethod = (kind: OperationRef['kind'] | undefined): string =>
  kind === 'query' ? 'GET' : 'POST';
