import { maxTimerMs, systemClock } from '../lib/clock.ts';
import { checkOptions, type IdempotentOptions, type Settings } from './options.ts';
import { fingerprintOf, readBody, readKey, readScope } from './request.ts';
import { copyAnswer, createProblem, replayAnswer } from './response.ts';
import type { Claim, StoredAnswer } from './store.ts';

/** What a handler gets besides the request. */
export interface IdempotentContext<Tx> {
  /** The key, without its quotes: pass it on to services behind this server that take keys, too. */
  readonly key: string;
  /** The transaction. What is written with it is committed together with the answer, or not at all. */
  readonly tx: Tx;
}

/** Does what the request asks for, and answers it. */
export type IdempotentHandler<Tx> = (
  request: Request,
  context: IdempotentContext<Tx>,
) => Response | Promise<Response>;

/**
 * Makes a handler take effect once per key, however often the request arrives: the server's side of
 * draft-ietf-httpapi-idempotency-key-header-07. It takes a web-standard Request and returns a
 * web-standard Response, so it is a route of Hono, Next, Deno, Bun or an MSW resolver as it is, and one
 * of Node with the adapter in docs/server.md.
 *
 * - No key, or a malformed one: 400.
 * - The first request with the key is still running: 409, with Retry-After.
 * - The key was used with another payload: 422.
 * - The key was answered before: the same answer, with `Idempotent-Replayed: true`.
 *
 * The key is claimed, then the handler runs within the store's transaction, and its effect and its answer
 * are committed together. The transaction is rolled back if the answer is not final (`isFinal`: a 5xx or
 * a 429 is not), if the handler throws, or if it takes longer than `leaseMs`. The next attempt then runs
 * again.
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
        return (await settings.isFinal(response.clone())) ? copyAnswer(response) : undefined;
      };
      return withinLease(settings.leaseMs, answer);
    });
    // The claim was lost: its lease was over, and its work is rolled back. Another request took the key.
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
    // Different pairs of scope and key give different texts.
    id: JSON.stringify([owner, key]),
    fingerprint: print,
    token: crypto.randomUUID(),
    nowMs,
    leaseUntilMs: nowMs + leaseMs,
    expiresAtMs: nowMs + lifetimeMs,
  };
}

/**
 * Stops waiting for work that takes longer than its lease, so that another request may run.
 *
 * @throws Error that names `leaseMs` when the lease is over, and whatever the work throws.
 */
async function withinLease<T>(leaseMs: number, work: () => Promise<T>): Promise<T> {
  let timer: unknown;
  const isOver = new Promise<never>((_, fail) => {
    const giveUp = (): void => fail(new Error(leaseOver(leaseMs)));
    timer = systemClock.setTimeout(giveUp, Math.min(leaseMs, maxTimerMs));
  });
  try {
    return await Promise.race([work(), isOver]);
  } finally {
    systemClock.clearTimeout(timer);
  }
}

const leaseOver = (leaseMs: number): string =>
  `idempotent: the handler gave no answer within leaseMs, ${leaseMs} ms. It is rolled back, and its ` +
  `key is free again.`;
