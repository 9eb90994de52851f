import { inDevelopment } from '../lib/development.ts';
import { discard } from '../lib/discard.ts';
import { readPassed } from '../operation/error-info.ts';
import { recordRequest } from '../operation/warn-of-loop.ts';
import { type AnswerFailure, failures } from '../policy/outcome.ts';
import { Attempt, type FetchContext } from './attempt/attempt.ts';
import { classifyStatus } from './attempt/classify.ts';
import { failed, recoverRejection } from './attempt/failure.ts';
import { accept, hasProblem, receiveAnswer, refuseWithProblem } from './attempt/answer.ts';
import { watchCsp } from './attempt/own-side.ts';
import { isExpectedBody } from './attempt/body/json-body.ts';
import { extensionsOf, type Recovery, runStep, sign } from './extension.ts';
import { isBodySpent, type SteadyInit } from './init.ts';
import { checkUnkeyed } from './keys.ts';
import { SteadyRequest } from './request.ts';

/**
 * Sends a request, and hands out its answer. A step that has nothing to wait for is not awaited:
 * thousands of requests may be paused at once.
 */
export async function send(
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
      const sending = admitting instanceof Promise ? await admitting : admitting;
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
      const failure = classified instanceof Promise ? await classified : classified;
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
    request.end();
    throw error;
  } finally {
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
  const { input, signal } = request;
  const wasSpent = isBodySpent(input, init);
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
