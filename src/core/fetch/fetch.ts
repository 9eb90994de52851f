import type { FetchContext } from './attempt/attempt.ts';
import type { SteadyInit } from './init.ts';
import { send } from './send.ts';

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
