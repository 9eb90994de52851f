import { checkNames, isFunction, reject, requireWhole } from '../../core/lib/input/check.ts';
import { systemClock } from '../../core/lib/clock.ts';
import { requireMswRuns } from '../runtime.ts';

/** One request that reached a fault. */
export interface FaultRequest {
  /** The method as sent: `fetch` converts all common ones except PATCH to upper case. */
  readonly method: string;
  /** The absolute URL. */
  readonly url: string;
  /** When the request reached the fault, in epoch milliseconds. */
  readonly at: number;
  /** The headers as sent, including an idempotency key. */
  readonly headers: Headers;
}

/** MSW's argument to a resolver, as far as faults need it. MSW itself passes more: `params`, `cookies`. */
export interface ResolverInfo {
  readonly request: Request;
}

/** An MSW resolver, or another fault: answers a request, or lets it through with `undefined`. */
export type Resolver<Info extends ResolverInfo = ResolverInfo> = (
  info: Info,
) => MaybePromise<Response | undefined>;

/**
 * An MSW resolver that fails on purpose, and records the requests that reach it.
 *
 * To let a request through, it returns `undefined`, and MSW goes on to the next matching handler. Put the
 * handler that answers well behind it.
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
export interface Fault<Info extends ResolverInfo = ResolverInfo> {
  (info: Info): Promise<Response | undefined>;
  /** The requests since the start or the last `reset()`, in order, including those let through. */
  readonly requests: readonly FaultRequest[];
  /** The number of `requests`. */
  readonly requestCount: number;
  /** The effect of the fault, as a sentence without a subject. */
  readonly description: string;
  /** Starts over: forgets the requests, and ends those that still wait. */
  readonly reset: () => void;
}

type MaybePromise<T> = T | Promise<T>;

/** The behaviour of one kind of fault. */
interface FaultRules<Info extends ResolverInfo> {
  readonly description: string;
  /** Answers, or lets the request through with `undefined`. `count` is 1 for the first request. */
  readonly answer: (
    request: Request,
    count: number,
    info: Info,
    /** Records the request again, because it is delivered again. */
    record: () => void,
  ) => MaybePromise<Response | undefined>;
  /** Resets the fault's own state, besides its requests. */
  readonly reset?: () => void;
}

/**
 * Creates a fault from its rules.
 *
 * @throws Error if this Node cannot run the installed MSW.
 */
export function createFault<Info extends ResolverInfo = ResolverInfo>(
  rules: FaultRules<Info>,
): Fault<Info> {
  requireMswRuns('steadfetch/testing');
  const requests: FaultRequest[] = [];
  let count = 0;

  const resolver = async (info: Info): Promise<Response | undefined> => {
    const { request } = info;
    const { method, url } = request;
    // One by one: copied as a whole, the headers of MSW 2 lose the key under Vitest 4 with jsdom.
    const headers = new Headers([...request.headers]);
    const record = (): void => {
      requests.push({ method, url, at: systemClock.now(), headers });
    };
    record();
    return rules.answer(request, ++count, info, record);
  };

  const reset = (): void => {
    requests.length = count = 0;
    rules.reset?.();
  };

  return Object.defineProperty(
    Object.assign(resolver, { requests, requestCount: 0, description: rules.description, reset }),
    'requestCount',
    { get: () => requests.length },
  );
}

/** @throws TypeError unless this is a resolver or fault, and not a handler that has one, as `http.get()` makes it. */
export function requireResolver(operation: string, option: string, resolver: unknown): void {
  if (!isFunction(resolver))
    reject(
      operation,
      option,
      resolver,
      'a function that answers, or a fault such as failTimes(2, 503)',
    );
}

/** How many requests a fault is for. */
export interface TimesOption {
  /**
   * How many requests the fault applies to, counted from the first: an integer from 0, or Infinity for all.
   * Later requests pass. @default Infinity
   */
  times?: number;
}

/** @throws TypeError unless the options are `times` alone, and that can be a number of requests. */
export function checkTimes(operation: string, options: TimesOption): void {
  checkNames(operation, options, ['times']);
  if (options.times !== undefined) requireTimes(operation, options.times);
}

/** @throws TypeError unless `times` can be a number of requests. */
export function requireTimes(operation: string, times: number): void {
  if (times === Infinity || (Number.isInteger(times) && times >= 0)) return;
  reject(operation, 'times', times, 'a whole number from 0, or Infinity');
}

/** @throws TypeError unless `status` means a failure. */
export function requireErrorStatus(operation: string, status: number): void {
  requireWhole(operation, 'status', status, { min: 400, max: 599 });
}

/** Describes a fault, with the number of requests that it fails. */
export function describeTimes(times: number, describe: (requests: string) => string): string {
  if (times === Infinity) return describe('every request');
  const requests = times === 1 ? 'the first request' : `the first ${times} requests`;
  return `${describe(requests)}, then lets them through`;
}

/**
 * Combines several faults into one. Each request goes to them in order, until one answers it: `failTimes(1,
 * 503)` before `networkError({ times: 1 })` fails the first request with a 503 and the second with a network
 * error.
 *
 * The combined fault records all requests, and each of its faults records those that reach it. `reset()`
 * resets them all.
 *
 * @throws TypeError without a fault.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { compose, failTimes, slow } from 'steadfetch/testing';
 *
 * http.get('/api/products', compose(slow({ delayMs: 300 }), failTimes(2, 503)));
 * ```
 */
export function compose<Info extends ResolverInfo = ResolverInfo>(
  ...faults: readonly Fault<Info>[]
): Fault<Info> {
  if (faults.length === 0) reject('compose', 'faults', faults, 'at least one fault');
  for (const [at, fault] of faults.entries())
    requireResolver('compose', `argument ${at + 1}`, fault);
  return createFault({
    description: faults.map((fault) => fault.description).join('; then '),
    answer: async (_request, _count, info) => {
      for (const fault of faults) {
        const response = await fault(info);
        if (response) return response;
      }
      return undefined;
    },
    reset: () => {
      for (const fault of faults) fault.reset();
    },
  });
}
