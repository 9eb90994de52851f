import type { Transport } from 'steadfetch';
import { origin } from './fake-server.ts';

/** What the server behind the pool does with a request: after how long it answers, and how long its body takes. */
export interface Plan {
  /** `Infinity`: it hangs. */
  readonly answerMs: number;
  /** A part of the body comes each second. @default 0 */
  readonly bodyMs?: number;
  readonly headers?: HeadersInit;
  /** Whether the browser has it stored: it needs no connection. */
  readonly isStored?: boolean;
}

export interface Pool {
  readonly fetch: Transport;
  /** The requests that have left the browser: their paths, and when, in ms since the pool was made. */
  readonly sent: readonly (readonly [path: string, atMs: number])[];
}

/** A transport as a browser is one: only so many requests are sent at once, the others wait, the oldest first. */
export function createPool(places: number, planOf: (path: string) => Plan): Pool {
  const startedAt = Date.now();
  const sent: [string, number][] = [];
  const queue = new Set<() => void>();
  let free = places;

  const release = (): void => {
    const [next] = queue;
    if (!next) return void free++;
    queue.delete(next);
    next();
  };
  const fetch: Transport = async (input, init) => {
    const signal = init?.signal ?? new AbortController().signal;
    const path = new URL(input as string, origin).pathname;
    const { answerMs, bodyMs = 0, headers, isStored = false } = planOf(path);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => {});
    const after = async (ms: number): Promise<void> => {
      const wait = new Promise<void>((resolve) => {
        if (ms < Infinity) setTimeout(resolve, ms);
      });
      return Promise.race([wait, aborted]);
    };
    if (!isStored && free-- <= 0) {
      free++;
      let enter = (): void => {};
      const turn = new Promise<void>((resolve) => void (enter = resolve));
      queue.add(enter);
      await Promise.race([turn, aborted]).catch((error: unknown) => {
        // It has its place by now, or leaves the queue.
        if (!queue.delete(enter)) release();
        throw error;
      });
    }
    const leave = isStored ? () => {} : release;
    sent.push([path, Date.now() - startedAt]);
    try {
      await after(answerMs);
    } catch (error) {
      leave();
      throw error;
    }
    if (bodyMs === 0) {
      leave();
      return new Response('"done"', {
        headers: { 'content-type': 'application/json', ...headers },
      });
    }
    let leftMs = bodyMs;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await after(Math.min(1000, leftMs)).catch((error: unknown) => {
            leave();
            throw error;
          });
          leftMs -= 1000;
          controller.enqueue(new Uint8Array(10));
          if (leftMs > 0) return;
          leave();
          controller.close();
        },
        cancel: leave,
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: headers ?? {} });
  };
  return { fetch, sent };
}
