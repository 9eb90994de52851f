import { classifyAnswer } from '../policy/classify.ts';
import type { Transport } from '../policy/clock.ts';
import { isIdempotentMethod, isSafeMethod } from '../policy/operation.ts';
import type { Timeout } from '../policy/options.ts';
import { type Failure, failures, type Outcome } from '../policy/outcome.ts';
import { startAttempt } from './attempt.ts';
import { isBlockedByCsp } from './blocked-by-csp.ts';
import { HttpError, NetworkError, TimeoutError } from './errors.ts';
import { reportFailure } from './failure-report.ts';
import { guardResponse } from './guarded-response.ts';
import { hintAtCors } from './hint-at-cors.ts';
import { isInDoubt } from './is-in-doubt.ts';
import type { KeyedRequest } from './keyed-request.ts';
import type { LiveOperation } from './live-operation.ts';
import { type Environment, type Operations, view } from './operations.ts';
import type { Outlive } from './outlive.ts';
import type { SentFacts, Settle } from './passage.ts';
import { isBodySpent, isSendable, type RequestParts } from './request-parts.ts';

/** A request that its gate has let go. */
interface Outgoing {
  readonly input: RequestInfo | URL;
  /** With the idempotency key, where there is one. */
  readonly init: RequestInit;
  readonly parts: RequestParts;
  readonly facts: SentFacts;
  readonly keyed: KeyedRequest | undefined;
  readonly timeout: Timeout;
  readonly settle: Settle;
}

/** What sending stands on. */
export interface SendContext extends Environment {
  readonly transport: Transport;
  readonly operations: Operations;
  /** Undefined where there is no page that could be left. */
  readonly page?: Outlive | undefined;
}

/**
 * Sends a request, and resolves with its answer when that is ok: from the gate to the end of the
 * body. Apart from what comes before the gate, so that a request that is held there holds little.
 */
export function createSend(context: SendContext): (outgoing: Outgoing) => Promise<Response> {
  const { clock, operations, transport, page } = context;
  let lastRequest = 0;

  return async function send({ input, init, parts, facts, keyed, timeout, settle }) {
    const { method, url, signal } = parts;
    const { live, idempotent } = facts;
    const name = `${method} ${url}`;
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

    const wasUsed = isBodySpent(parts, init);
    tell();
    const attempt = startAttempt(clock, limitMs, signal);

    const wire = { ...init, signal: attempt.signal };
    let response: Response;
    try {
      response = await transport(input, wire);
    } catch (rejection) {
      const isRepeatable = !!facts.keyed || !!idempotent || isIdempotentMethod(method);
      const outcome = (await page?.outlive(input, wire, rejection, isRepeatable, (isOn) =>
        attempt.limit(isOn ? limitMs : undefined),
      )) ?? { cause: rejection };
      if ('cause' in outcome) {
        const { cause } = outcome;
        const isStopped = attempt.signal.aborted;
        attempt.settle();
        const isUnsent =
          !isStopped && (wasUsed || !isSendable(parts, init) || (await isBlockedByCsp(url)));
        throw isUnsent && !signal?.aborted ? note(cause, failures.invalid) : failed(cause);
      }
      response = outcome.response;
    }
    const { status, ok } = response;
    const isGone = method === 'DELETE' && [404, 410].includes(status) && live.unsure?.has(name);
    // An opaque answer has status 0, and nothing that could be read.
    let answer =
      ok || status === 0 || isGone
        ? undefined
        : classifyAnswer(
            { status, header: (field) => response.headers.get(field) },
            clock.now(),
            !!keyed?.isInProgress(response),
          );
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
        async failed(cause, step) {
          // What breaks off while the page is left may be the page's doing.
          if (!step && !attempt.signal.aborted) await page?.fate();
          return failed(cause, response, answer, step);
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
    tell({ kind: 'ok', status, processed: 'yes' }, undefined, response);
    return response;
  };
}

/** What one request was refused, another of the mutation may have done. */
function doubt(failure: Failure, live: LiveOperation): Failure {
  return failure.kind === 'http' && failure.processed === 'no' && isInDoubt(live)
    ? { ...failure, processed: 'unknown' }
    : failure;
}

/** The reason of an abort, by which the operation knows its end. */
export function abortedBy(live: LiveOperation, { reason }: { readonly reason: unknown }): unknown {
  live.abort = { reason };
  return reason;
}

/** Without the query string: it carries tokens, and messages travel to logs. */
export function shown(name: string): string {
  return name.replace(/[?#].*/s, '');
}
