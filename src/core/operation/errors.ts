import { systemClock } from '../lib/clock.ts';
import type { Decision } from '../policy/decide.ts';
import type { OperationFacts } from '../policy/operation.ts';
import { type Failure, failures, type HttpFailure } from '../policy/outcome.ts';
import { reportFailure, reportOf } from './error-info.ts';
import type { FailureReport, RequestFacts } from './facts.ts';
import type { Problem } from './parts/problem.ts';

/** The stable codes of {@link SteadfetchError}. */
export type SteadfetchErrorCode =
  /** {@link HttpError}: an answer came, and it is not 2xx. */
  | 'http'
  /** {@link NetworkError}: no answer came, or its body broke off. Browsers do not say why. */
  | 'network'
  /** {@link TimeoutError}: the attempt exceeded its `timeout`. */
  | 'timeout'
  /** {@link UnexpectedContentError}: a 2xx answer came, and it is not the requested content. */
  | 'unexpected-content'
  /** {@link NotSentError}: the operation was not sent. Its `outcome` says why. */
  | 'not-sent'
  /**
   * {@link SteadfetchError}: the user pressed Cancel, or the outbox entry was discarded, or its outbox
   * disposed of.
   */
  | 'cancelled'
  /** `DeadLetterError`: the outbox needs a user to deliver the entry. */
  | 'dead-letter';

/** The data of an error. */
export interface SteadfetchErrorInit {
  readonly operation: OperationFacts;
  readonly outcome: Failure;
  readonly response?: Response | undefined;
  readonly cause?: unknown;
}

// In the global symbol registry, so that the guards also recognise errors of another realm, or of a second
// copy of this package.
const brand = Symbol.for('steadfetch.error');

/**
 * A failed attempt, with all that is known about it. Every error of Steadfetch extends this class. The guards
 * (`isHttpError(error)` and so on) also recognise errors of another realm, or of a second copy of the
 * package. `outcomeOf(error)` gives the outcome of any error, including those of other libraries.
 *
 * @example
 * ```ts
 * if (isSteadfetchError(error) && error.outcome.processed === 'unknown') askTheUser();
 * ```
 */
export class SteadfetchError extends Error {
  override readonly name: string = 'SteadfetchError';
  /** The kind of error, as a stable string. */
  readonly code: SteadfetchErrorCode = 'cancelled';
  /** The operation that failed. */
  readonly operation: OperationFacts;
  /** The outcome of the attempt, with `processed`: whether the server did the work. */
  readonly outcome: Failure;
  /** The decision about it; undefined until the owner of the retries (React Query, `retry`) has asked for one. */
  get decision(): Decision | undefined {
    return reportOf(this, 0).decision;
  }

  /**
   * When the next attempt starts or, if none follows, when the server accepts requests again, in epoch
   * milliseconds. Undefined if neither is known.
   */
  get retryAt(): number | undefined {
    return this.decision?.retryAt;
  }

  /** The answer, if there was one. Its body may be unread. */
  readonly response: Response | undefined;

  constructor(message: string, { operation, outcome, response, cause }: SteadfetchErrorInit) {
    super(message, cause === undefined ? undefined : { cause });
    // Field by field: Object.assign takes several times as long.
    this.operation = operation;
    this.outcome = outcome;
    this.response = response;
    Reflect.set(this, brand, true);
  }
}

/** Adds what the body of its answer says, which comes after the headers that the error was made of. */
export function addProblem(error: HttpError, problem: Problem | undefined): HttpError {
  Reflect.set(error, 'problem', problem);
  return error;
}

/**
 * An answer came that is not 2xx, or that the API's `outcomes` reads as a failure. Its `response` can be
 * read, and read again: a body of up to 64 KiB at any time, a larger one until reading has paused for the
 * length of `bodyIdleMs`.
 */
export class HttpError extends SteadfetchError {
  override readonly name = 'HttpError' as const;
  override readonly code = 'http' as const;
  declare readonly response: Response;
  /** The Problem Details (RFC 9457) of the answer; undefined if its body is another, or has not come within half a second. */
  readonly problem: Problem | undefined = undefined;
  /** The status code of the answer, or the one that the `outcomes` of its API gives it. */
  get status(): number {
    return (this.outcome as HttpFailure).status;
  }
}

/**
 * No answer came, or its body broke off: refused, reset, DNS, CORS, offline. Browsers do not say which. With
 * a `response`, the body failed. Its `cause` is fetch's error. Its message says so if the server is known to
 * answer, and CORS keeps the page from reading it.
 */
