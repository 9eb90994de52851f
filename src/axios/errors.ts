import { reportFailure, reportOf } from '../operation/error-info.ts';
import { isSteadfetchError, isTimeoutError } from '../operation/errors.ts';
import type { FailureReport } from '../operation/facts.ts';
import type { Answer, Axios, Config } from './types.ts';

/**
 * An error of ours as axios makes errors: an AxiosError whose `cause` it is or, of an abort, a CanceledError.
 * The policy knows of it what it knows of its cause.
 */
export function toAxiosError(
  { AxiosError, CanceledError }: Axios,
  config: Config,
  cause: unknown,
  answer?: Answer,
  /** The caller has aborted it. */
  isAborted?: boolean,
): unknown {
  const facts = factsOf(cause);
  // What a user has cancelled was reported nowhere.
  const known = isSteadfetchError(cause) ? { ...facts, failure: cause.outcome } : facts;
  const { kind } = known.failure;
  const message = cause instanceof Error ? cause.message : String(cause);
  const made =
    isAborted || kind === 'aborted'
      ? new CanceledError(undefined, config)
      : new AxiosError(message, codeOf(cause, kind, config), config, answer?.request, answer);
  Object.defineProperty(made, 'cause', { value: cause, writable: true, configurable: true });
  // The reason of an abort may be a text, which says nothing.
  if (Object(cause) === cause) reportFailure(made, known);
  return made;
}

function codeOf(cause: unknown, kind: string, { transitional }: Config): string {
  if (isTimeoutError(cause))
    return transitional?.clarifyTimeoutError ? 'ETIMEDOUT' : 'ECONNABORTED';
  // Not sent, because of what is wrong with it.
  if (kind === 'invalid' || kind === 'error') return 'ERR_BAD_REQUEST';
  // An answer of somebody else.
  return kind === 'body' ? 'ERR_BAD_RESPONSE' : 'ERR_NETWORK';
}

/** What is known of an error, without what React Query has asked about it. */
function factsOf(error: unknown): FailureReport {
  const { decision: _, ...known } = reportOf(error, 0);
  return known;
}

/** What is known of a request, for the error that axios itself has made of it. */
export function copyFacts(from: unknown, to: unknown): void {
  if (Object(from) !== from) return;
  const own = reportOf(to, 0).failure;
  const known = factsOf(from);
  // A time limit of axios' own is no time limit of ours.
  reportFailure(to, own.kind === 'timeout' ? { ...known, failure: own } : known);
}
