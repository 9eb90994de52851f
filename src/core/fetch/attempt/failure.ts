import { isPromise, untilAborted } from '../../lib/timer.ts';
import { inDevelopment } from '../../lib/development.ts';
import { shown, toUrl } from '../../lib/input/url.ts';
import { warn } from '../../lib/input/warn.ts';
import { reportFailure } from '../../operation/error-info.ts';
import {
  failureOfAbort,
  type HttpError,
  NetworkError,
  TimeoutError,
  type UnexpectedContentError,
  type SteadfetchErrorInit,
} from '../../operation/errors.ts';
import { limitPassed } from '../../operation/time-limit.ts';
import { recordFailedRequest } from '../../operation/warn-of-loop.ts';
import { type Failure, failures, isRefusal, type PauseReason } from '../../policy/outcome.ts';
import { endExtensions } from '../extension.ts';
import type { SteadyRequest } from '../request.ts';
import type { Attempt } from './attempt.ts';
import { mayBeUploading } from './limits/headers-limit.ts';
import { type CspReports, mayBeRefused, refusalOf } from './own-side.ts';
import { isJsonAnswer, processedAtHeaders } from './classify.ts';

// Apps show `error.message` to their users: method and URL are in `error.operation`.

const noAnswer = 'The server did not answer';
const unreadable =
  'The server answers, but its answer may not be read: the login may have expired, a browser extension may block it, or its CORS headers are missing';

/** Why a request was not sent. */
export const pausedText: Readonly<Record<PauseReason, string>> = {
  offline: 'There is no connection to the network',
  'server-down': 'The server is not available',
  'rate-limited': 'The server takes no more requests for a while',
  queued: 'Too many requests are waiting',
};

/** Records the failure of an attempt, and emits its end. @returns the error, or the answer that another client reads. */
export function recordFailure<E>(
  attempt: Attempt,
  error: E,
  failure: Failure,
  response?: Response,
): E {
  const { request, effect } = attempt;
  const { operation, name, isRaw } = request;
  const isAborted = failure.kind === 'aborted';
  endExtensions(attempt, failure);
  if (process.env.NODE_ENV !== 'production' && !isAborted)
    recordFailedRequest(operation, name, failure);
  const report = { request, operation, effect, failure };
  reportFailure(error, report);
  // A client may also abort at its own time limit. Then its error may mean anything.
  if (isRaw) operation.errors.recordRaw(isAborted ? undefined : report);
  if (attempt.sending?.permit.isTrial || isRefusal(failure)) operation.splitIfPaused();
  attempt.recordOutcome(failure, attempt.context.client?.errorOf(attempt.init) ?? error, response);
  return error;
}

/** Makes our error of a request that has failed. */
export function fail(
  attempt: Attempt,
  Type:
    | typeof HttpError
    | typeof NetworkError
    | typeof TimeoutError
    | typeof UnexpectedContentError,
  what: string,
  outcome: Failure,
  details: Omit<SteadfetchErrorInit, 'operation' | 'outcome'>,
): Error {
  const operation = attempt.request.operation.view(attempt.request);
  const error = new Type(`${what}.`, { operation, outcome, ...details });
  return recordFailure(attempt, error, outcome, details.response);
}

/**
 * Turns a rejection, before the headers or in the body, into a failure: by the signal that fired, never by the error.
 */
export function failed(attempt: Attempt, cause: unknown, response?: Response): unknown {
  const { context, request, sending } = attempt;
  const { endpoint, operation, signal, url } = request;
  attempt.end();
  if (signal?.aborted) {
    const failure = failureOfAbort(signal.reason, lateness(attempt, response));
    // The app's own time limit, maybe of 50 ms, says nothing about the server.
    sending?.end(failures.aborted);
    const reason = operation.errors.abortBy(signal, { request, operation, failure });
    return recordFailure(attempt, reason, failure);
  }
  if (attempt.isLate) return failLate(attempt, response);
  if (response) {
    const failure = brokenBody(attempt, response);
    return fail(attempt, NetworkError, 'The answer broke off', failure, { response, cause });
  }
  if (mayBeRefused(attempt)) sending?.end(failures.aborted);
  const isUnreadable = operation.route.at?.admission.outcomes.unreadable.has(endpoint);
  inDevelopment(() => hintAtCors(context.operations, url, undefined, isUnreadable));
  const what = isUnreadable ? unreadable : noAnswer + moreOf(cause);
  return fail(attempt, NetworkError, what, failures.network, { cause });
}

/** The failure of an attempt that takes too long: that of its headers, if they meant one. */
const lateness = ({ failure }: Attempt, response: Response | undefined): Failure =>
  failure ?? {
    kind: 'timeout',
    phase: response ? 'body' : 'headers',
    processed: response ? processedAtHeaders(response) : 'unknown',
  };

/** Makes the error of an attempt whose time limit is over. */
function failLate(attempt: Attempt, response: Response | undefined): Error {
  const { bytes, silence, sending } = attempt;
  // The upload itself may take that long, which is not the server's fault.
  const isUploading = !response && mayBeUploading(bytes, silence.headersMs);
  if (isUploading) sending?.end(failures.aborted);
  const cause = inDevelopment(() => passedBy(attempt, !!response, isUploading));
  const what = response ? 'The answer did not arrive in time' : noAnswer + ' in time';
  return fail(attempt, TimeoutError, what, lateness(attempt, response), { response, cause });
}

