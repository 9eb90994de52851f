import {
  isNotSentError,
  isSteadfetchError,
  isTimeoutError,
  reportFailure,
  reportOf,
  type Failure,
  type FailureReport,
} from '../core/internal.ts';
import type { Answer, Axios, AxiosFailure, Config } from './types.ts';

/**
 * Wraps an error of Steadfetch as axios would create it: an AxiosError with that `cause` or, for an abort, a
 * CanceledError. The policy sees in it what it sees in the cause.
 */
export function toAxiosError(
  { AxiosError, CanceledError }: Axios,
  config: Config,
  cause: unknown,
  answer?: Answer,
  /** Whether the caller aborted the request. */
  isAborted?: boolean,
): unknown {
  const facts = factsOf(cause);
  // A cancelled operation has no report yet.
  const known = isSteadfetchError(cause) ? { ...facts, failure: cause.outcome } : facts;
  const { kind } = known.failure;
  const behind = answer ? undefined : answerBehind(cause);
  const response = answer ?? behind;
  const message = cause instanceof Error ? cause.message : String(cause);
  const made =
    isAborted || kind === 'aborted'
      ? new CanceledError(undefined, config)
      : new AxiosError(
          message,
          codeOf(cause, kind, config, behind),
          config,
          response?.request,
          response,
        );
  Object.defineProperty(made, 'cause', { value: cause, writable: true, configurable: true });
  // An abort reason may be a string, which cannot carry a report.
  if (Object(cause) === cause) reportFailure(made, known);
  return made;
}

/**
 * The answer that began the pause of a request that was not sent: the app reads its status and its body. An operation
 * that has failed ends in its own error, which may be one that the app has made of that answer.
 */
function answerBehind(cause: unknown): Answer | undefined {
  if (isSteadfetchError(cause) && !isNotSentError(cause)) return undefined;
  const failed: unknown = isNotSentError(cause) ? cause.cause : cause;
  return (Object(failed) as Partial<AxiosFailure>).response;
}

function codeOf(
  cause: unknown,
  kind: string,
  { transitional }: Config,
  behind: Answer | undefined,
): string {
  if (isTimeoutError(cause))
    return transitional?.clarifyTimeoutError ? 'ETIMEDOUT' : 'ECONNABORTED';
  // Not sent, because the request itself is wrong.
  if (kind === 'invalid' || kind === 'error') return 'ERR_BAD_REQUEST';
  if (behind) return behind.status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE';
  // The answer is not from the API.
  return kind === 'body' ? 'ERR_BAD_RESPONSE' : 'ERR_NETWORK';
}

/** The report of an error, without the decision that React Query asked for. */
function factsOf(error: unknown): FailureReport {
  const { decision: _, ...known } = reportOf(error, 0);
  return known;
}

/** Copies the report of a request to the error that axios itself created for it. */
export function copyFacts(from: unknown, to: unknown): void {
  if (Object(from) !== from) return;
  const own = reportOf(to, 0).failure;
  const known = factsOf(from);
  const { kind, processed } = known.failure;
  // axios's own timeout is not a timeout of Steadfetch. That of a body is known to be one, by its headers.
  const failure: Failure = kind === 'body' ? { kind: 'timeout', phase: 'body', processed } : own;
  reportFailure(to, own.kind === 'timeout' ? { ...known, failure } : known);
}
