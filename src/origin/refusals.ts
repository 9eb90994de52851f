import type { Ask } from './ask.ts';

/** A refusal of an endpoint at which none was refused for so long comes at once. */
const forgetMs = 10_000;
/** Another one comes this long after it. */
const gapMs = 1000;
const maxEndpoints = 50;

/**
 * When waits may end without having been sent. The first refusal comes at once. An app that asks again at each
 * failure (an effect, an error boundary that resets itself, a loop) would freeze its page if the next ones did, too:
 * over the network each failure takes its time. So those of a query take as long as React Query's own retries.
 */
export class Refusals {
  /** When each endpoint was last refused, the latest at the end. */
  readonly #refusedAt: Map<string, number> = new Map();

  record(endpoint: string, now: number): void {
    const all = this.#refusedAt;
    all.delete(endpoint);
    all.set(endpoint, now);
    if (all.size > maxEndpoints) for (const oldest of all.keys()) return void all.delete(oldest);
  }

  /** The earliest end of a wait that begins now. */
  endsFrom({ endpoint, retriesAt }: Pick<Ask, 'endpoint' | 'retriesAt'>, now: number): number {
    const refusedAt = this.#refusedAt.get(endpoint) ?? -Infinity;
    if (now - refusedAt >= forgetMs) return now;
    return Math.max(refusedAt + gapMs, retriesAt?.at(-1) ?? 0);
  }
}
