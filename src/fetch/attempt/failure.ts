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
import { noteFailure } from '../../operation/warn-of-loop.ts';
import { type Failure, failures } from '../../policy/outcome.ts';
import { isJsonAnswer } from './classify.ts';
import { type Call, endCall, type SentFacts, tell } from './in-flight.ts';
import { isDemanding, isSendable, mistake, readParts } from './request.ts';

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
  const { operation, name } = call.facts;
  const view = operation.view(call.facts);
  return note(
    call,
    new Type(`${shown(name)}: ${what}.`, { operation: view, outcome, ...details }),
    outcome,
    details.response,
  );
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
    const what = `no ${phase} within ${(response && idleMs) ?? limitMs} ms${ifSlow}`;
    return fail(call, TimeoutError, what, answer ?? { kind: 'timeout', phase, processed }, {
      response,
    });
  }
  if (response) {
    return fail(call, NetworkError, 'body broke off', brokenBody(response, answer), {
      response,
      cause,
    });
  }
  // That may be the caller's doing, and then says nothing of the server or the network.
  if (isDemanding(readParts(call.input, call.init), call.init))
    call.recordOutcome(failures.aborted);
  if (process.env.NODE_ENV !== 'production') hintAtCors(context.operations, facts.url);
  return fail(call, NetworkError, 'no answer', failures.network, { cause });
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
  } else if (/^(413|429|503)$/.test(`${response.status}`) && !response.headers.has('retry-after')) {
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
export async function sendAgain(
  call: Call,
  rejection: unknown,
  wasSpent: boolean,
): Promise<Response> {
  const { caller, facts, init, signal } = call;
  let cause = rejection;
  try {
    const response = await call.context.outlive?.outlivePage(call, true);
    if (response) return response;
  } catch (error) {
    cause = error;
  }
  const isStopped = signal.aborted;
  endCall(call);
  const isUnsendable = wasSpent || !isSendable(readParts(call.input, init), init);
  const isRefused = isUnsendable || !!call.context.client?.isUnsent(cause);
  const isUnsent = !isStopped && (isRefused || (await isBlockedByCsp(facts.url)));
  throw isUnsent && !caller?.aborted ? note(call, cause, failures.invalid) : failed(call, cause);
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
