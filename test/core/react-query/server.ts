import type { Transport } from '../../../src/core/lib/clock.ts';

/** How the server answers one request. */
type Answer =
  | number
  | 'network'
  | 'hang'
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
      readonly afterMs?: number;
    };

/** One request that was sent. */
interface Sent {
  readonly request: string;
  /** Milliseconds since the test began. */
  readonly at: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** When it was aborted, if it was before its answer. */
  abortedAt: number | undefined;
  isAnswered: boolean;
}

/** A server behind a transport: answers by script, and records what it is asked. */
export interface Server {
  readonly fetch: Transport;
  /** Plans the answers to the next requests for a path, in order; after them it answers 200. */
  readonly plan: (path: string, ...answers: readonly Answer[]) => void;
  /** Nothing is planned for the path any more. */
  readonly unplan: (path: string) => void;
  readonly sent: readonly Sent[];
  /** When the requests were sent, all or those for one path. */
  readonly times: (path?: string) => number[];
}

export function createServer(elapsed: () => number): Server {
  const sent: Sent[] = [];
  const plans = new Map<string, Answer[]>();

  const answer = async (next: Answer, request: Sent, signal: AbortSignal): Promise<Response> => {
    if (next === 'network') throw new TypeError('Failed to fetch');
    if (next === 'hang') return aborted(signal, request);
    const {
      status = 200,
      headers = {},
      body = `${request.request} ${sent.indexOf(request) + 1}`,
      afterMs,
    } = typeof next === 'number' ? { status: next } : next;
    if (afterMs !== undefined) {
      await Promise.race([
        new Promise((resolve) => setTimeout(resolve, afterMs)),
        aborted(signal, request),
      ]);
    }
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? JSON.stringify(body) : null, { status, headers });
  };

  const aborted = (signal: AbortSignal, request: Sent): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        if (!request.isAnswered) request.abortedAt = elapsed();
        // The reason of an abort is whatever the caller gave.
        reject(signal.reason as Error);
      });
    });

  return {
    sent,
    plan(path, ...answers) {
      plans.set(path, [...(plans.get(path) ?? []), ...answers]);
    },
    unplan: (path) => void plans.delete(path),
    times: (path) =>
      sent.filter(({ request }) => !path || request.endsWith(` ${path}`)).map(({ at }) => at),
    async fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input);
      const path = url.replace(/^http:\/\/[^/]+/, '');
      const request: Sent = {
        request: `${init?.method ?? 'GET'} ${path}`,
        at: elapsed(),
        headers: new Headers(init?.headers),
        body: init?.body,
        abortedAt: undefined,
        isAnswered: false,
      };
      sent.push(request);
      const next = plans.get(path)?.shift() ?? 200;
      const response = await answer(next, request, init?.signal ?? new AbortController().signal);
      request.isAnswered = true;
      return response;
    },
  };
}
