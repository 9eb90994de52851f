import { shown, toUrl } from '../../lib/input/url.ts';
import { warn } from '../../lib/input/warn.ts';
import { reportFailure } from '../../operation/error-info.ts';
import {
  type HttpError,
  NetworkError,
  TimeoutError,
  type UnexpectedContentError,
} from '../../operation/errors.ts';
import { ifSlow } from '../../operation/time-limit.ts';
import { failureOfAbort } from '../../operation/parts/who-aborted.ts';
import { recordFailure as recordForLoop } from '../../operation/warn-of-loop.ts';
import { type Failure, failures } from '../../policy/outcome.ts';
import { endExtensions } from '../extension.ts';
import { isDemanding, isSendable } from '../init.ts';
import type { SteadyRequest } from '../request.ts';
import type { Attempt } from './attempt.ts';
import { mayBeUploading } from './headers-limit.ts';
import { isJsonAnswer, processedAtHeaders } from './classify.ts';

/** Records what a failed attempt means, and emits its end. @returns the error, or the answer that another client reads. */
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
  if (process.env.NODE_ENV !== 'production' && !isAborted) recordForLoop(operation, name, failure);
  const report = { request, operation, effect, failure };
  reportFailure(error, report);
  // A client aborts at its own time limit, too, and then its error may mean anything.
  if (isRaw) operation.errors.recordRaw(isAborted ? undefined : report);
  attempt.emitEnd(failure, error, response);
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
  details: { readonly response?: Response | undefined; readonly cause?: unknown },
): Error {
  const { operation, name } = attempt.request;
  const view = operation.view(attempt.request);
  const error = new Type(`${shown(name)}: ${what}.`, { operation: view, outcome, ...details });
  return recordFailure(attempt, error, outcome, details.response);
}

/**
 * What a rejection means, before the headers or in the body, told by whose signal fired, never by
 * the error. `answer` is what its headers said of it, where they said that it failed.
 */
export function failed(
  attempt: Attempt,
  cause: unknown,
  response?: Response,
  answer?: Failure,
): unknown {
  const { context, request, bytes, idleMs, limitMs } = attempt;
  const { input, operation, signal, url } = request;
  attempt.end();
  const late: Failure = answer ?? {
    kind: 'timeout',
    phase: response ? 'body' : 'headers',
    processed: response ? processedAtHeaders(response) : 'unknown',
  };
  if (signal?.aborted) {
    const failure = failureOfAbort(signal.reason, late);
    // A time limit of the app's own, of 50 ms maybe, says nothing of the server.
    attempt.recordOutcome(failures.aborted);
    const reason = operation.errors.abortBy(signal, { request, operation, failure });
    return recordFailure(attempt, reason, failure);
  }
  if (attempt.isLate) {
    // Its body may take longer than that, which is no fault of the server's.
    const isUploading = !response && mayBeUploading(bytes, limitMs);
    if (isUploading) attempt.recordOutcome(failures.aborted);
    const size = bytes === undefined ? '' : ` of ${bytes} bytes`;
    const body = isUploading ? `, while its body${size} may be on its way` : '';
    const what =
      (response
        ? `silent for ${idleMs} ms within its body`
        : `no headers within ${limitMs} ms${body}`) + ifSlow;
    return fail(attempt, TimeoutError, what, late, { response });
  }
  if (response) {
    const failure = brokenBody(response, answer);
    return fail(attempt, NetworkError, 'body broke off', failure, { response, cause });
  }
  // That may be the caller's doing, and then says nothing of the server or the network.
  if (isDemanding(input, attempt.init)) attempt.recordOutcome(failures.aborted);
  if (process.env.NODE_ENV !== 'production') hintAtCors(context.operations, url);
  return fail(attempt, NetworkError, 'no answer', failures.network, { cause });
}