/** The messages of platforms for every request without an answer. */
const standard =
  /^(|Failed to fetch|fetch failed|Load failed|Network request failed|NetworkError when .*)$/;

/** The message of a cause, if it says more than that the request failed. */
function moreOf(cause: unknown): string {
  const { message, cause: root } = Object(cause) as { message?: unknown; cause?: unknown };
  const said = [message, (Object(root) as { message?: unknown }).message].find(
    (text) => typeof text === 'string' && !standard.test(text),
  ) as string | undefined;
  return said ? `: ${said.replace(/\.$/, '')}` : '';
}

/** For development: the limit that has passed. */
function passedBy(
  { request, bytes, silence: { idleMs, headersMs } }: Attempt,
  hasHeaders: boolean,
  isUploading: boolean,
): Error | undefined {
  const name = shown(request.name);
  if (hasHeaders) return limitPassed(`${name}: no further part of the body`, idleMs);
  const body = isUploading ? `, while its body of ${bytes} bytes may be on its way` : '';
  return limitPassed(`${name}: no headers`, headersMs, body);
}

/** Records that a complete body cannot be parsed. @returns the same error. */
export function notParsed(
  attempt: Attempt,
  cause: unknown,
  response: Response,
  text?: string,
): unknown {
  const failure = brokenBody(attempt, response);
  // Something else than the server may have answered, unless the body is empty.
  const isItsOwn = isJsonAnswer(response) || text?.trim() === '';
  const processed = isItsOwn ? failure.processed : 'unknown';
  return recordFailure(attempt, cause, attempt.failure ?? { ...failure, processed });
}

const brokenBody = ({ failure }: Attempt, response: Response): Failure =>
  failure ?? { kind: 'body', status: response.status, processed: processedAtHeaders(response) };

/**
 * Warns, once for each origin, of what a cross-origin page cannot see: a Retry-After that is not exposed, or an answer
 * without CORS headers, which looks like no answer. Only in development.
 */
export function hintAtCors(
  instance: object,
  url: string,
  response?: Response,
  isUnreadable?: boolean,
): void {
  const origin = toUrl(url)?.origin;
  if (!origin || !globalThis.origin) return;
  if (isUnreadable)
    warn(
      instance,
      `unreadable ${origin}`,
      `${origin} answers, but this page may not read its answers. Likely causes: an expired session, so ` +
        `that the request is redirected to a login on another origin; an error of a gateway without CORS ` +
        `headers; an ad blocker or another extension. The Network panel shows which.`,
      'retry/errors.md#errors-and-their-messages',
    );
  else if (origin === globalThis.origin) return;
  else if (!response) {
    warn(
      instance,
      `cors ${origin}`,
      `A request to ${origin} failed without an answer. If the network is fine, the answer may have ` +
        `come without CORS headers, as a gateway's own 502, 503 or 504 often does: let every answer, ` +
        `errors included, carry Access-Control-Allow-Origin.`,
      'retry/errors.md#errors-and-their-messages',
    );
  } else if (/^(413|429|503)$/.test(`${response.status}`) && !showsRetryAfter(response)) {
    warn(
      instance,
      `expose ${origin}`,
      `${origin} answered ${response.status} without a readable Retry-After. If it sends one, the ` +
        `browser hides it: add Access-Control-Expose-Headers: Retry-After, Date.`,
      'retry/errors.md#errors-and-their-messages',
    );
  }
}

/** Whether its Retry-After is there, or would be. */
const showsRetryAfter = ({ headers }: Response): boolean =>
  !!headers.get('retry-after') ||
  /\*|retry-after/i.test(headers.get('access-control-expose-headers') ?? '');

/** The answer to a request that broke off while the page seemed to close, but stayed. Otherwise throws the error of the rejection. */
export async function recoverRejection(
  attempt: Attempt,
  rejection: unknown,
  wasSpent: boolean,
  reports: CspReports | undefined,
): Promise<Response> {
  const { context, signal } = attempt;
  let cause = rejection;
  try {
    const response = await context.outlive?.outlivePage(attempt, true);
    if (response) return response;
  } catch (error) {
    cause = error;
  }
  const asked = signal.aborted ? undefined : refusalOf(attempt, cause, wasSpent, reports);
  // The time limit also holds for the file that is read meanwhile.
  const refusal = isPromise(asked)
    ? await untilAborted(attempt.signal, asked).catch(() => undefined)
    : asked;
  attempt.end();
  throw refusal && !attempt.isAborted
    ? recordFailure(attempt, refusal.error, failures.invalid)
    : failed(attempt, cause);
}

/** The error of a request that is no longer wanted. The operation that it is thrown into, maybe another one, is not retried. */
export const dropped = (request: SteadyRequest, signal?: AbortSignal): unknown =>
  request.operation.errors.abortUnsent(request, signal?.aborted ? signal : {});
