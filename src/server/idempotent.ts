import { discard } from '../core/lib/discard.ts';
import { rejectValue } from '../core/lib/input/check.ts';
import { checkOptions, type IdempotentOptions, requireHandler, type Settings } from './options.ts';
import { fingerprintOf, readBody, readKey, readScope, toStorable } from './request.ts';
import { copyAnswer, createProblem, replayAnswer } from './response.ts';
import { runOnce } from './run-once.ts';
import type { Claim } from './stores/store.ts';

/** The second argument of a handler. */
export interface IdempotentContext<Tx> {
  /** The key, without its quotes. Pass it on to services behind this server that accept keys, too. */
  readonly key: string;
  /** The transaction. Writes with it are committed together with the answer, or not at all. */
  readonly tx: Tx;
  /** Aborted when `leaseMs` is over: the handler's work then has no effect. Pass it on to `fetch`. */
  readonly signal: AbortSignal;
}

/** Processes a request and answers it. */
export type IdempotentHandler<Tx> = (
  request: Request,
  context: IdempotentContext<Tx>,
) => Response | Promise<Response>;

/**
 * Makes a handler take effect once per key, however often the request arrives: the server side of
 * draft-ietf-httpapi-idempotency-key-header-07. It takes a web-standard Request and returns a web-standard
 * Response, so it works as a route of Hono, Next, Deno or Bun and as an MSW resolver, and in Node with the
 * adapter in docs/server/frameworks.md.
 *
 * - No key, or a malformed one: 400.
 * - The first request with the key is still running: 409, with Retry-After.
 * - The key was used with another payload: 422.
 * - The key was answered before: the same answer, with `Idempotent-Replayed: true`.
 * - The store fails, or does not answer within `storeTimeoutMs`: 503, with Retry-After.
 *
 * The key is claimed, then the handler runs within the store's transaction, and its effect and its answer are
 * committed together. The transaction is rolled back if the answer is not final (`isFinal`: a 5xx or a 429 is
 * not), if the handler throws, or if it takes longer than `leaseMs`. The next attempt then runs again. The
 * wrapped handler throws the handler's own errors.
 *
 * Wrap one method of one resource: every request to it needs a key.
 *
 * @returns The handler, wrapped.
 * @throws TypeError that names the option, its value and the allowed range.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { idempotent, memoryStore } from 'steadfetch/server';
 *
 * // Yours: verifies the session or the token, and gives the id of its user.
 * declare function userIdOf(request: Request): Promise<string>;
 *
 * const placeOrder = idempotent(() => Response.json({ id: 1 }, { status: 201 }), {
 *   store: memoryStore(),
 *   scope: userIdOf,
 * });
 *
 * export const handlers = [http.post('/orders', ({ request }) => placeOrder(request))];
 * ```
 */
export function idempotent<Tx>(
  handler: IdempotentHandler<Tx>,
  options: IdempotentOptions<Tx>,
): (request: Request) => Promise<Response> {
  requireHandler('idempotent', handler);
  const settings = checkOptions(options);
  return async (request) => {
    const key = readKey(request, settings);
    if (typeof key !== 'string') return key;
    const body = await readBody(request, settings.maxBodyBytes);
    if (!body) return createProblem('body-too-large', settings);
    const { url, method, headers, signal } = request;
    const isBodiless = method === 'GET' || method === 'HEAD';
    // From its parts: a framework may pass its own class instead of a Request, as Next.js does.
    const copy = (): Request =>
      new Request(url, { method, headers, signal, body: isBodiless ? null : body });

    const claim = await createClaim(key, copy, body, settings);
    let response: Response | undefined;
    const result = await runOnce(settings, claim, async (tx, leaseSignal) => {
      response = await handler(copy(), { key, tx, signal: leaseSignal });
      // Another realm, or a framework, has a class of its own.
      if (typeof (response as Partial<Response> | undefined)?.clone !== 'function')
        rejectValue('idempotent', 'the answer of the handler', response, 'a Response');
      const asked = response.clone();
      const isFinal = await settings.isFinal(asked);
      // An unread clone would buffer the whole answer. The stream of a handler may have failed by then.
      discard(asked);
      return isFinal ? copyAnswer(response, leaseSignal) : undefined;
    });
    if (result === 'ran') return response as Response;
    return typeof result === 'string' ? createProblem(result, settings) : replayAnswer(result);
  };
}

async function createClaim<Tx>(
  key: string,
  copy: () => Request,
  body: Uint8Array<ArrayBuffer>,
  { scope, fingerprint, now, leaseMs, lifetimeMs }: Settings<Tx>,
): Promise<Claim> {
  const owner = await readScope(copy(), scope);
  const print = (await fingerprint?.(copy())) ?? (await fingerprintOf(copy(), body));
  return {
    // JSON keeps different pairs of scope and key different.
    id: await toStorable(JSON.stringify([owner, key])),
    fingerprint: await toStorable(print),
    token: crypto.randomUUID(),
    nowMs: now(),
    leaseMs,
    lifetimeMs,
  };
}
