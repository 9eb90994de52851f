import type { Clock } from '../lib/clock.ts';
import { toUrl } from '../lib/input/url.ts';
import type { Processed } from '../policy/outcome.ts';
import type { SentWrite, ShareWrites, WritePlace, WriteMessage } from '../tabs/write-message.ts';

/** A later write supersedes an earlier one, or it is still `open` whether it does. */
export type Obstacle = 'superseded' | 'open';

/** The operation of a write. */
interface Writer {
  readonly attempt: number;
  readonly phase: {
    readonly kind: string;
    readonly decision?: { readonly retryAt: number | undefined } | undefined;
    readonly skip?: (() => void) | undefined;
  };
  /** When the user meant it; undefined where that was when its first request was asked for. */
  readonly given: { readonly meantAt?: number | undefined };
  readonly writeTo: (resource: string) => Write | undefined;
  readonly keepWrite: (resource: string, write: Write) => void;
}

/** Its owner has decided by then whether a write that has failed is sent again. */
const decidedMs = 50;
/** A retry that is due is sent by then. */
const latestMs = 2000;
/** So many resources are remembered: those that were written last. */
const mostResources = 500;

const isBefore = (place: WritePlace, other: WritePlace | undefined): boolean =>
  !!other && (place.at < other.at || (place.at === other.at && place.turn < other.turn));

const later = (known: WritePlace | undefined, place: WritePlace): WritePlace =>
  known && isBefore(place, known) ? known : place;

