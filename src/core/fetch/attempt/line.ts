import { originOf } from '../../lib/input/url.ts';

/** A request in its line. */
export interface Queued {
  /** It has its place: silence from now on is its own. Called again, the limit starts anew. */
  readonly awaitHeaders: () => void;
  /** It has never waited: its limit counts from its sending. */
  readonly awaitHeadersSinceSent: () => void;
  /** A body has taken its place: it waits. */
  readonly awaitNothing: () => void;
}

/** The connections that a browser opens to one origin over HTTP/1.1. */
const http1Places = 6;
/** The streams that servers allow on one connection of HTTP/2 or 3: RFC 9113 §6.5.2 recommends no fewer. */
const multiplexedPlaces = 100;

/**
 * Our requests to one origin, in the order of sending. The browser sends only so many at once: those behind
 * wait for ours in front, which says nothing of the server. The time limit of a request starts with its place.
 */
export class Line {
  #places = http1Places;
  /** Those without an answer, in the order of sending. The first have places. */
  readonly #unanswered = new Map<Queued, 'placed' | 'waiting' | 'probe'>();
  /** Those whose body is being read: it takes a place until it ends. */
  readonly #bodies = new Set<Queued>();

  /**
   * A request is handed to the transport. A probe is timed at once: others wait for its answer.
   *
   * @returns whether it waits.
   */
  add(request: Queued, isProbe: boolean): boolean {
    this.#unanswered.set(request, isProbe ? 'probe' : 'waiting');
    if (isProbe) request.awaitHeaders();
    this.#advance();
    return this.#unanswered.get(request) === 'waiting';
  }

  /** Its headers have come. Until its body is read, it is taken for a small one, which takes no place. */
  receiveHeaders(request: Queued, { headers }: Response): void {
    // An answer from the network to one behind: there are more places.
    const hasOvertaken = this.#isBehind(request) && !mayBeStored(headers);
    this.#unanswered.delete(request);
    if (!hasOvertaken) this.#advance();
    else this.#widen(this.#places < multiplexedPlaces ? multiplexedPlaces : Infinity);
  }

  /** Its body is being read. */
  startBody(request: Queued): void {
    this.#bodies.add(request);
    this.#advance();
  }

  /** It has ended, however: told again, nothing happens. */
  end(request: Queued): void {
    const hadBody = this.#bodies.delete(request);
    if (this.#unanswered.delete(request) || hadBody) this.#advance();
  }

  /** The origin speaks HTTP/2 or 3. */
  multiplex(): void {
    if (this.#places < multiplexedPlaces) this.#widen(multiplexedPlaces);
  }

  /** Whether those in front of it have all places. */
  #isBehind(request: Queued): boolean {
    let room = this.#places - this.#bodies.size;
    for (const one of this.#unanswered.keys()) {
      if (one === request) return room <= 0;
      room--;
    }
    return false;
  }

  /** There have been more places all the time: what has counted as waiting was out. */
  #widen(places: number): void {
    this.#places = places;
    this.#advance();
    for (const [request, state] of this.#unanswered)
      if (state !== 'waiting') request.awaitHeadersSinceSent();
  }

  /** Gives the places to the first ones. */
  #advance(): void {
    let room = this.#places - this.#bodies.size;
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

/** The lines of all origins. */
export class Lines {
  readonly #byOrigin = new Map<string, Line>();
  #isWatching = false;

  /** A request with this URL is handed to the transport. @returns the line that it is in. */
  join(url: string, request: Queued, isProbe: boolean): Line {
    const line = this.#lineOf(url);
    if (line.add(request, isProbe)) this.#watch();
    return line;
  }

  #lineOf(url: string): Line {
    const origin = originOf(url);
    const line = this.#byOrigin.get(origin) ?? new Line();
    this.#byOrigin.set(origin, line);
    return line;
  }

  /** Reads from the browser which origins speak HTTP/2 or 3. One that does not allow it shows that by its answers. */
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

/** Whether an answer may come from the browser's cache (RFC 9111 §4.2): that takes no place. */
function mayBeStored(headers: Headers): boolean {
  const isFresh = /max-age=0*[1-9]|immutable/i.test(headers.get('cache-control') ?? '');
  return isFresh || (headers.get('expires') ?? headers.get('last-modified')) !== null;
}