/** All of the body is there, and cannot be parsed: the error stays itself. */
export function notParsed(
  attempt: Attempt,
  cause: unknown,
  response: Response,
  answer: Failure | undefined,
): unknown {
  const failure = brokenBody(response, answer);
  // Something else than the server may have answered.
  const processed = isJsonAnswer(response) ? failure.processed : 'unknown';
  return recordFailure(attempt, cause, answer ?? { ...failure, processed });
}

const brokenBody = (response: Response, answer: Failure | undefined): Failure =>
  answer ?? { kind: 'body', status: response.status, processed: processedAtHeaders(response) };

/**
 * Says, once per origin, what a cross-origin page cannot see: a Retry-After that is not exposed,
 * and an answer without CORS headers, which looks like no answer. For development.
 */
export function hintAtCors(instance: object, url: string, response?: Response): void {
  const origin = toUrl(url)?.origin;
  if (!origin || !globalThis.location || origin === globalThis.location.origin) return;
  if (!response) {
    warn(
      instance,
      `cors ${origin}`,
      `A request to ${origin} failed without an answer. If the network is fine, the answer may have ` +
        `come without CORS headers, as a gateway's own 502, 503 or 504 often does: let every answer, ` +
        `errors included, carry Access-Control-Allow-Origin.`,
    );
  } else if (/^(413|429|503)$/.test(`${response.status}`) && !response.headers.get('retry-after')) {
    warn(
      instance,
      `expose ${origin}`,
      `${origin} answered ${response.status} without a readable Retry-After. If it sends one, the ` +
        `browser hides it: add Access-Control-Expose-Headers: Retry-After, Date.`,
    );
  }
}

/**
 * Whether the page's Content-Security-Policy has forbidden this request. Asked when fetch has just
 * rejected: the error is that of a failed network, and the browser says more one task later. A
 * message waits for that task, not a timer: those are slow in a hidden tab, and faked in tests.
 *
 * The URL must be the same, for another request may be blocked at the same time. After a redirect
 * the browser tells the first one: where it must not go on, it would not get any further next time.
 */
async function isBlockedByCsp(url: string): Promise<boolean> {
  const target = toUrl(url);
  if (!target || typeof SecurityPolicyViolationEvent === 'undefined') return false;
  const told: string[] = [];
  // A policy that only reports blocks nothing.
  const listener = ({ blockedURI, disposition }: SecurityPolicyViolationEvent): void =>
    void (disposition === 'enforce' && told.push(blockedURI));
  addEventListener('securitypolicyviolation', listener);
  const { port1, port2 } = new MessageChannel();
  await new Promise((resolve) => {
    port1.addEventListener('message', resolve);
    port1.start();
    port2.postMessage(0);
  });
  port1.close();
  removeEventListener('securitypolicyviolation', listener);
  // What is told has no fragment, and of a URL without a host it is only the scheme.
  target.hash = '';
  return told.some((uri) => uri === target.href || `${uri}:` === target.protocol);
}

/** The answer where a page that was to be left has stayed; else throws what the rejection means. */
export async function recoverRejection(
  attempt: Attempt,
  rejection: unknown,
  wasSpent: boolean,
): Promise<Response> {
  const { context, request, signal } = attempt;
  let cause = rejection;
  try {
    const response = await context.outlive?.outlivePage(attempt, true);
    if (response) return response;
  } catch (error) {
    cause = error;
  }
  const isStopped = signal.aborted;
  attempt.end();
  const isUnsendable = wasSpent || !isSendable(request.input, attempt.init);
  const isRefused = isUnsendable || !!context.isUnsent?.(cause);
  const isUnsent = !isStopped && (isRefused || (await isBlockedByCsp(request.url)));
  throw isUnsent && !attempt.isAborted
    ? recordFailure(attempt, cause, failures.invalid)
    : failed(attempt, cause);
}

/** Whatever operation it is thrown into, which may be another than its own, is not tried again. */
export const dropped = (request: SteadyRequest, signal?: AbortSignal): unknown =>
  request.operation.errors.abortUnsent(request, signal?.aborted ? signal : {});
