import { reasonOf } from '../../lib/abort.ts';
import { isSafeMethod, type OperationRef } from '../../policy/operation.ts';
import type { Failure, Processed } from '../../policy/outcome.ts';
import type { Effects } from './effects.ts';
import { reportFailure, reportOf } from '../error-info.ts';
import { isSteadfetchError } from '../errors.ts';
import type { FailureReport, RequestFacts } from '../facts.ts';
import { failureOfAbort } from './who-aborted.ts';

/** A signal that was aborted; without one, it is ours that drops a request. */
type Aborted = { readonly aborted?: boolean; readonly reason?: unknown };

/** What an operation knows of the errors that it ends in, where they do not say it themselves. */
export class KnownErrors {
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

  /** What became of the latest request of another client: undefined where that is known by its error. */
  recordRaw(report?: FailureReport): void {
    this.#raw = report;
  }

  /** Another attempt begins. */
  next(): void {
    this.recordRaw();
    this.#abortBefore = this.#abort;
  }

  /**
   * Whether nothing is ever sent any more: we have dropped it, or its signal has ended an attempt before, and
   * is aborted for good.
   */
  isOver(error: unknown, { unsent }: FailureReport): boolean {
    const isAgain = this.#abortBefore !== undefined && this.#abortBefore.reason === error;
    return unsent === 'dropped' || (unsent === 'aborted' && isAgain);
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

  /** What the caller's own reason means; undefined for any other error. */
  abortOf(error: unknown): Failure | undefined {
    const abort = this.#abort;
    return abort?.reason === error ? abort?.report.failure : undefined;
  }

  /** What is known of an error that an attempt has ended in: by itself, or by the request that it was made of. */
  reportOf(error: unknown, nowMs: number): FailureReport {
    const own = reportOf(error, nowMs);
    const raw = this.#raw;
    if (this.abortOf(error)) return { ...own, ...this.#abort?.report };
    return raw && !own.operation && isAbout(own, raw) ? { ...raw } : own;
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
    // Frozen, or a proxy of somebody else's: it says what it says.
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
  const isRead = isSafeMethod(request?.method ?? usualMethod(operation?.ref.kind));
  return (failure.processed !== 'no' && !isRead) || !!operation?.effects.isUnknown();
}

/** The method of a request that is somebody else's: a query reads; anything else might write. */
export const usualMethod = (kind: OperationRef['kind'] | undefined): string =>
  kind === 'query' ? 'GET' : 'POST';
