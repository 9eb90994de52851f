import { originOf } from '../../../lib/input/url.ts';
import type { Silence } from './silence.ts';

/** The time limit of a request that may wait for a connection. */
type Queued = Pick<Silence, 'awaitHeaders' | 'awaitHeadersSinceSent' | 'awaitNothing'>;

/** Aborts a request, unless it is the only one of its query by now. @returns whether it did. */
type Withdraw = () => boolean;

/** The connections that a browser opens to one origin over HTTP/1.1. */
const http1Places = 6;
/** The streams that servers allow on one connection of HTTP/2 or 3: RFC 9113 §6.5.2 recommends no fewer. */
const multiplexedPlaces = 100;

/**
 * Our requests to one origin, in the order of sending. The browser has only a few connections, so later requests wait for
 * earlier ones, which says nothing about the server. The time limit of a request starts when it gets a connection.
 */
export class Line {
  #places = http1Places;
  /** The requests without an answer, in the order of sending. The first ones have connections. */
  readonly #unanswered = new Map<Queued, 'placed' | 'waiting' | 'probe'>();
  /** The other holders of a connection: each body that is being read, and each late read. */
  readonly #others = new Set<object>();
  /** The unanswered requests beside a late read of their query, which has a connection already. */
  readonly #seconds = new Map<Queued, Withdraw>();

  /**
   * Adds a request that is handed to the transport. A probe is timed at once, because others wait for its answer. One
   * that is the `second` of its query is withdrawn where a later request would wait for it.
   *
   * @returns whether it waits.
   */
  add(request: Queued, isProbe: boolean, second?: Withdraw): boolean {
    this.#unanswered.set(request, isProbe ? 'probe' : 'waiting');
    if (isProbe) request.awaitHeaders();
    if (second) this.#seconds.set(request, second);
    else this.#makeRoomFor(request);
    this.#advance();
    return this.#unanswered.get(request) === 'waiting';
  }

  /** Called when its headers have arrived. Until its body is read, it counts as a small one, which takes no connection. */
  receiveHeaders(request: Queued, { headers }: Response): void {
    // The network has answered a request that should have been waiting: there are more connections.
    const hasOvertaken = this.#isBehind(request) && !mayBeStored(headers);
    this.#unanswered.delete(request);
    this.#seconds.delete(request);
    if (!hasOvertaken) this.#advance();
    else this.#widen(this.#places < multiplexedPlaces ? multiplexedPlaces : Infinity);
  }

  /** Whether a late read may hold a connection: the next attempt needs one, too. */
  hasRoom(): boolean {
    return this.#others.size < this.#places - 1;
  }

  /** Called when its body is being read, or when it was given up as a late read. */
  hold(other: object): void {
    this.#others.add(other);
    this.#advance();
  }

  /** Called when it has ended. A second call does nothing. */
  end(request: object): void {
    const wasOther = this.#others.delete(request);
    this.#seconds.delete(request as Queued);
    if (this.#unanswered.delete(request as Queued) || wasOther) this.#advance();
  }

  /** The origin speaks HTTP/2 or 3. */
  multiplex(): void {
    if (this.#places < multiplexedPlaces) this.#widen(multiplexedPlaces);
  }

  /** Withdraws seconds, the oldest first, until this request has a connection. */
  #makeRoomFor(request: Queued): void {
    for (const [second, withdraw] of this.#seconds)
      if (this.#isBehind(request) && withdraw()) this.end(second);
  }

  /** Whether earlier requests have all connections. */
  #isBehind(request: Queued): boolean {
    let room = this.#places - this.#others.size;
    for (const one of this.#unanswered.keys()) {
      if (one === request) return room <= 0;
      room--;
    }
    return false;
  }

  /** There were more connections all the time: requests that counted as waiting were under way. */
  #widen(places: number): void {
    this.#places = places;
    this.#advance();
    for (const [request, state] of this.#unanswered)
      if (state !== 'waiting') request.awaitHeadersSinceSent();
  }

  /** Gives the connections to the first requests. */
  #advance(): void {
    let room = this.#places - this.#others.size;
    for (const [request, state] of this.#unanswered) {
      const next = room-- > 0 ? 'placed' : 'waiting';
      if (state === 'probe') continue;
      if (next !== state) {
        this.#unanswered.set(request, next);
        if (next === 'placed') request.awaitHeaders();
        else request.awaitNothing();
      } else if (next === 'waiting') return;
    }
  }
}

/** The lines of all origins, one each. */
export class Lines {
  readonly #byOrigin = new Map<string, Line>();
  #isWatching = false;

  /** Adds a request that is handed to the transport. @returns its line. */
  join(url: string, request: Queued, isProbe: boolean, second?: Withdraw): Line {
    const line = this.#lineOf(url);
    if (line.add(request, isProbe, second)) this.#watch();
    return line;
  }

  #lineOf(url: string): Line {
    const origin = originOf(url);
    const line = this.#byOrigin.get(origin) ?? new Line();
    this.#byOrigin.set(origin, line);
    return line;
  }

  /** Reads from the browser which origins use HTTP/2 or 3. If an origin hides that, its answers show it. */
  #watch(): void {
    const types = globalThis.PerformanceObserver?.supportedEntryTypes;
    if (this.#isWatching || !types) return;
    this.#isWatching = true;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { name, nextHopProtocol } = entry as PerformanceResourceTiming;
        if (/^h[23]/.test(nextHopProtocol)) this.#lineOf(name).multiplex();
      }
    });
    for (const type of ['navigation', 'resource'])
      if (types.includes(type)) observer.observe({ type, buffered: true });
  }
}

/** Whether an answer may come from the browser's cache (RFC 9111 §4.2), which needs no connection. */
function mayBeStored(headers: Headers): boolean {
  const isFresh = /max-age=0*[1-9]|immutable/i.test(headers.get('cache-control') ?? '');
  return isFresh || (headers.get('expires') ?? headers.get('last-modified')) !== null;
}
