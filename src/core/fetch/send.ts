import { inDevelopment } from '../lib/development.ts';
import { discard } from '../lib/discard.ts';
import { isPromise } from '../lib/timer.ts';
import { readPassed } from '../operation/error-info.ts';
import { recordRequest } from '../operation/warn-of-loop.ts';
import { type AnswerFailure, failures } from '../policy/outcome.ts';
import { Attempt, type FetchContext } from './attempt/attempt.ts';
import { classifyStatus } from './attempt/classify.ts';
import { failed, recoverRejection } from './attempt/failure.ts';
import {
  accept,
  hasProblem,
  receiveAnswer,
  refuseWithProblem,
  isExpectedBody,
} from './attempt/answer.ts';
import { watchCsp } from './attempt/own-side.ts';
import { extensionsOf, type Recovery, runStep, sign } from './extension.ts';
import { isBodySpent, type SteadyInit } from './init.ts';
import { checkUnkeyed } from './keys.ts';
import { SteadyRequest } from './request.ts';

/**
 * One attempt, with the signature of fetch, that rejects on every status outside 2xx: with an
 * `HttpError`. It never retries.
 *
 * Resolves with the real Response when it is ok (an opaque one, and one with status 0, passes
 * through). Without an answer it rejects with a `NetworkError` or a `TimeoutError`. The time limit
 * is one for the headers, and then for each silence while the body is read; the readers of the
 * Response report a late or broken body as our error. `json()` of a good answer without content is
 * `null`. The caller's abort keeps its own reason.
 *
 * A write that was redirected to an HTML page, as the content type says or, without one, the body, is an
 * `UnexpectedContentError`, unless `expect` is `any`: the page of a login says nothing of the write.
 *
 * Two answers outside 2xx resolve, because they mean success: a 404 or 410 to the retry of a DELETE that may have been
 * done, and an answer that `alreadyDone` of the API's profile accepts.
 *
 * @throws HttpError, NetworkError, TimeoutError; NotSentError if it is not sent because of its origin or the age of its
 * idempotency key; the caller's abort reason; a TypeError for a request that cannot be sent (a mistake, an unreadable
 * file, a rule of the browser), and for a wrong option.
 *
 * @example
 * ```ts
 * const response = await steady.fetch('/api/report', { timeout: { headersMs: 5000, bodyIdleMs: 2000 } });
 * ```
 */
export type SteadyFetch = (input: RequestInfo | URL, init?: SteadyInit) => Promise<Response>;

/**
 * The same attempt for another client: a fetch that resolves on every status, as that of the
 * environment does. Give it to whatever takes a `fetch`: ky, ofetch, openapi-fetch, a GraphQL client.
 *
 * The status still counts for the health of the endpoint, and for the decision about the error that the client makes of
 * it. Otherwise it is the same as `steady.fetch`.
 *
 * @throws what `steady.fetch` throws, but never an HttpError.
 *
 * @example
 * ```ts
 * const plain = { fetch: steady.rawFetch };
 * const response = await plain.fetch('/api/report');
 * if (response.status === 404) askTheUser();
 * ```
 */
export type RawFetch = (
  input: RequestInfo | URL,
  // Some clients type what they leave out as undefined.
  init?: Omit<SteadyInit, 'signal'> & { readonly signal?: AbortSignal | null | undefined },
) => Promise<Response>;

/** Makes `steady.fetch` and `steady.rawFetch` of an instance. */
export function createFetch(context: FetchContext): {
  readonly fetch: SteadyFetch;
  readonly rawFetch: RawFetch;
} {
  return {
    fetch: (input, init) => send(context, false, input, init),
    rawFetch: (input, init) => send(context, true, input, init as SteadyInit),
  };
}

/**
 * Sends a request, and hands out its answer. A step that has nothing to wait for is not awaited:
 * thousands of requests may be paused at once.
 */
