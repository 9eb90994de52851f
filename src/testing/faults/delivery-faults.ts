import { discard } from '../../core/lib/discard.ts';
import {
  checkTimes,
  createFault,
  describeTimes,
  type Fault,
  requireResolver,
  type ResolverInfo,
  type Resolver,
  type TimesOption,
} from './fault.ts';

/**
 * Lets the server process the request, and loses its answer: `fetch` rejects with a TypeError, as it does
 * when the connection breaks after the request has arrived. The page cannot know that it was processed.
 *
 * @param resolver - Processes the requests. Later requests get its answers.
 * @throws TypeError that names the option, its value and the allowed range. A request throws an Error if the
 * resolver gives no answer.
 *
 * @example
 * ```ts
 * import { http, HttpResponse } from 'msw';
 * import { loseAnswer } from 'steadfetch/testing';
 *
 * const orders: unknown[] = [];
 * const takeOrder = loseAnswer(
 *   async ({ request }) => {
 *     orders.push(await request.json());
 *     return HttpResponse.json({ id: orders.length });
 *   },
 *   { times: 1 },
 * );
 * http.post('/api/orders', takeOrder);
 * ```
 */
export function loseAnswer<Info extends ResolverInfo>(
  resolver: Resolver<Info>,
  options: TimesOption = {},
): Fault<Info> {
  requireResolver('loseAnswer', 'its first argument', resolver);
  checkTimes('loseAnswer', options);
  const { times = Infinity } = options;
  return createFault<Info>({
    description: describeTimes(times, (requests) => `loses the answer to ${requests}`),
    answer: async (_request, count, info) => {
      const answer = await requireAnswer('loseAnswer', resolver, info);
      return count > times ? answer : lose(answer);
    },
    reset: () => resetIfFault(resolver),
  });
}

/**
 * Delivers requests twice, as a proxy or a browser does that resends a request when its connection breaks.
 * The second delivery follows once the first is answered, and the page gets the second answer. `requests` has
 * both.
 *
 * @param resolver - Called for each delivery.
 * @throws TypeError that names the option, its value and the allowed range. A request throws an Error if the
 * resolver gives no answer.
 *
 * @example
 * ```ts
 * import { http, HttpResponse } from 'msw';
 * import { duplicateDelivery } from 'steadfetch/testing';
 *
 * const orders = new Map<string | null, unknown>();
 * const takeOrder = duplicateDelivery(async ({ request }) => {
 *   orders.set(request.headers.get('Idempotency-Key'), await request.json());
 *   return HttpResponse.json({ count: orders.size });
 * });
 * http.post('/api/orders', takeOrder);
 * ```
 */
export function duplicateDelivery<Info extends ResolverInfo>(
  resolver: Resolver<Info>,
  options: TimesOption = {},
): Fault<Info> {
  requireResolver('duplicateDelivery', 'its first argument', resolver);
  checkTimes('duplicateDelivery', options);
  const { times = Infinity } = options;
  return createFault<Info>({
    description: describeTimes(times, (requests) => `delivers ${requests} twice`),
    answer: async (request, count, info, record) => {
      if (count <= times) {
        const first = { ...info, request: request.clone() };
        discard(await requireAnswer('duplicateDelivery', resolver, first));
        record();
      }
      return requireAnswer('duplicateDelivery', resolver, info);
    },
    reset: () => resetIfFault(resolver),
  });
}

/**
 * Hides the answers of another fault or resolver from the page, like a gateway whose error page has no
 * `Access-Control-Allow-Origin`: the request has arrived, and `fetch` rejects with a TypeError that looks
 * like a broken connection. A request with `mode: 'no-cors'` gets the answer. Requests that the other one
 * lets through are let through.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { failTimes, withoutCors } from 'steadfetch/testing';
 *
 * http.get('https://api.example/products', withoutCors(failTimes(2, 503)));
 * ```
 */
export function withoutCors<Info extends ResolverInfo>(resolver: Resolver<Info>): Fault<Info> {
  requireResolver('withoutCors', 'its argument', resolver);
  const what = isFault(resolver) ? resolver.description : 'answers';
  return createFault<Info>({
    description: `${what}, in answers that the page may not read`,
    answer: async (request, _count, info) => {
      const answer = await resolver(info);
      return answer && request.mode !== 'no-cors' ? lose(answer) : answer;
    },
    reset: () => resetIfFault(resolver),
  });
}

/** Replaces an answer by a network error. */
function lose(answer: Response): Response {
  discard(answer);
  return Response.error();
}

/** @throws Error if the resolver lets the request through. */
async function requireAnswer<Info extends ResolverInfo>(
  operation: string,
  resolver: Resolver<Info>,
  info: Info,
): Promise<Response> {
  const answer = await resolver(info);
  if (answer) return answer;
  throw new Error(
    `${operation}: its resolver gave no answer to ${info.request.method} ${info.request.url}. Give it the resolver that does what the request asks for, and returns a Response.`,
  );
}

const isFault = (resolver: object): resolver is Fault => 'description' in resolver;

function resetIfFault(resolver: object): void {
  if (isFault(resolver)) resolver.reset();
}
