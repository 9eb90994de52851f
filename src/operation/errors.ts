import { systemClock } from '../lib/clock.ts';
import type { Decision } from '../policy/decide.ts';
import type { Operation } from '../policy/operation.ts';
import { type Failure, failures, type HttpFailure } from '../policy/outcome.ts';
import { reportOf } from './error-info.ts';
import type { Problem } from './problem.ts';

/** The stable codes of {@link SteadfetchError}. */
export type SteadfetchErrorCode =
  /** {@link HttpError}: an answer came, and it is not 2xx. */
  | 'http'
  /** {@link NetworkError}: no answer came, or its body broke off. Browsers do not say why. */
  | 'network'
  /** {@link TimeoutError}: the attempt took longer than its `timeout`. */
  | 'timeout'
  /** {@link UnexpectedContentError}: a 2xx answer came, and its content type is not what was asked for. */
  | 'unexpected-content'
  /** {@link NotSentError}: the attempt was not sent. Its `outcome` says why, and its `cause` is the failure before it. */
  | 'not-sent'
  /** {@link SteadfetchError}: the user pressed Cancel; or the entry of the outbox was discarded, or its outbox disposed of. */
  | 'cancelled'
  /** `DeadLetterError`: the outbox cannot deliver the entry without a user. */
  | 'dead-letter';

/** What an error is made from. */
export interface SteadfetchErrorInit {
  readonly operation: Operation;
  readonly outcome: Failure;
  readonly response?: Response | undefined;
  readonly problem?: Problem | undefined;
  readonly cause?: unknown;
}

// In the global symbol registry, so that the guards also know errors of another realm, or of a
// second copy of this package.
const brand = Symbol.for('steadfetch.error');

/**
 * A failed attempt, with all that is known about it. Every error of Steadfetch is one. The guards
 * (`isHttpError(error)` and so on) also recognise errors of another realm, or of a second copy of the
 * package. `outcomeOf(error)` gives the outcome of any error, also of one that is not Steadfetch's.
 *
 * @example
 * ```ts
 * if (isSteadfetchError(error) && error.outcome.processed === 'unknown') askTheUser();
 * ```
 */
export class SteadfetchError extends Error {
  override readonly name: string = 'SteadfetchError';
  /** What kind of error it is, as text that stays the same. */
  readonly code: SteadfetchErrorCode = 'cancelled';
  /** What was being done. */
  declare readonly operation: Operation;
  /** What the attempt showed, with `processed`: whether the server did it. */
  declare readonly outcome: Failure;
  /** What was decided about it; undefined until its owner (React Query, `retry`) has asked. */
  get decision(): Decision | undefined {
    return reportOf(this, 0).decision;
  }

  /**
   * When the next attempt starts, or, where there is none, when the server would have us back; in
   * epoch milliseconds. Undefined when nobody said.
   */
  get retryAt(): number | undefined {
    return this.decision?.retryAt;
  }

  /** The answer, where there was one; its body may still be unread. */
  declare readonly response: Response | undefined;

  constructor(message: string, { operation, outcome, response, cause }: SteadfetchErrorInit) {
    super(message, cause === undefined ? undefined : { cause });
    // Written out: Object.assign takes several times as long.
    this.operation = operation;
    this.outcome = outcome;
    this.response = response;
    Reflect.set(this, brand, true);
  }
}

/**
 * An answer came, and it is not 2xx, or its API's `outcomes` read a failure from it. Its `response` is there to be read: a body of up to 64 KiB at any
 * time once it has come, a larger one until nothing of it has been read for as long as a silence may last.
 */
export class HttpError extends SteadfetchError {
  override readonly name = 'HttpError' as const;
  override readonly code = 'http' as const;
  declare readonly response: Response;
  /** What the API says of it in Problem Details (RFC 9457); undefined if its body is another, or has not come within half a second. */
  readonly problem: Problem | undefined;
  constructor(message: string, init: SteadfetchErrorInit) {
    super(message, init);
    this.problem = init.problem;
  }
  /** The status code of the answer, or the one that it counts as by the `outcomes` of its API. */
  get status(): number {
    return (this.outcome as HttpFailure).status;
  }
}

/**
 * No answer came, or its body broke off: refused, reset, DNS, CORS, offline. Browsers do not tell
 * which. With a `response`, the failure is in the body. Its `cause` is the error of fetch. Its message says so
 * where the server is known to answer, and the page may not read that.
 */
export class NetworkError extends SteadfetchError {
  override readonly name = 'NetworkError' as const;
  override readonly code = 'network' as const;
}

/**
 * A good answer came, and its content type says that it is not what was asked for: a captive portal,
 * a proxy, a login page or the fallback page of a single-page app has answered. Nobody knows what the server has done.
 */
export class UnexpectedContentError extends SteadfetchError {
  override readonly name = 'UnexpectedContentError' as const;
  override readonly code = 'unexpected-content' as const;
  declare readonly response: Response;
}

/** The attempt waited longer than its `timeout`. With a `response`, for the next part of the body. */
export class TimeoutError extends SteadfetchError {
  override readonly name = 'TimeoutError' as const;
  override readonly code = 'timeout' as const;
}

/**
 * The attempt was not sent: it was paused for longer than `maxPauseMs`, may not be paused (`whenDown:
 * 'fail'`), or was cancelled before. Its `outcome` says which, and its `cause` is the failure before it.
 */
export class NotSentError extends SteadfetchError {
  override readonly name = 'NotSentError' as const;
  override readonly code = 'not-sent' as const;
}

/** Whether a value is an error of Steadfetch, also from another realm or another copy of it. */
export function isSteadfetchError(value: unknown): value is SteadfetchError {
  try {
    return brand in (value as object);
  } catch {
    // Not an object, or a proxy of somebody else's.
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
 * What is known of a failure, whoever's error it is: an error of Steadfetch, what `response.json()`
 * of ours threw, the reason of an abort, or the error of another client. Where nothing is known, it is
 * `{ kind: 'error', processed: 'unknown' }`.
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
 * Whether a signal was aborted because time was up, as that of `AbortSignal.timeout` is. By the name of the reason,
 * which is the same in another realm. An error of ours as the reason ends an attempt that is over.
 */
export function isTimeUp(reason: unknown): boolean {
  try {
    return (
      (Object(reason) as { readonly name?: unknown }).name === 'TimeoutError' &&
      !isSteadfetchError(reason)
    );
  } catch {
    // A getter of the app's threw.
    return false;
  }
}

/**
 * What the abort of a request by its caller shows: a time-out where time was up, and `late` is what that means at
 * this point. Whether it is final is for the owner of the operation to say.
 */
export const failureOfAbort = (reason: unknown, late: Failure): Failure =>
  isTimeUp(reason) ? late : failures.aborted;
