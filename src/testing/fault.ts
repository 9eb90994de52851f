import { systemClock } from '../lib/clock.ts';

/** One request that reached a fault. */
export interface FaultRequest {
  /** The method, as it was sent: `fetch` puts all common ones but PATCH in upper case. */
  readonly method: string;
  /** The absolute URL. */
  readonly url: string;
  /** When the fault was asked, in epoch milliseconds. */
  readonly at: number;
  /** The headers, an idempotency key among them, as they were sent. */
  readonly headers: Headers;
}

/**
 * An MSW resolver that fails on purpose, and counts the requests that it was asked about.
 *
 * Where it does not answer it returns `undefined`, and MSW asks the next handler that matches:
 * put the healthy handler behind it.
 *
 * @example
 * ```ts
 * import { http, HttpResponse } from 'msw';
 * import { setupServer } from 'msw/node';
 * import { failTimes, type Fault } from 'steadfetch/testing';
 *
 * const fault: Fault = failTimes(2, 503);
 * const server = setupServer(
 *   http.get('/api/products', fault),
 *   http.get('/api/products', () => HttpResponse.json([{ id: 1 }])),
 * );
 * server.listen();
 *
 * fault.description; // 'answers 503 to the first 2 requests, then lets them through'
 * fault.requestCount; // 0
 * ```
 */
export interface Fault {
  (info: { readonly request: Request }): Promise<Response | undefined>;
  /** The requests seen since the start or the last `reset()`, in order, those let through included. */
  readonly requests: readonly FaultRequest[];
  /** How many they are. */
  readonly requestCount: number;
  /** What the fault does, as a sentence without its subject. */
  readonly description: string;
  /** Starts over: forgets the requests, and ends those that it still keeps waiting. */
  readonly reset: () => void;
}

type MaybePromise<T> = T | Promise<T>;

/** What one kind of fault does. */
interface FaultRules {
  readonly description: string;
  /** Answers, or lets the request through with `undefined`. `count` is 1 for the first request. */
  readonly answer: (request: Request, count: number) => MaybePromise<Response | undefined>;
  /** Forgets what the fault remembers besides its requests. */
  readonly reset?: () => void;
}

/** Makes a fault of its rules: all that faults have in common is here. */
export function createFault(rules: FaultRules): Fault {
  const requests: FaultRequest[] = [];

  const resolver = async ({ request }: { readonly request: Request }) => {
    const { method, url } = request;
    requests.push({ method, url, at: systemClock.now(), headers: new Headers(request.headers) });
    return rules.answer(request, requests.length);
  };

  const reset = (): void => {
    requests.length = 0;
    rules.reset?.();
  };

  return Object.defineProperty(
    Object.assign(resolver, { requests, requestCount: 0, description: rules.description, reset }),
    'requestCount',
    { get: () => requests.length },
  );
}
