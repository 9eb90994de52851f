import { codeOf } from '../lib/made-by.ts';
import { warnOfLoop } from '../operation/warn-of-loop.ts';
import { definePolicy } from '../policy/options.ts';
import { failures, type HttpFailure } from '../policy/outcome.ts';
import { checkExpect, targetOf } from './api.ts';
import { classify, interpret, type OutcomesCode } from './classify.ts';
import { dropped, failed, note, sendAgain } from './failure.ts';
import {
  type Call,
  endCall,
  type FetchContext,
  type KeyCode,
  type KeyedRequest,
  type SentFacts,
  type RecordOutcome,
  startCall,
  type SubmissionCode,
  tell,
  transmit,
} from './in-flight.ts';
import {
  checkInit,
  isBodySpent,
  isLocal,
  isSendable,
  type JsonSteadyInit,
  keepReferrer,
  mistake,
  readInit,
  readParts,
  type RequestParts,
  type SteadyInit,
} from './request.ts';
import { accept } from './response.ts';
import { noteUnkeyed } from './unkeyed.ts';

/**
 * One honest attempt, with the signature of fetch.
 *
 * Resolves with the real Response when it is ok (an opaque one, and one with status 0, passes
 * through), and otherwise throws an `HttpError`, `NetworkError` or `TimeoutError`. The time limit
 * covers headers and body; the readers of the Response report a late or broken body as our error.
 * The caller's abort keeps its own reason. It never retries.
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

/** What `refreshOn401` brings: the credentials of requests. */
export interface AuthCode {
  readonly by: 'refreshOn401';
  /** What is sent, with its credentials. */
  readonly sign: (
    context: FetchContext,
    facts: SentFacts,
    parts: RequestParts,
    init: RequestInit,
  ) => Promise<RequestInit>;
  /** After a 401: what is sent with new credentials; undefined where that is the answer. */
  readonly renew: (
    call: Call,
    failure: HttpFailure,
    response: Response,
  ) => Promise<RequestInit | undefined>;
}

/** Both faces of one attempt. */
interface Fetches {
  readonly fetch: SteadyFetch;
  readonly rawFetch: RawFetch;
}

