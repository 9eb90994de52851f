import { checkNames, reject, requireWhole } from '../../core/lib/input/check.ts';
import { maxTimerMs, systemClock } from '../../core/lib/clock.ts';
import {
  checkTimes,
  createFault,
  describeTimes,
  type Fault,
  requireTimes,
  type TimesOption,
} from './fault.ts';

/**
 * Breaks the connection before any answer: `fetch` rejects with a TypeError, as it does when the
 * server cannot be reached.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { networkError } from 'steadfetch/testing';
 *
 * http.get('/api/products', networkError({ times: 1 }));
 * ```
 */
export function networkError(options: TimesOption = {}): Fault {
  checkTimes('networkError', options);
  const { times = Infinity } = options;
  return createFault({
    description: describeTimes(times, (requests) => `breaks the connection of ${requests}`),
    answer: (_request, count) => (count > times ? undefined : Response.error()),
  });
}

/** The answer of {@link cutBody} before the connection breaks. */
export interface CutBodyOptions extends TimesOption {
  /** The status of the answer: from 200 to 599, but not 204, 205 or 304, which have no body. @default 200 */
  status?: number;
  /** The whole body, of which only the first part is sent. @default a short JSON text */
  body?: string;
  /** Headers beside Content-Length. @default { 'Content-Type': 'application/json' } */
  headers?: HeadersInit;
  /** The number of bytes that are sent: fewer than the body has. @default half of them */
  afterBytes?: number;
}

const defaultBody = '{"products":[{"id":1,"name":"Lamp"},{"id":2,"name":"Chair"}]}';

/**
 * Answers with headers that announce the whole body, sends a part of it, and breaks the connection.
 * `fetch` resolves with the status, and reading the body rejects. A browser may lose the last bytes
 * before the break, as it may on a real connection. Node never does.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { cutBody } from 'steadfetch/testing';
 *
 * http.get('/api/products', cutBody({ body: '[{"id":1},{"id":2}]', afterBytes: 10, times: 1 }));
 * ```
 */
export function cutBody(options: CutBodyOptions = {}): Fault {
  checkNames('cutBody', options, ['times', 'status', 'body', 'headers', 'afterBytes']);
  const { status = 200, body = defaultBody, times = Infinity } = options;
  const bytes = new TextEncoder().encode(body);
  if (bytes.length === 0) reject('cutBody', 'body', body, 'at least one byte long');
  const { afterBytes = Math.floor(bytes.length / 2) } = options;
  requireTimes('cutBody', times);
  requireWhole('cutBody', 'afterBytes', afterBytes, { min: 0, max: bytes.length - 1 });
  if (!hasBody(status)) {
    reject('cutBody', 'status', status, 'a whole number from 200 to 599, but not 204, 205 or 304');
  }
  const headers = new Headers(options.headers ?? { 'Content-Type': 'application/json' });
  headers.set('Content-Length', `${bytes.length}`);

  return createFault({
    description: describeTimes(
      times,
      (requests) =>
        `answers ${status} and cuts the body after ${afterBytes} of ${bytes.length} bytes, for ${requests}`,
    ),
    answer: (_request, count) =>
      count > times
        ? undefined
        : new Response(breakAfter(bytes.slice(0, afterBytes)), { status, headers }),
  });
}

function hasBody(status: number): boolean {
  const isFinal = Number.isInteger(status) && status >= 200 && status <= 599;
  return isFinal && status !== 204 && status !== 205 && status !== 304;
}

/**
 * The number of empty chunks between the bytes and the error. An error discards what has been written
 * and not yet read. Each pull shows that the previous chunk was taken, but a service worker copies the
 * stream, so the bytes reach the page some pulls later. (Measured in Chromium: without empty chunks the
 * bytes were lost in two of three answers, with 8 in one of 1,000.) The empty chunks also make Node send
 * the headers when there are no bytes at all.
 */
const emptyChunks = 8;

/** A stream of the bytes that then ends with an error. */
function breakAfter(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = [bytes, ...Array.from({ length: emptyChunks }, () => new Uint8Array())];
  return new ReadableStream(
    {
      pull: (controller) => {
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(chunk);
        else controller.error(new TypeError('The body was cut on purpose (cutBody).'));
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * Never answers. The request ends when the caller aborts it (usually by a timeout), or with a network
 * error when the fault is reset.
 *
 * The fault sets no timer. Two limits come from the environment. Node's own `fetch` gives up after 300 s
 * without headers, in virtual time too. A service worker does not hear of an abort: `fetch` rejects at
 * once, but MSW keeps the request until `reset()`.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http } from 'msw';
 * import { hang } from 'steadfetch/testing';
 *
 * http.get('/api/products', hang({ times: 1 }));
 * ```
 */
export function hang(options: TimesOption = {}): Fault {
  checkTimes('hang', options);
  const { times = Infinity } = options;
  const waits = createWaits();
  return createFault({
    description: describeTimes(times, (requests) => `leaves ${requests} without an answer`),
    answer: async (request, count) => {
      if (count > times) return undefined;
      await waits.wait(request.signal);
      return Response.error();
    },
    reset: waits.endAll,
  });
}

/** The delay of {@link slow}. */
export interface SlowOptions {
  /** The delay of each request, in milliseconds: a whole number from 0 to 2^31 - 1. */
  delayMs: number;
}

/**
 * Delays every request and then lets it through to the next handler. A request that is aborted during
 * the delay is dropped, and so is one that still waits when the fault is reset.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { http, HttpResponse } from 'msw';
 * import { slow } from 'steadfetch/testing';
 *
 * const handlers = [
 *   http.get('/api/products', slow({ delayMs: 3000 })),
 *   http.get('/api/products', () => HttpResponse.json([])),
 * ];
 * ```
 */
export function slow(options: SlowOptions): Fault {
  checkNames('slow', options, ['delayMs']);
  const { delayMs } = options;
  requireWhole('slow', 'delayMs', delayMs, {
    min: 0,
    max: maxTimerMs,
    unit: ' of milliseconds',
  });
  const waits = createWaits();
  return createFault({
    description: `delays every request by ${delayMs} ms, then lets it through`,
    answer: async (request) => {
      const elapsed = await waits.wait(request.signal, delayMs);
      // This answer is not read. It keeps MSW from continuing with the next handler.
      return elapsed ? undefined : Response.error();
    },
    reset: waits.endAll,
  });
}

/** The requests that wait in a fault. */
export interface Waits {
  /**
   * Waits for `delayMs`, or for ever without it. Resolves with true when the time is over, and with false
   * as soon as the request is aborted or `endAll` is called.
   */
  readonly wait: (signal: AbortSignal, delayMs?: number) => Promise<boolean>;
  /** Ends all waits. */
  readonly endAll: () => void;
}

export function createWaits(): Waits {
  const ends = new Set<(elapsed: boolean) => void>();
  return {
    wait: (signal, delayMs) =>
      new Promise((resolve) => {
        const giveUp = (): void => end(false);
        const timer =
          delayMs === undefined ? undefined : systemClock.setTimeout(() => end(true), delayMs);
        const end = (elapsed: boolean): void => {
          ends.delete(end);
          systemClock.clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          resolve(elapsed);
        };
        ends.add(end);
        signal.addEventListener('abort', giveUp);
        if (signal.aborted) giveUp();
      }),
    endAll: () => {
      for (const end of ends) end(false);
    },
  };
}
