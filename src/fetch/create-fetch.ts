import type { PageLife } from '../connectivity/page-life.ts';
import { classifyAnswer } from '../policy/classify.ts';
import type { Transport } from '../policy/clock.ts';

import { isIdempotentMethod, isSafeMethod } from '../policy/operation.ts';
import type { PolicyOptions, Timeout } from '../policy/options.ts';
import { type Failure, failures, type Outcome } from '../policy/outcome.ts';
import { definePolicy } from '../policy/validate.ts';
import type { FindApi } from './api-profile.ts';
import { startAttempt } from './attempt.ts';
import { isBlockedByCsp } from './blocked-by-csp.ts';
import { countHeld } from './count-held.ts';
import { HttpError, NetworkError, TimeoutError } from './errors.ts';
import { reportFailure } from './failure-report.ts';
import { guardResponse } from './guarded-response.ts';
import { hintAtCors } from './hint-at-cors.ts';
import type { KeyedInit, Keys } from './keys.ts';
import { isInDoubt } from './is-in-doubt.ts';
import type { LiveOperation } from './live-operation.ts';
import { outlivePage } from './outlive.ts';
import { type Environment, type Operations, view } from './operations.ts';
import type { Enter, SentFacts } from './passage.ts';
import { isBodySpent, isSendable, readParts } from './request-parts.ts';
import { warn } from './warn.ts';

/** What `steady.fetch` takes besides fetch's own init. */
export interface SteadyInit extends KeyedInit {
  /** The time limit of this attempt. @default that of the policy */
  readonly timeout?: Timeout | undefined;
  /** Sending this again does no harm, whatever its method: a search sent by POST. @default false */
  readonly idempotent?: boolean | undefined;
  /** How a failure of this call is answered by whoever owns the retries. */
  readonly policy?: PolicyOptions | undefined;
}

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
 * @throws HttpError, NetworkError, TimeoutError; NotSentError when its gate or the age of its
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

/** What the fetch wrapper stands on. */
export interface FetchContext extends Environment {
  readonly transport: Transport;
  readonly findApi: FindApi;
  readonly keys: Keys;
  readonly operations: Operations;
  /** The way out, past the gate of the origin. */
  readonly enter: Enter;
  /** Undefined where there is no page that could be left. */
  readonly page?: PageLife | undefined;
  /** The operation that the signal or the stack belongs to; else one for this request alone. */
  readonly operationFor: (signal: AbortSignal | undefined, request: string) => LiveOperation;
}

