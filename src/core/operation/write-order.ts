import type { Clock } from '../lib/clock.ts';
import { keepLast } from '../lib/store.ts';
import { normalizeEscapes, toUrl } from '../lib/input/url.ts';
import type { Processed } from '../policy/outcome.ts';
import type {
  SentWrite,
  ShareWrites,
  WritePlace,
  WriteMessage,
  WriteScope,
} from '../tabs/write-message.ts';

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

/** The time within which an owner decides whether a failed write is sent again. */
const decidedMs = 50;
/** A retry that is due is sent by then. */
const latestMs = 2000;
/** A request that writes. */
interface WrittenRequest {
  readonly method: string;
  readonly url: string;
  readonly init: { readonly body?: unknown };
}

/** How many resources are remembered, the last written first. */
const mostResources = 500;

const isBefore = (place: WritePlace, other: WritePlace | undefined): boolean =>
  !!other && (place.at < other.at || (place.at === other.at && place.turn < other.turn));

/** Whether a write undoes this later one, if it is sent after it. */
function undoes(earlier: WriteScope, { method, fields }: WriteScope): boolean {
  if (method === 'PUT') return true;
  // A second DELETE finds nothing.
  if (method === 'DELETE') return earlier.method !== 'DELETE';
  // Of two that add something both count, and so do changes of different fields.
  if (earlier.method === 'POST') return false;
  return !fields || !earlier.fields || fields.some((field) => earlier.fields?.includes(field));
}

/** A write that is over and may have been done. */
type Done = WriteScope & Pick<SentWrite, 'place'>;

/** How many different writes to one resource are told apart. */
const mostScopes = 50;

/** The known writes to one URL. */
class Resource {
  readonly clock: Clock;
  /** Those that are over and may have been done: by what they change, the latest. */
  readonly #done: Map<string, Done> = new Map();
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
  obstacleTo(write: Write): Obstacle | undefined {
    this.#closeOld();
    const isIn = (all: Iterable<Done>): boolean =>
      [...all].some((one) => isBefore(write.place, one.place) && undoes(write, one));
    if (isIn(this.#done.values())) return 'superseded';
    return isIn(this.#open) ? 'open' : undefined;
  }

  #closeOld(): void {
    const now = this.clock.now();
    for (const one of this.#open) if (one.openUntil() <= now) this.#close(one);
  }

  /** Removes a write that is over. */
  #close(write: SentWrite): void {
    this.#open.delete(write);
    const { place, method, fields } = write;
    const id = JSON.stringify([method, fields]);
    if (isBefore(place, this.#done.get(id)?.place)) return;
    this.#done.delete(id);
    this.#done.set(id, { place, method, fields });
    keepLast(this.#done, mostScopes);
  }
}

/** One write of an operation to one resource, in all its attempts. */
export class Write implements SentWrite {
  readonly place: WritePlace;
  readonly method: string;
  readonly fields: readonly string[] | undefined;
  mayBeDone = false;
  readonly #resource: Resource;
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
    request: WrittenRequest,
    isGuarded: boolean,
    order: WriteOrder,
  ) {
    this.place = place;
    this.method = request.method;
    this.fields = fieldsOf(request);
    this.#resource = resource;
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

  /** Hands the write to the operation of its next attempt, where each attempt has an operation of its own. */
  goOn(writer: Writer): this {
    this.#writer = writer;
    return this;
  }

  obstacle(): Obstacle | undefined {
    if (this.#isGuarded) return undefined;
    return this.#resource.obstacleTo(this) ?? this.#order.obstacleBelow(this, this.#request.url);
  }

  /** Records that the write is sent now. */
  send(): void {
    this.#isUnderWay = true;
    this.#resource.open(this);
    this.#order.announce(this, this.#request.url, 'sent');
  }

  /** Records the answer to the write, or that none came. */
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

  /** Records that the operation of the write is over. */
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
 * retry is superseded by what was written later, or may have been; but a `POST` only where it was replaced, a `PATCH`
 * only where its fields were written, and a `DELETE` not by another, but by what was written below its URL.
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
  begin(writer: Writer, request: WrittenRequest, isGuarded: boolean): Write {
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

  /**
   * Whether a later write below the URL of a `DELETE` stands in its way: it has undone the deletion (`/todos/1/restore`),
   * or has added to what was deleted (`/cart/items`).
   */
  obstacleBelow(write: Write, url: string): Obstacle | undefined {
    if (write.method !== 'DELETE') return undefined;
    const above = `${resourceOf(url)}/`;
    const below = [...this.#resources].filter(([name]) => name.startsWith(above));
    return below.map(([, resource]) => resource.obstacleTo(write)).find((found) => found);
  }

  /** Tells the other tabs of a write to this URL. */
  announce({ place, method, fields }: Write, url: string, state: WriteMessage['state']): void {
    const agoMs = this.#clock.now() - place.at;
    this.#announce?.({
      resource: resourceOf(url),
      write: place.turn,
      agoMs,
      method,
      fields,
      state,
    });
  }

  /** A write to one URL has made what is at another: `location`, as its answer says. */
  recordCreated({ place }: Write, location: string, url: string): void {
    const created = { place, method: 'POST', mayBeDone: true, openUntil: () => 0 };
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
    keepLast(all, mostResources);
    return resource;
  }
}

/**
 * The resource that a URL names. Its query string counts; its fragment, a slash at the end of its path and the spelling
 * of its characters do not.
 */
function resourceOf(url: string, base?: string): string {
  const parsed = toUrl(url, base);
  if (!parsed) return url;
  const { origin, pathname, search } = parsed;
  return origin + normalizeEscapes(pathname.replace(/\/+$/, '') + search);
}

/** The fields that a PATCH of a JSON object sets; undefined for any other write. */
function fieldsOf({ method, init }: WrittenRequest): readonly string[] | undefined {
  if (method !== 'PATCH' || typeof init.body !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(init.body);
    const isObject = Object(value) === value && !Array.isArray(value);
    return isObject ? Object.keys(value as object) : undefined;
  } catch {
    return undefined;
  }
}
