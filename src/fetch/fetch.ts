import { codeOf } from '../lib/input/made-by.ts';
import { readPassed } from '../operation/error-info.ts';
import { noteRequest } from '../operation/warn-of-loop.ts';
import { failures } from '../policy/outcome.ts';
import { classify, interpret } from './attempt/classify.ts';
import type { AuthCode, ConditionalCode, SubmissionCode } from './codes.ts';
import { checkAnswer, failed, sendAgain } from './attempt/failure.ts';
import { gather } from './gather.ts';
import {
  type FetchContext,
  type RecordOutcome,
  startCall,
  tell,
  transmit,
} from './attempt/in-flight.ts';
import { addKey } from './keys.ts';
import { isBodySpent, type SteadyInit } from './attempt/request.ts';
import { accept } from './attempt/response.ts';

/**
 * One attempt, with the signature of fetch, that rejects on every status outside 2xx: with an
 * `HttpError`. It never retries.
 *
 * Resolves with the real Response when it is ok (an opaque one, and one with status 0, passes
 * through). Without an answer it rejects with a `NetworkError` or a `TimeoutError`. The time limit
 * covers headers and body; the readers of the Response report a late or broken body as our error.
 * The caller's abort keeps its own reason.
 *
 * One answer outside 2xx is good news: the retry of a DELETE that may have been done finds nothing
 * (404, 410). It resolves. So does what `alreadyDone` of its API's profile takes for done.
 *
 * @throws HttpError, NetworkError, TimeoutError; NotSentError when its origin or the age of its
 * idempotency key keeps it back; the caller's abort reason; the TypeError of fetch for a request
 * that cannot be sent, or that the page's CSP forbids, and one for an option that is not as it must
 * be.
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
 * What the status means is known all the same: to the health of its endpoint, and to whoever decides on
 * the error that the client makes of it. Otherwise it does as `steady.fetch` does.
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
 * Sends a request, and hands out its answer. Nothing is awaited that is there already, and nothing else
 * waits for it here: thousands may be paused at once.
 */
async function send(
  context: FetchContext,
  isRaw: boolean,
  input: RequestInfo | URL,
  given: SteadyInit | undefined,
): Promise<Response> {
  const [passed, facts] = readPassed(() => gather(context, input, given, isRaw));
  const { parts, init } = passed;
  const caller = parts.signal;
  const { operation, api } = facts;
  const endRequest = operation.attemptLimit?.beginRequest();
  let recordOutcome: RecordOutcome | undefined;
  try {
    const adding = addKey(context, facts, passed);
    const keyed = adding && (await adding);
    facts.step = keyed?.step;
    if (keyed) facts.keyed = true;
    const auth = codeOf<AuthCode>(api?.auth);
    let sent: RequestInit = keyed?.init ?? init;
    if (auth) sent = await auth.sign(context, facts, parts, sent);
    const { timeout } = operation.policyOf(facts);

    // Once, or once more with new credentials.
    for (;;) {
      const entered = context.enter(facts, caller);
      recordOutcome = typeof entered === 'function' ? entered : await entered;
      // Whoever was told of its turn may have aborted it.
      if (caller?.aborted) throw operation.errors.abortUnsent(facts, caller);
      keyed?.start(facts);
      // It goes once its submission is safe where it is kept.
      const submissionCode = operation.submissionCode as SubmissionCode | undefined;
      const keeping = submissionCode?.whenKept(context, facts, caller);
      if (keeping) await keeping;
      const wasSpent = isBodySpent(parts, sent);
      const number = context.nextRequest();
      const request = { context, facts, input, caller, keyed, number, recordOutcome, endRequest };
      if (process.env.NODE_ENV !== 'production') noteRequest(context.emitter, facts, caller);
      const call = startCall(request, sent, timeout);
      tell(call);
      let response: Response;
      try {
        response = await transmit(call);
      } catch (cause) {
        response = await sendAgain(call, cause, wasSpent);
      }
      checkAnswer(call, response);
      if (auth) response = await auth.follow(call, response);
      const shown = classify(call, response);
      const failure = (shown ?? api?.outcomes) && (await interpret(call, response, shown));
      const refusal = failure?.kind === 'http' && failure;
      const again =
        refusal && refusal.status === 401 && (await auth?.renew(call, refusal, response));
      if (failure && caller?.aborted) throw failed(call, undefined);
      if (!again) {
        const conditional = refusal && codeOf<ConditionalCode>(api?.conditional);
        const known = conditional && (await conditional.settle(call, refusal, response));
        return known || accept(call, response, failure);
      }
      sent = again;
    }
  } catch (error) {
    // Whatever was thrown, its place is free; where its end was told already, this says nothing.
    recordOutcome?.(failures.aborted);
    endRequest?.();
    throw error;
  }
}