/** The known writes to one URL. */
class Resource {
  readonly clock: Clock;
  /** The latest of those that are over and may have been done: of those that replace it, and of the others. */
  #replacedAt: WritePlace | undefined;
  #changedAt: WritePlace | undefined;
  /** Those that were sent, and may be sent again. */
  readonly #open: Set<SentWrite> = new Set();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  open(write: SentWrite): void {
    this.#open.add(write);
  }

  /** A write was answered, or its operation is over. */
  update(write: SentWrite, isDone: boolean): void {
    if (isDone) this.#close(write);
    else if (!write.mayBeDone) this.#open.delete(write);
    for (const earlier of this.#open) earlier.endIfSuperseded?.();
  }

  /** Whether a later write stands in the way of this one; undefined if none does. */
  obstacleTo(place: WritePlace, isAppending: boolean): Obstacle | undefined {
    this.#closeOld();
    if (isBefore(place, this.#replacedAt)) return 'superseded';
    // Of two that add something both count.
    if (!isAppending && isBefore(place, this.#changedAt)) return 'superseded';
    for (const one of this.#open)
      if (isBefore(place, one.place) && (one.isReplacing || !isAppending)) return 'open';
    return undefined;
  }

  #closeOld(): void {
    const now = this.clock.now();
    for (const one of this.#open) if (one.openUntil() <= now) this.#close(one);
  }

  /** It is over. */
  #close(write: SentWrite): void {
    this.#open.delete(write);
    const { place, isReplacing } = write;
    if (isReplacing) this.#replacedAt = later(this.#replacedAt, place);
    else this.#changedAt = later(this.#changedAt, place);
  }
}

/** One write of an operation to one resource, in all its attempts. */
export class Write implements SentWrite {
  readonly place: WritePlace;
  readonly isReplacing: boolean;
  mayBeDone = false;
  readonly #resource: Resource;
  readonly #isAppending: boolean;
  readonly #isGuarded: boolean;
  readonly #request: { readonly url: string };
  readonly #attempt: number;
  readonly #order: WriteOrder;
  #writer: Writer;
  #isUnderWay = false;
  #answeredAt = 0;

  constructor(
    resource: Resource,
    place: WritePlace,
    writer: Writer,
    request: { readonly method: string; readonly url: string },
    isGuarded: boolean,
    order: WriteOrder,
  ) {
    const { method } = request;
    this.place = place;
    this.isReplacing = method === 'PUT' || method === 'DELETE';
    this.#resource = resource;
    this.#isAppending = method === 'POST';
    this.#isGuarded = isGuarded;
    this.#request = request;
    this.#attempt = writer.attempt;
    this.#writer = writer;
    this.#order = order;
  }

  /** Whether this request is the same write: sent again, and not another one of the same attempt. */
  isOf(writer: Writer, request: object): boolean {
    return this.#request === request || this.#attempt !== writer.attempt;
  }

  /** Its operation, where each attempt has one of its own. */
  goOn(writer: Writer): this {
    this.#writer = writer;
    return this;
  }

  obstacle(): Obstacle | undefined {
    return this.#isGuarded ? undefined : this.#resource.obstacleTo(this.place, this.#isAppending);
  }

  /** It goes out. */
  send(): void {
    this.#isUnderWay = true;
    this.#resource.open(this);
    this.#order.announce(this, this.#request.url, 'sent');
  }

  /** It was answered, or was not. */
  recordOutcome(processed: Processed, response: Response | undefined): void {
    this.#isUnderWay = false;
    this.#answeredAt = this.#resource.clock.now();
    this.mayBeDone ||= processed !== 'no';
    this.#resource.update(this, processed === 'yes');
    const { url } = this.#request;
    this.#order.announce(this, url, this.mayBeDone ? 'done' : 'refused');
    const created = response?.status === 201 && response.headers.get('location');
    if (created) this.#order.recordCreated(this, created, url);
  }

  /** Its operation is over. */
  end(): void {
    if (this.mayBeDone) this.#resource.update(this, true);
  }

  openUntil(): number {
    const { kind, decision } = this.#writer.phase;
    if (this.#isUnderWay || kind === 'paused') return Infinity;
    if (kind === 'ended') return 0;
    const retryAt = kind === 'waiting' ? decision?.retryAt : undefined;
    return retryAt === undefined ? this.#answeredAt + decidedMs : retryAt + latestMs;
  }

  /** A later write is done: the wait for a retry ends. */
  endIfSuperseded(): void {
    if (this.obstacle() === 'superseded') this.#writer.phase.skip?.();
  }
}

/**
 * The order of writes, so that a retry never undoes a later one. Writes to one URL have the order in which they were
 * first asked for. `PUT` and `DELETE` replace what earlier ones have made, `POST` adds to it, and others change it: a
 * retry is superseded by what was written later, or may have been; but a `POST` only where it was replaced.
 */
export class WriteOrder {
  readonly #clock: Clock;
  readonly #share: () => ShareWrites | undefined;
  /** By URL, those written last at the end. */
  readonly #resources: Map<string, Resource> = new Map();
  #announce: ((word: WriteMessage) => void) | undefined;
  #lastTurn = 0;

  constructor(clock: Clock, share: () => ShareWrites | undefined) {
    this.#clock = clock;
    this.#share = share;
  }

  /**
   * A request of this operation that writes is asked for. `isGuarded`: the server itself refuses it where something
   * else was written meanwhile.
   */
  begin(
    writer: Writer,
    request: { readonly method: string; readonly url: string },
    isGuarded: boolean,
  ): Write {
    this.#announce ??= this.#share()?.((name, write, state) => {
      const elsewhere = this.#resourceAt(name);
      if (state === 'sent') elsewhere.open(write);
      else elsewhere.update(write, state === 'done');
    });
    const name = resourceOf(request.url);
    const known = writer.writeTo(name);
    if (known?.isOf(writer, request)) return known.goOn(writer);
    const now = this.#clock.now();
    const place = { at: Math.min(now, writer.given.meantAt ?? now), turn: ++this.#lastTurn };
    const resource = this.#resourceAt(name);
    const write = new Write(resource, place, writer, request, isGuarded, this);
    writer.keepWrite(name, write);
    return write;
  }

  /** Tells the other tabs of a write to this URL. */
  announce({ place, isReplacing }: Write, url: string, state: WriteMessage['state']): void {
    const agoMs = this.#clock.now() - place.at;
    this.#announce?.({ resource: resourceOf(url), write: place.turn, agoMs, isReplacing, state });
  }

  /** A write to one URL has made what is at another: `location`, as its answer says. */
  recordCreated({ place }: Write, location: string, url: string): void {
    const created = { place, isReplacing: false, mayBeDone: true, openUntil: () => 0 };
    this.#resourceAt(resourceOf(location, toUrl(url)?.href)).update(created, true);
  }

  forget(): void {
    this.#resources.clear();
  }

  #resourceAt(name: string): Resource {
    const all = this.#resources;
    const resource = all.get(name) ?? new Resource(this.#clock);
    all.delete(name);
    all.set(name, resource);
    // Those that were written last stay.
    for (const first of all.keys()) {
      if (all.size <= mostResources) break;
      all.delete(first);
    }
    return resource;
  }
}

/** The resource that a URL names. Its query string counts; its fragment and a slash at the end of its path do not. */
function resourceOf(url: string, base?: string): string {
  const parsed = toUrl(url, base);
  if (!parsed) return url;
  const { origin, pathname, search } = parsed;
  return `${origin}${pathname.replace(/\/+$/, '')}${search}`;
}
