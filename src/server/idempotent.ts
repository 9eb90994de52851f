import { copyAnswer, replayAnswer } from './answer.ts';
import { fingerprintOf } from './fingerprint.ts';
import { checkOptions, type IdempotentOptions, type Settings } from './options.ts';
import { createProblem } from './problem.ts';
import { readBody } from './read-body.ts';
import { readKey } from './read-key.ts';
import { readScope } from './read-scope.ts';
import { withinLease } from './within-lease.ts';
import type { Claim, StoredAnswer } from './store.ts';

/** What a handler gets beside its request. */
export interface IdempotentContext<Tx> {
  /** The key, without its quotes: for what lies behind this server, and has keys of its own. */
  readonly key: string;
  /** The transaction: what is written with it is committed together with the answer, or not at all. */
  readonly tx: Tx;
}

/** Does what a request asks for. */
export type IdempotentHandler<Tx> = (
  request: Request,
  context: IdempotentContext<Tx>,
) => Response | Promise<Response>;

/**
 * Makes a handler run once for each key, whatever arrives twice: the server's side of
 * draft-ietf-httpapi-idempotency-key-header-07. From a web-standard Request to a web-standard
 * Response, so it is a route of Hono, Next, Deno, Bun or an MSW resolver as it is, and one of Node
 * with the adapter in docs/server.md.
 *
 * - No key: 400. A malformed one: 400.
 * - The first request with the key still runs: 409, with Retry-After.
 * - The key came with another payload: 422.
 * - Answered before: the same answer, with `Idempotent-Replayed: true`.
 *
 * The key is claimed, then the handler runs within the store's transaction, and its effect and its
 * answer are committed together. What is no final answer (`isFinal`: a 5xx, a 429), is thrown, or
 * takes longer than `leaseMs` is rolled back, and the next attempt runs again.
 *
 * Wrap one method of one resource: every request that comes here needs a key.
 *
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
  const settings = checkOptions(options);
  const { store } = settings;

  return async (request) => {
    const key = readKey(request, settings);
    if (typeof key !== 'string') return key;
    const body = await readBody(request, settings.maxBodyBytes);
    if (!body) return createProblem('body-too-large', settings);
    const { method } = request;
    const copy = (): Request =>
      method === 'GET' || method === 'HEAD'
        ? request.clone()
        : new Request(request, { method, body });

    const claim = await createClaim(key, copy, body, settings);
    const found = await store.claim(claim);
    if (found.kind === 'full') return createProblem('store-full', settings);
    if (found.kind !== 'claimed') {
      const isSame = found.fingerprint === claim.fingerprint;
      if (!isSame) return createProblem('payload-mismatch', settings);
      if (found.kind === 'answered') return replayAnswer(found.answer);
      return createProblem('in-progress', settings);
    }

    let response: Response | undefined;
    const isHeld = await store.run(claim, async (tx) => {
      const answer = async (): Promise<StoredAnswer | undefined> => {
        response = await handler(copy(), { key, tx });
        return settings.isFinal(response) ? copyAnswer(response) : undefined;
      };
      return withinLease(settings.leaseMs, answer);
    });
    // Not held: it was taken for dead, and what it did is undone. Another one runs, or has.
    return isHeld && response ? response : createProblem('in-progress', settings);
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
  const nowMs = now();
  return {
    // No two pairs make one text.
    id: JSON.stringify([owner, key]),
    fingerprint: print,
    token: crypto.randomUUID(),
    nowMs,
    leaseUntilMs: nowMs + leaseMs,
    expiresAtMs: nowMs + lifetimeMs,
  };
}
