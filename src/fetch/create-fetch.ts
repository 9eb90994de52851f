import type { PolicyOptions, Timeout } from '../policy/options.ts';
import { failures } from '../policy/outcome.ts';
import { definePolicy } from '../policy/validate.ts';
import type { FindApi } from './api-profile.ts';
import type { KeyedInit, Keys } from './keys.ts';
import type { LiveOperation } from './live-operation.ts';
import type { Enter, SentFacts } from './passage.ts';
import { readParts } from './request-parts.ts';
import { abortedBy, createSend, type SendContext, shown } from './send.ts';
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
export interface FetchContext extends SendContext {
  readonly findApi: FindApi;
  readonly keys: Keys;
  /** The way out, past the gate of the origin. */
  readonly enter: Enter;
  /** The operation that the signal or the stack belongs to; else one for this request alone. */
  readonly operationFor: (signal: AbortSignal | undefined, request: string) => LiveOperation;
}

export function createFetch(context: FetchContext): SteadyFetch {
  const { operations, findApi, keys } = context;
  const send = createSend(context);

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
    const facts: SentFacts = keyed ? { ...request, keyed: true } : request;
    const policy = operations.policyOf(live, facts);
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
    const settle = typeof entered === 'function' ? entered : await entered;
    // Dropped while it was held.
    if (!settle) throw abortedBy(live, signal?.aborted ? signal : AbortSignal.abort());
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
    const { timeout } = policy;
    return send({ input, init: keyed?.init ?? init, parts, facts, keyed, timeout, settle });
  };
}