export function createFetch(context: FetchContext): SteadyFetch {
  const { clock, operations, transport, page, findApi, keys } = context;
  let lastRequest = 0;

  return async function steadyFetch(input, init = {}) {
    const parts = readParts(input, init);
    const { method, url, signal } = parts;
    const callPolicy =
      init.timeout === undefined ? init.policy : { ...init.policy, timeout: init.timeout };
    if (callPolicy) definePolicy('steady.fetch', context.policy, callPolicy);
    const api = findApi(url);
    const name = `${method} ${url}`;
    const key = api?.idempotency && keys.read(api.idempotency, parts, init);
    const live = context.operationFor(signal, `${name} ${key ?? init.idempotencyKey}`);
    const idempotent = init.idempotent ?? api?.idempotent;
    const request = { ...api, method, url, live, idempotent, callPolicy };
    const keyed =
      key || live.intent || init.idempotencyKey !== undefined
        ? await keys.add(request, { parts, init, own: key })
        : undefined;
    const sent = keyed?.init ?? init;
    const facts: SentFacts = keyed ? { ...request, keyed: true } : request;
    const policy = operations.policyOf(live, facts);
    const { timeout } = policy;
    const isStream = typeof timeout === 'object';
    const limitMs = isStream ? timeout.headersMs : timeout;
    const idleMs = isStream ? timeout.bodyIdleMs : undefined;

    const number = ++lastRequest;
    const tell = (outcome?: Outcome, error?: unknown, answer?: Response): void => {
      if (outcome) settle(outcome, error, answer);
      if (!operations.isHeard()) return;
      const event = { request: number, method, url };
      operations.emit(
        live,
        outcome ? { type: 'request:end', ...event, outcome } : { type: 'request:start', ...event },
      );
    };
    const note = <E>(error: E, failure: Failure, answer?: Response): E => {
      reportFailure(error, { ...facts, failure });
      tell(failure, error, answer);
      return error;
    };
    const fail = (
      Type: typeof HttpError | typeof NetworkError | typeof TimeoutError,
      what: string,
      outcome: Failure,
      details: { readonly response?: Response | undefined; readonly cause?: unknown },
    ): Error => {
      if (process.env.NODE_ENV !== 'production') (live.failedRequests ??= new Set()).add(name);
      if (outcome.processed !== 'no') (live.unsure ??= new Set()).add(name);
      const operation = view(live, facts);
      return note(
        new Type(`${shown(name)}: ${what}.`, { operation, outcome, ...details }),
        outcome,
        details.response,
      );
    };
    /**
     * What a rejection means, before the headers or in the body, told by whose signal fired, never
     * by the error; or a body that cannot be parsed.
     */
    const failed = (
      cause: unknown,
      response?: Response,
      answer?: Failure,
      step?: 'parse',
    ): unknown => {
      const status = response?.status ?? 0;
      const broken: Failure = answer ?? { kind: 'body', status, processed: 'yes' };
      if (step) return note(cause, broken);
      attempt.settle();
      if (signal?.aborted) return note(abortedBy(live, signal), failures.aborted);
      if (attempt.isLate()) {
        const phase = response ? 'body' : 'headers';
        const processed = response ? 'yes' : 'unknown';
        const what = `no ${phase} within ${(response && idleMs) ?? limitMs} ms`;
        return fail(TimeoutError, what, answer ?? { kind: 'timeout', phase, processed }, {
          response,
        });
      }
      if (response) return fail(NetworkError, 'body broke off', broken, { response, cause });
      if (process.env.NODE_ENV !== 'production') hintAtCors(operations, url);
      return fail(NetworkError, 'no answer', failures.network, { cause });
    };

    // Never sent: it neither starts nor ends.
    if (signal?.aborted) throw abortedBy(live, signal);
    if (process.env.NODE_ENV !== 'production' && !live.isSingle && live.failedRequests?.has(name)) {
      warn(
        operations,
        `loop ${shown(name)}`,
        `${shown(name)} is sent again within one attempt of an operation. Two retry loops multiply: three ` +
          `tries in each of two are nine requests. Turn the inner one off.`,
      );
    }
    const entered = context.enter(name, facts, policy, api, signal);
    const passage = typeof entered === 'function' ? entered : await entered;
    // Dropped while it was held.
    if (!passage) throw abortedBy(live, signal?.aborted ? signal : AbortSignal.abort());
    let settle = passage;
    // In between, whoever was told of its turn may have aborted it.
    if (signal?.aborted) {
      settle(failures.aborted);
      throw abortedBy(live, signal);
    }
    const expired = keyed?.start(facts);
    if (expired) {
      settle(expired.outcome);
      throw expired;
    }
    if (live.intent?.kept) {
      try {
        await live.intent.kept();
        signal?.throwIfAborted();
      } catch (error) {
        settle(failures.aborted);
        throw signal?.aborted ? abortedBy(live, signal) : error;
      }
    }
    const wasUsed = isBodySpent(parts, sent);
    tell();
    const hold = (sinceMs: number): void => countHeld(live, sinceMs, clock.now());
    const attempt = startAttempt(context, limitMs, signal, hold);

    const wire = { ...sent, signal: attempt.signal };
    const isRepeatable = !!facts.keyed || !!idempotent || isIdempotentMethod(method);
    const outlive = (isWhole: boolean): Promise<Response | undefined> => {
      const cutOffAt = clock.now();
      return outlivePage(page, {
        input,
        init: wire,
        isRepeatable: isRepeatable && isWhole,
        hold() {
          attempt.limit();
          // It shows nothing, and leaves its place to others.
          settle(failures.aborted);
        },
        release: () => hold(cutOffAt),
        async again() {
          const turn = await context.enter(name, facts, policy, api, signal);
          if (!turn) throw abortedBy(live, attempt.signal);
          settle = turn;
          attempt.limit(limitMs);
          return transport(input, wire);
        },
      });
    };
    let response: Response;
    try {
      response = await transport(input, wire);
    } catch (rejection) {
      let cause: unknown = rejection;
      let again: Response | undefined;
      try {
        again = await outlive(true);
      } catch (error) {
        cause = error;
      }
      if (!again) {
        const isStopped = attempt.signal.aborted;
        attempt.settle();
        const isUnsent =
          !isStopped && (wasUsed || !isSendable(parts, sent) || (await isBlockedByCsp(url)));
        throw isUnsent && !signal?.aborted ? note(cause, failures.invalid) : failed(cause);
      }
      response = again;
    }
    /** Undefined when it is good news. */
    const classify = (given: Response): Failure | undefined => {
      const { status: code } = given;
      const isGone = method === 'DELETE' && [404, 410].includes(code) && live.unsure?.has(name);
      // An opaque answer has status 0, and nothing that could be read.
      return given.ok || code === 0 || isGone
        ? undefined
        : classifyAnswer(
            { status: code, header: (field) => given.headers.get(field) },
            clock.now(),
            !!keyed?.isInProgress(given),
          );
    };
    const { status } = response;
    const success: Outcome = { kind: 'ok', status, processed: 'yes' };
    let answer = classify(response);
    if (answer && keyed) answer = await keyed.judge(response, answer, facts, attempt.signal);
    if (answer && live.intent) answer = doubt(answer, live);
    if (idleMs) attempt.limit();
    // Nothing more comes. `body` is asked for of failures only, for it costs the making of a stream.
    if (method === 'HEAD' || (answer ? response.body === null : [0, 204, 205].includes(status)))
      attempt.settle();
    if (status !== 0) {
      guardResponse(response, {
        attempt,
        idleMs,
        shared: { open: 1 },
        failed: (cause, step) => failed(cause, response, answer, step),
        async again(isWhole) {
          try {
            const next = await outlive(isWhole && !answer);
            if (next) settle(classify(next) ?? success, undefined, next);
            return next?.status === status ? next : undefined;
          } catch (error) {
            settle(attempt.signal.aborted ? failures.aborted : failures.network, error);
            return undefined;
          }
        },
      });
    }
    if (answer) {
      if (process.env.NODE_ENV !== 'production') hintAtCors(operations, url, response);
      throw fail(HttpError, `${status} ${response.statusText}`.trimEnd(), answer, { response });
    }
    keyed?.succeed();
    // Whatever fails after it does not undo it.
    if (!isSafeMethod(method) && !idempotent) {
      (live.unsure ??= new Set()).add(name);
      if (!facts.keyed && !isIdempotentMethod(method)) live.isUnrepeatable = true;
    }
    tell(success, undefined, response);
    return response;
  };
}

/** What one request was refused, another of the mutation may have done. */
function doubt(failure: Failure, live: LiveOperation): Failure {
  return failure.kind === 'http' && failure.processed === 'no' && isInDoubt(live)
    ? { ...failure, processed: 'unknown' }
    : failure;
}

function abortedBy(live: LiveOperation, { reason }: { readonly reason: unknown }): unknown {
  live.abort = { reason };
  return reason;
}

/** Without the query string: it carries tokens, and messages travel to logs. */
function shown(name: string): string {
  return name.replace(/[?#].*/s, '');
}
