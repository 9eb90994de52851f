import { shown, toUrl } from '../../lib/input/url.ts';
import { warn } from '../../lib/input/warn.ts';
import { reportFailure } from '../../operation/error-info.ts';
import {
  type HttpError,
  NetworkError,
  TimeoutError,
  type UnexpectedContentError,
} from '../../operation/errors.ts';
import { limitPassed } from '../../operation/time-limit.ts';
import { noteFailure } from '../../operation/warn-of-loop.ts';
import { type Failure, failures } from '../../policy/outcome.ts';
import { isJsonAnswer } from './classify.ts';
import { type Call, endCall, type SentFacts, tell, untilStopped } from './in-flight.ts';
import { lateText, noAnswerText } from './messages.ts';
import { mayBeRefused, refusalOf } from './own-side.ts';
import { mistake, readParts } from './request.ts';

/** Enters what an error means, or an answer that is handed to another client, and tells of it. */
export function note<E>(call: Call, error: E, failure: Failure, response?: Response): E {
  const { operation, name, isRaw, step } = call.facts;
  const isAborted = failure.kind === 'aborted';
  // Its headers were good, and its body is not: it may be sent again, with its key.
  if (step) step.isDone = false;
  if (process.env.NODE_ENV !== 'production' && !isAborted) noteFailure(operation, name);
  const report = { ...call.facts, failure };
  reportFailure(error, report);
  // A client aborts at its own time limit, too, and then nobody knows what its error means.
  if (isRaw) operation.errors.recordRaw(isAborted ? undefined : report);
  tell(call, failure, error, response);
  return error;
}

/** Makes our error of a request that has failed. */
export function fail(
  call: Call,
  Type:
    | typeof HttpError
    | typeof NetworkError
    | typeof TimeoutError
    | typeof UnexpectedContentError,
  what: string,
  outcome: Failure,
  details: { readonly response?: Response | undefined; readonly cause?: unknown },
): Error {
  const operation = call.facts.operation.view(call.facts);
  const error = new Type(`${what}.`, { operation, outcome, ...details });
  return note(call, error, outcome, details.response);
}

/**
 * What a rejection means, before the headers or in the body, told by whose signal fired, never by
 * the error. `answer` is what its headers said of it, where they said that it failed.
 */
export function failed(call: Call, cause: unknown, response?: Response, answer?: Failure): unknown {
  const { caller, context, facts, idleMs, limitMs } = call;
  endCall(call);
  if (caller?.aborted) return note(call, facts.operation.errors.abortBy(caller), failures.aborted);
  if (call.isLate) {
    const phase = response ? 'body' : 'headers';
    const processed = response ? 'yes' : 'unknown';
    const outcome = answer ?? { kind: 'timeout', phase, processed };
    return fail(call, TimeoutError, lateText(!!response), outcome, {
      response,
      cause: limitPassed(`${shown(facts.name)}: no ${phase}`, (response && idleMs) ?? limitMs),
    });
  }
  if (response) {
    return fail(call, NetworkError, 'The answer broke off', brokenBody(response, answer), {
      response,
      cause,
    });
  }
  if (mayBeRefused(readParts(call.input, call.init), call.init))
    call.recordOutcome(failures.aborted);
  const isUnreadable = facts.operation.route.at?.admission.isUnreadable(facts.endpoint);
  if (process.env.NODE_ENV !== 'production')
    hintAtCors(context.operations, facts.url, undefined, isUnreadable);
  return fail(call, NetworkError, noAnswerText(cause, isUnreadable), failures.network, { cause });
}

/** All of the body is there, and cannot be parsed: the error stays itself. */
export function notParsed(
  call: Call,
  cause: unknown,
  response: Response,
  answer: Failure | undefined,
): unknown {
  const failure = brokenBody(response, answer);
  // Nobody knows who has answered what its server would not.
  const processed = isJsonAnswer(response) ? failure.processed : 'unknown';
  return note(call, cause, answer ?? { ...failure, processed });
}

const brokenBody = ({ status }: Response, answer: Failure | undefined): Failure =>
  answer ?? { kind: 'body', status, processed: 'yes' };

/**
 * Says, once per origin, what a cross-origin page cannot see: a Retry-After that is not exposed,
 * and an answer without CORS headers, which looks like no answer. For development.
 */
export function hintAtCors(
  instance: object,
  url: string,
  response?: Response,
  isUnreadable?: boolean,
): void {
  const origin = toUrl(url)?.origin;
  if (!origin || !globalThis.location) return;
  if (isUnreadable)
    warn(
      instance,
      `unreadable ${origin}`,
      `${origin} answers, but this page may not read its answers. Likely causes: an expired session, so ` +
        `that the request is redirected to a login on another origin; an error of a gateway without CORS ` +
        `headers; an ad blocker or another extension. The Network panel shows which.`,
    );
  else if (origin === globalThis.location.origin) return;
  else if (!response) {
    warn(
      instance,
      `cors ${origin}`,
      `A request to ${origin} failed without an answer. If the network is fine, the answer may have ` +
        `come without CORS headers, as a gateway's own 502, 503 or 504 often does: let every answer, ` +
        `errors included, carry Access-Control-Allow-Origin.`,
    );
  } else if (/^(413|429|503)$/.test(`${response.status}`) && !response.headers.has('retry-after')) {
    warn(
      instance,
      `expose ${origin}`,
      `${origin} answered ${response.status} without a readable Retry-After. If it sends one, the ` +
        `browser hides it: add Access-Control-Expose-Headers: Retry-After, Date.`,
    );
  }
}

/** The answer where a page that was to be left has stayed; else throws what the rejection means. */
export async function sendAgain(
  call: Call,
  rejection: unknown,
  wasSpent: boolean,
): Promise<Response> {
  const { signal } = call;
  let cause = rejection;
  try {
    const response = await call.context.outlive?.outlivePage(call, true);
    if (response) return response;
  } catch (error) {
    cause = error;
  }
  const asked = signal.aborted ? undefined : refusalOf(call, cause, wasSpent);
  // The time limit holds for what is read meanwhile.
  const refusal =
    asked instanceof Promise ? await untilStopped(call, asked).catch(() => undefined) : asked;
  endCall(call);
  throw refusal && !call.caller?.aborted
    ? note(call, refusal.error, failures.invalid)
    : failed(call, cause);
}

/** @throws TypeError when a transport has answered with something else. */
export function checkAnswer(call: Call, response: unknown): void {
  if (typeof (response as Partial<Response> | undefined)?.status === 'number') return;
  endCall(call);
  const rule =
    process.env.NODE_ENV !== 'production' && 'resolved with what is no Response, and must with one';
  throw note(call, mistake('createSteadfetch: fetch', rule), failures.error);
}

/** Whatever operation it is thrown into, which may be another than its own, is not tried again. */
export const dropped = (facts: SentFacts, signal?: AbortSignal): unknown =>
  facts.operation.errors.abortUnsent(facts, signal?.aborted ? signal : {});