export class NetworkError extends SteadfetchError {
  override readonly name = 'NetworkError' as const;
  override readonly code = 'network' as const;
}

/**
 * A 2xx answer came, and it is not the requested content, by its type and by its body: a captive portal, a proxy, a login page
 * or the fallback page of a single-page app answered. It is unknown what the server did.
 */
export class UnexpectedContentError extends SteadfetchError {
  override readonly name = 'UnexpectedContentError' as const;
  override readonly code = 'unexpected-content' as const;
  declare readonly response: Response;
}

/**
 * The attempt exceeded its `timeout`: waiting for the headers or, with a `response`, for the next part of the
 * body.
 */
export class TimeoutError extends SteadfetchError {
  override readonly name = 'TimeoutError' as const;
  override readonly code = 'timeout' as const;
}

/**
 * The operation was not sent: it was paused for longer than `maxPauseMs`, must not be paused (`whenDown:
 * 'fail'`), or was cancelled before. Its `outcome` says which, and its `cause` is the failure that closed its
 * endpoint. An operation that has failed before ends with that failure, and the decision `paused-too-long`.
 */
export class NotSentError extends SteadfetchError {
  override readonly name = 'NotSentError' as const;
  override readonly code = 'not-sent' as const;
}

/** Makes the error of an operation, or of one of its requests, and keeps its report. */
export function createError<E extends SteadfetchError>(
  Type: new (message: string, init: SteadfetchErrorInit) => E,
  message: string,
  operation: { readonly view: (request?: RequestFacts) => OperationFacts },
  outcome: Failure,
  cause: unknown,
  details: Pick<FailureReport, 'request' | 'unsent'> = {},
): E {
  const error = new Type(message, { operation: operation.view(details.request), outcome, cause });
  reportFailure(error, { ...details, operation, failure: outcome });
  return error;
}

/** Whether a value is an error of Steadfetch, also from another realm or another copy of it. */
export function isSteadfetchError(value: unknown): value is SteadfetchError {
  try {
    return brand in (value as object);
  } catch {
    // Not an object, or a revoked proxy.
    return false;
  }
}

/** Whether a value is an {@link HttpError}. */
export function isHttpError(value: unknown): value is HttpError {
  return isSteadfetchError(value) && value.code === 'http';
}

/** Whether a value is a {@link NetworkError}. */
export function isNetworkError(value: unknown): value is NetworkError {
  return isSteadfetchError(value) && value.code === 'network';
}

/** Whether a value is a {@link NotSentError}. */
export function isNotSentError(value: unknown): value is NotSentError {
  return isSteadfetchError(value) && value.code === 'not-sent';
}

/** Whether a value is an {@link UnexpectedContentError}. */
export function isUnexpectedContentError(value: unknown): value is UnexpectedContentError {
  return isSteadfetchError(value) && value.code === 'unexpected-content';
}

/** Whether a value is a {@link TimeoutError}. */
export function isTimeoutError(value: unknown): value is TimeoutError {
  return isSteadfetchError(value) && value.code === 'timeout';
}

/**
 * The failure behind an error, from the error of any library: an error of Steadfetch, the error of our
 * `response.json()`, an abort reason, or the error of another client. If nothing is known, `{ kind: 'error',
 * processed: 'unknown' }`.
 *
 * @example
 * ```ts
 * import { MutationCache } from '@tanstack/react-query';
 * import { outcomeOf } from 'steadfetch';
 *
 * export const mutationCache = new MutationCache({
 *   onError(error) {
 *     const isSurelyNotDone = outcomeOf(error).processed === 'no';
 *     alert(isSurelyNotDone ? 'Not done.' : 'It may have been done. Please look first.');
 *   },
 * });
 * ```
 */
export function outcomeOf(error: unknown): Failure {
  if (isSteadfetchError(error)) return error.outcome;
  return reportOf(error, systemClock.now()).failure;
}

/**
 * Whether a signal was aborted by a timeout, as `AbortSignal.timeout` does. Recognised by the name of the
 * reason, which is the same in another realm. An error of ours as the reason means an attempt that is over.
 */
export function isTimeUp(reason: unknown): boolean {
  try {
    return (
      (Object(reason) as { readonly name?: unknown }).name === 'TimeoutError' &&
      !isSteadfetchError(reason)
    );
  } catch {
    // A getter of the app's error threw.
    return false;
  }
}

/**
 * The failure that the caller's abort means: a timeout if time was up (`late` is the failure to report then), otherwise
 * an abort. The operation's owner decides whether it is final.
 */
export const failureOfAbort = (reason: unknown, late: Failure): Failure =>
  isTimeUp(reason) ? late : failures.aborted;