/** Makes `steady.fetch` and `steady.rawFetch` of an instance. */
export function createFetch(context: FetchContext): Fetches {
  const { operations } = context;

  const send = async (
    input: RequestInfo | URL,
    parts: RequestParts,
    init: SteadyInit,
    facts: SentFacts,
    endRequest: (() => void) | undefined,
  ): Promise<Response> => {
    const { signal } = parts;
    const { live } = facts;
    const passed = { parts, init };
    const profile = facts.api?.idempotency;
    const keys = profile && codeOf<KeyCode>(profile);
    const submissionCode = live.submissionCode as SubmissionCode | undefined;
    let keyed: KeyedRequest | undefined;
    if (
      !facts.own &&
      !live.submission &&
      init.idempotencyKey === undefined &&
      init.step === undefined
    ) {
      const noting = keys?.noteStray(context, facts, signal);
      if (noting) await noting;
    } else if (profile) keyed = await keys?.add(context, profile, facts, passed);
    else if (submissionCode) submissionCode.noteUnkeyed(operations, facts, passed);
    else if (process.env.NODE_ENV !== 'production') noteUnkeyed(operations, facts, passed);
    facts.step = keyed?.step;
    if (keyed) facts.keyed = true;
    let sent: RequestInit = keyed?.init ?? init;
    const auth = facts.api?.auth && codeOf<AuthCode>(facts.api.auth);
    if (auth) sent = await auth.sign(context, facts, parts, sent);
    const { timeout } = live.policyOf(facts);

    // Once, or once more with new credentials.
    for (;;) {
      // Never sent: it neither starts nor ends.
      if (signal?.aborted) throw live.abortBy(signal);
      if (process.env.NODE_ENV !== 'production') warnOfLoop(operations, live, facts.name);
      const entered = isLocal(parts, init) ? atNoGate : context.enter(facts, signal);
      const recordOutcome = typeof entered === 'function' ? entered : await entered;
      // Dropped while it was paused.
      if (!recordOutcome) throw signal?.aborted ? live.abortBy(signal) : dropped(facts);
      try {
        // In between, whoever was told of its turn may have aborted it.
        if (signal?.aborted) throw live.abortBy(signal);
        const expired = keyed?.start(facts);
        if (expired) {
          recordOutcome(expired.outcome);
          throw expired;
        }
        // It goes once its submission is safe where it is kept.
        const keeping = submissionCode?.whenKept(context, facts, signal);
        if (keeping) await keeping;
        const wasUsed = isBodySpent(parts, sent);
        const call = startCall(
          {
            context,
            facts,
            input,
            caller: signal,
            keyed,
            number: context.nextRequest(),
            recordOutcome,
            endRequest,
          },
          sent,
          timeout,
        );
        tell(call);
        let response: Response;
        try {
          response = await transmit(call);
        } catch (cause) {
          response = await sendAgain(call, cause, () => wasUsed || !isSendable(parts, sent));
        }
        if (typeof (response as Partial<Response> | undefined)?.status !== 'number') {
          endCall(call);
          const rule =
            process.env.NODE_ENV !== 'production' &&
            'resolved with what is no Response, and must with one';
          throw note(call, mistake('createSteadfetch: fetch', rule), failures.error);
        }
        const shown = classify(call, response);
        const readers = facts.api?.outcomes;
        const failure = readers
          ? await codeOf<OutcomesCode>(readers).ofResponse(call, response, shown)
          : shown;
        const interpreted = failure && (await interpret(call, response, failure));
        const isRefused = interpreted?.kind === 'http' && interpreted.status === 401;
        const again = isRefused && (await auth?.renew(call, interpreted, response));
        if (interpreted && signal?.aborted) throw failed(call, undefined);
        if (!again) return accept(call, response, interpreted);
        sent = again;
      } catch (error) {
        // Whatever was thrown, its place is free; where its end was told already, this says nothing.
        recordOutcome(failures.aborted);
        throw error;
      }
    }
  };

  const attempt = async (
    isRaw: boolean,
    input: RequestInfo | URL,
    given: SteadyInit | undefined,
  ): Promise<Response> => {
    const members = readInit('steady.fetch', given);
    const parts = readParts(input, members);
    const init = keepReferrer(parts.request, members);
    const facts = gather(context, parts, init, isRaw);
    const { attemptLimit } = facts.live;
    const endRequest = attemptLimit?.beginRequest();
    try {
      return await send(input, parts, init, facts, endRequest);
    } catch (error) {
      endRequest?.();
      throw error;
    }
  };
  return {
    fetch: (input, init) => attempt(false, input, init),
    rawFetch: (input, init) => attempt(true, input, init as SteadyInit),
  };
}

/** Nobody needs to know how a request ended that no server was asked by. */
const atNoGate: RecordOutcome = () => {};

/** What is known of a request before it goes anywhere. */
function gather(
  context: FetchContext,
  parts: RequestParts,
  init: JsonSteadyInit,
  isRaw: boolean,
): SentFacts {
  const { method, url, signal } = parts;
  const callPolicy =
    init.timeout === undefined ? init.policy : { ...init.policy, timeout: init.timeout };
  if (process.env.NODE_ENV !== 'production' && !isRaw) checkInit(init);
  if (callPolicy) definePolicy('steady.fetch', context.policy, callPolicy);
  checkExpect('steady.fetch', init.expect);
  const api = context.findApi(url);
  const name = `${method} ${url}`;
  const profile = api?.idempotency;
  const own = profile && codeOf<KeyCode>(profile).read(profile, parts, init);
  return {
    live: context.operationFor(signal, `${name} ${own ?? init.idempotencyKey}`),
    method,
    url,
    name,
    ...targetOf(method, url, api),
    api,
    own,
    keyed: false,
    idempotent: init.idempotent ?? api?.idempotent,
    apiPolicy: api?.policy,
    callPolicy,
    expect: init.expect ?? api?.expect ?? init.defaultExpect,
    isRaw,
  };
}