async function send(
  context: FetchContext,
  isRaw: boolean,
  input: RequestInfo | URL,
  given: SteadyInit | undefined,
): Promise<Response> {
  const request = readPassed(() => new SteadyRequest(context, input, given, isRaw));
  const { operations } = context;
  let attempt: Attempt | undefined;
  operations.live.add(request);
  try {
    const preparing = prepare(context, request);
    let init = preparing ? await preparing : request.init;
    for (;;) {
      // The session may have ended meanwhile. Then a request is not sent again after a 401.
      request.endSession();
      const admitting = context.admit(request);
      const sending = isPromise(admitting) ? await admitting : admitting;
      attempt = new Attempt(context, request, init, sending);
      // A listener that was told of its turn may have aborted the request.
      throwIfAborted(request);
      const signing = sign(attempt);
      if (signing) {
        await signing;
        throwIfAborted(request);
      }
      const response = await transmit(attempt);
      const classified = classify(attempt, response);
      const failure = isPromise(classified) ? await classified : classified;
      const recovery = failure && (await recover(attempt, response, failure));
      if (!recovery) {
        if (hasProblem(request, response, failure))
          throw await refuseWithProblem(attempt, response, failure);
        return accept(attempt, response, failure);
      }
      if (recovery.response) return recovery.response;
      init = recovery.resend;
    }
  } catch (error) {
    // A no-op if its outcome is recorded already. An error of an extension or a listener is no outcome.
    attempt?.sending?.end(failures.aborted);
    throw error;
  } finally {
    request.end();
    operations.live.delete(request);
    operations.recordWrite(request);
  }
}

function throwIfAborted(request: SteadyRequest): void {
  const { signal, operation } = request;
  if (signal?.aborted) throw operation.errors.abortUnsent(request, signal);
}

/** Adds the key and the credentials of a request; undefined if it is sent as it is. */
function prepare(context: FetchContext, request: SteadyRequest): Promise<RequestInit> | undefined {
  inDevelopment(() => checkUnkeyed(context.operations, request));
  return runStep<RequestInit>(request, request.init, ({ prepare: prepareBy }, init) =>
    prepareBy?.(context, request, init),
  );
}

async function transmit(attempt: Attempt): Promise<Response> {
  const { context, request, init } = attempt;
  const { passed, signal } = request;
  const wasSpent = isBodySpent(passed, init);
  inDevelopment(() => recordRequest(context.emitter, request, signal));
  const reports = watchCsp();
  let response: Response;
  try {
    response = await attempt.transmit();
  } catch (cause) {
    response = await recoverRejection(attempt, cause, wasSpent, reports);
  } finally {
    reports?.stop();
  }
  for (const { follow } of extensionsOf(request))
    response = (await follow?.(attempt, response)) ?? response;
  const answer = receiveAnswer(attempt, response);
  attempt.receiveHeaders(answer);
  return answer;
}

type Classified = AnswerFailure | undefined;

/** The failure that an answer means, by its headers, its body, and the extensions. A promise if it must wait for the body. */
function classify(attempt: Attempt, response: Response): Classified | Promise<Classified> {
  const further = (shown: Classified): Classified | Promise<Classified> =>
    runStep(attempt.request, shown, ({ classify: classifyBy }, failure) =>
      // An answer of something else than the API is not read by the API's rules.
      failure?.kind === 'body' ? undefined : classifyBy?.(attempt, response, failure, shown),
    ) ?? shown;
  const byHeaders = classifyStatus(attempt, response);
  if (byHeaders?.kind !== 'body') return further(byHeaders);
  return isExpectedBody(attempt, response).then((isExpected) =>
    further(isExpected ? undefined : byHeaders),
  );
}

/** How an extension recovers from a refusal; undefined if the refusal is the answer. */
async function recover(
  attempt: Attempt,
  response: Response,
  failure: AnswerFailure,
): Promise<Recovery | undefined> {
  for (const { recover: recoverBy } of extensionsOf(attempt.request)) {
    if (failure.kind !== 'http' || !recoverBy) continue;
    const recovery = await recoverBy(attempt, failure, response);
    if (attempt.isAborted && !recovery?.resend) break;
    if (recovery) return recovery;
  }
  if (!attempt.isAborted) return undefined;
  discard(response);
  throw failed(attempt, undefined);
}
