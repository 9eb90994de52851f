import { HttpResponse } from 'msw';
import { reject, requireWhole } from '../lib/check.ts';
import { createFault, type Fault } from './fault.ts';
import { describeTimes, requireTimes, type TimesOption } from './options.ts';

/** What {@link cutBody} sends before it breaks off. */
export interface CutBodyOptions extends TimesOption {
  /** The status of the answer: from 200 to 599, but not 204, 205 or 304, which have no body. @default 200 */
  status?: number;
  /** The whole body, of which only a part is sent. @default a short JSON text */
  body?: string;
  /** Headers beside Content-Length. @default { 'Content-Type': 'application/json' } */
  headers?: HeadersInit;
  /** How many bytes are sent, fewer than the body has. @default half of them */
  afterBytes?: number;
}

const defaultBody = '{"products":[{"id":1,"name":"Lamp"},{"id":2,"name":"Chair"}]}';

/**
 * Answers with headers that promise a whole body, sends a part of it, and breaks the connection:
 * `fetch` resolves with the status, and reading the body rejects. A browser may lose the last bytes
 * before the break, as it may on a real connection; Node never does.
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
        : new HttpResponse(breakAfter(bytes.slice(0, afterBytes)), { status, headers }),
  });
}

function hasBody(status: number): boolean {
  const isFinal = Number.isInteger(status) && status >= 200 && status <= 599;
  return isFinal && status !== 204 && status !== 205 && status !== 304;
}

/**
 * Empty chunks between the bytes and the error. An error discards what has been written and not yet
 * read, and each pull says that the chunk before has been taken: through a service worker, with its
 * copies of the stream, the bytes reach the page only some pulls later. (Measured in Chromium: with
 * none the bytes were lost in two of three answers, with 8 in 1 of 1000.) They also make Node send
 * the headers when there are no bytes at all.
 */
const emptyChunks = 8;

/** A stream of these bytes that ends with an error. */
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
