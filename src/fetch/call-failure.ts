import { type Failure, failures } from '../policy/outcome.ts';
import { abortedBy, type Call, endCall, tell } from './call.ts';
import {
  type HttpError,
  NetworkError,
  TimeoutError,
  type UnexpectedContentError,
} from './errors.ts';
import { isFromItsServer } from './expected-content.ts';
import { reportFailure } from './failure-report.ts';
import { hintAtCors } from './hint-at-cors.ts';
import { view } from './operations.ts';
import { isDemanding, readParts, shown } from './request-parts.ts';
import { ifSlow } from './time-limit.ts';

/** Enters what an error means, or an answer that is handed to another client, and tells of it. */
export function note<E>(call: Call, error: E, failure: Failure, response?: Response): E {
  const { live, name, isRaw } = call.facts;
  const isAborted = failure.kind === 'aborted';
  if (failure.processed !== 'no') (live.unsure ??= new Set()).add(name);
  if (process.env.NODE_ENV !== 'production' && !isAborted)
    (live.failedRequests ??= new Set()).add(name);
  const report = { ...call.facts, failure };
  reportFailure(error, report);
  // A client aborts at its own time limit, too, and then nobody knows what its error means.
  if (isRaw) live.raw = isAborted ? undefined : { attempt: live.attempt, report };
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
  const { live, name } = call.facts;
  const operation = view(live, call.facts);
  return note(
    call,
    new Type(`${shown(name)}: ${what}.`, { operation, outcome, ...details }),
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
  if (caller?.aborted) return note(call, abortedBy(facts.live, caller), failures.aborted);
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
  if (isDemanding(readParts(call.input, call.init), call.init)) call.settle(failures.aborted);
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
  const processed = isFromItsServer(response) ? failure.processed : 'unknown';
  return note(call, cause, answer ?? { ...failure, processed });
}

const brokenBody = ({ status }: Response, answer: Failure | undefined): Failure =>
  answer ?? { kind: 'body', status, processed: 'yes' };
