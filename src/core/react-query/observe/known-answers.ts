import type { Clock, Transport } from '../../lib/clock.ts';
import { sleep } from '../../lib/timer.ts';
import { toUrl } from '../../lib/input/url.ts';
import type { SteadfetchEvent } from '../../operation/events.ts';
import type { Outcome } from '../../policy/outcome.ts';

/** The beginning or the end of a request. */
export type RequestEvent = Extract<
  SteadfetchEvent,
  { readonly type: 'request:start' | 'request:end' }
>;

/** A request of the app that is under way. */
interface UnderWay {
  /** Method and URL. */
  readonly name: string;
  readonly endpoint: string;
  readonly sentAt: number;
  readonly end: () => void;
  readonly whenEnded: Promise<void>;
}

/** How a request to an endpoint ended last. */
interface Latest {
  readonly outcome: Outcome;
  readonly tookMs: number;
}

const nameOf = (method: string, url: string): string => `${method} ${url}`;
const endpointOf = ({ url, endpoint }: RequestEvent): string => `${toUrl(url)?.origin} ${endpoint}`;

/**
 * The answers of a server, as the requests of the app show them. A request that would have been sent gets the outcome and
 * the duration of the app's latest request to the same endpoint.
 */
export class KnownAnswers {
  readonly #clock: Clock;
  /** By the number of the request. */
  readonly #underWay: Map<number, UnderWay> = new Map();
  /** By endpoint. */
  readonly #latest: Map<string, Latest> = new Map();
  /** The endpoint of the request that is about to be answered. */
  #endpoint = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a request of the app. */
  record(event: RequestEvent): void {
    const { request, method, url } = event;
    const endpoint = endpointOf(event);
    if (event.type === 'request:start') {
      let end = (): void => {};
      const whenEnded = new Promise<void>((resolve) => void (end = resolve));
      const [name, sentAt] = [nameOf(method, url), this.#clock.now()];
      this.#underWay.set(request, { name, endpoint, sentAt, end, whenEnded });
      return;
    }
    const ended = this.#underWay.get(request);
    if (!ended) return;
    const tookMs = this.#clock.now() - ended.sentAt;
    this.#latest.set(endpoint, { outcome: event.outcome, tookMs });
    this.#underWay.delete(request);
    ended.end();
  }

  /** Sets the request that `transport` answers next. */
  expect(event: RequestEvent): void {
    this.#endpoint = endpointOf(event);
  }

  /** Answers a request as the app's own requests are answered. */
  readonly transport: Transport = async (input, init) => {
    const endpoint = this.#endpoint;
    const sentAt = this.#clock.now();
    const name = nameOf(init?.method ?? 'GET', `${input as string | URL}`);
    // If both are due at the same time, the app sends first.
    await Promise.resolve();
    await this.#untilEnded((one) => one.name === name);
    const { tookMs = 0 } = this.#latest.get(endpoint) ?? {};
    const leftMs = sentAt + tookMs - this.#clock.now();
    if (leftMs > 0) await sleep(this.#clock, leftMs, init?.signal ?? undefined);
    // All requests that the app sent before `sentAt` are answered by then. One of the same moment is awaited.
    await this.#untilEnded((one) => one.endpoint === endpoint && one.sentAt === sentAt);
    return answerLike(this.#latest.get(endpoint)?.outcome);
  };

  async #untilEnded(isMeant: (one: UnderWay) => boolean): Promise<void> {
    await [...this.#underWay.values()].find((one) => isMeant(one))?.whenEnded;
  }
}

/** An answer like the one that a request of the app got; @throws TypeError where it got none. */
function answerLike(outcome: Outcome = { kind: 'ok', status: 200, processed: 'yes' }): Response {
  const { kind, status, retryAfterMs } = outcome as {
    status?: number;
    retryAfterMs?: number;
  } & Outcome;
  if (status === undefined) throw new TypeError(`It ended in: ${kind}.`);
  const headers = new Headers();
  if (retryAfterMs !== undefined) headers.set('retry-after', `${Math.ceil(retryAfterMs / 1000)}`);
  return new Response(null, { status, headers });
}
