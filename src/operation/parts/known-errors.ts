import { reasonOf } from '../../lib/abort.ts';
import { isSafeMethod, type OperationRef } from '../../policy/operation.ts';
import { type Failure, failures, type Processed } from '../../policy/outcome.ts';
import type { Effects } from './effects.ts';
import { reportFailure, reportOf } from '../error-info.ts';
import { isSteadfetchError } from '../errors.ts';
import type { FailureReport, RequestFacts } from '../facts.ts';

type Aborted = { readonly reason?: unknown };

/** What an operation knows of the errors that it ends in, where they do not say it themselves. */
export class KnownErrors {
  readonly #effects: Effects;
  /** The latest request of another client, where it has failed. */
  #raw: FailureReport | undefined;
  /** The caller's abort reason, once it was thrown, and what it means; boxed, because a reason may be any value. */
  #abort: { readonly reason: unknown; failure: Failure } | undefined;

  constructor(effects: Effects) {
    this.#effects = effects;
  }

  /** What became of the latest request of another client: undefined where that is known by its error. */
  recordRaw(report?: FailureReport): void {
    this.#raw = report;
  }

  /** @returns the caller's own reason, which is no failure. */
  abortBy(signal: Aborted, failure: Failure = failures.aborted): unknown {
    const reason = reasonOf(signal);
    this.#abort = { reason, failure };
    return reason;
  }

  /** The same of a request that was not sent. Others that the reason has stopped may have been. */
  abortUnsent(request: RequestFacts | undefined, signal: Aborted): unknown {
    const isUnknown = this.#effects.isUnknown();
    const failure = isUnknown ? failures.aborted : ({ kind: 'aborted', processed: 'no' } as const);
    const reason = this.abortBy(signal, failure);
    const { kind } = reportOf(reason, 0).failure;
    // One reason may stop several operations.
    if (kind === 'error' || (kind === 'aborted' && isUnknown))
      reportFailure(reason, { request, failure });
    return reason;
  }

  /** What the caller's own reason means; undefined for any other error. */
  abortOf(error: unknown): Failure | undefined {
    const abort = this.#abort;
    return abort?.reason === error ? abort?.failure : undefined;
  }

  /** What is known of an error that an attempt has ended in: by itself, or by the request that it was made of. */
  reportOf(error: unknown, nowMs: number): FailureReport {
    const own = reportOf(error, nowMs);
    const raw = this.#raw;
    const failure = this.abortOf(error);
    if (failure) return { ...own, failure };
    return raw && !own.operation && isAbout(own, raw) ? { ...raw } : own;
  }

  /** Keeps what was found out: on the error, and here where that is not ours. */
  keep(error: unknown, report: FailureReport): void {
    if (this.abortOf(error)) this.#abort = { reason: error, failure: report.failure };
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
