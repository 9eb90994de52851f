import type { Transport } from 'steadfetch';
import { vi } from 'vitest';

/** Same origin as the page of the unit tests, so that nothing hints at CORS unasked. */
export const origin = 'http://localhost:3000';

/** What the server does with a request: answer, break the connection (reject), or hang. */
export type Handler = (request: Request) => Response | Promise<Response>;

export interface FakeServer {
  readonly fetch: Transport;
  /** The requests that arrived, oldest first. */
  readonly requests: readonly Request[];
  /** When they arrived, in milliseconds after the server was made. */
  readonly timesMs: readonly number[];
}

/**
 * A transport with the manners of fetch: it throws on arguments that make no Request, and rejects
 * with the reason of the signal. The nth request meets the nth handler, later ones the last.
 */
export function fakeServer(...handlers: readonly [Handler, ...Handler[]]): FakeServer {
  const startedAt = Date.now();
  const requests: Request[] = [];
  const timesMs: number[] = [];
  return {
    requests,
    timesMs,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { signal } = request;
      signal.throwIfAborted();
      const handler = handlers[Math.min(requests.length, handlers.length - 1)] ?? handlers[0];
      requests.push(request);
      timesMs.push(Date.now() - startedAt);
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      const answered = (async () => handler(request))();
      return Promise.race([answered, aborted]);
    },
  };
}

/** An answer with this status and body. */
export const answer =
  (status = 200, body: BodyInit | null = null, headers: HeadersInit = {}): Handler =>
  () =>
    new Response(body, { status, headers });

/** No answer, ever. */
export const hang: Handler = () => new Promise(() => {});

/** No answer, and the error that Chromium makes of it. */
export const refuse: Handler = () => Promise.reject(new TypeError('Failed to fetch'));

/** The server's end of a body under way. */
export interface Wire {
  readonly push: (text: string) => void;
  readonly pushBytes: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly end: () => void;
  /** Breaks the connection; the error is what the browser makes of it. */
  readonly cut: (error?: unknown) => void;
  /** What the reader cancelled it with. */
  readonly cancelledWith: () => unknown;
  readonly isCancelled: () => boolean;
}

/** An answer whose headers are in, and whose body comes as the test says. */
export function streaming(init?: ResponseInit): { readonly handler: Handler; readonly wire: Wire } {
  let controller: ReadableByteStreamController;
  const cancel = vi.fn<(reason: unknown) => void>();
  const stream = new ReadableStream({
    // As bodies of fetch are.
    type: 'bytes',
    start: (its) => void (controller = its),
    cancel,
  });
  return {
    handler: ({ signal }) => {
      signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
      return new Response(stream, init);
    },
    wire: {
      push: (text) => controller.enqueue(new TextEncoder().encode(text)),
      pushBytes: (bytes) => controller.enqueue(bytes),
      end: () => controller.close(),
      cut: (error) => controller.error(error),
      cancelledWith: () => cancel.mock.calls[0]?.[0],
      isCancelled: () => cancel.mock.calls.length > 0,
    },
  };
}
