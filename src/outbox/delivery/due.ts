import { between, type Clock, type Random } from '../../core/lib/clock.ts';
import type { Operation } from '../../core/internal.ts';
import { originOfLane, type Row, type SendingRow, splitLane } from '../store/row.ts';
import { pageSize, type RowStore } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';

/** The fields that decide when an entry is due. */
export type DueEntry = Pick<Row, 'seq'> & Partial<Pick<Row, 'owner' | 'nextRetryAt' | 'lane'>>;

/** An attempt that has sent nothing for this long takes no place. The cause of its wait is unknown. */
const idleMs = 5000;

/** An attempt that is under way. Only its own methods write its fields. */
export class Running {
  readonly entry: SendingRow;
  readonly controller: AbortController = new AbortController();
  /** The operation of its attempt; undefined before that begins. */
  operation: Operation | undefined;
  hasAsked = false;
  /** The origin of its latest request; undefined before there is one. */
  origin: string | undefined;
  /** How many of its requests are under way, or paused before they are sent. */
  open = 0;
  readonly #clock: Clock;
  readonly #places: Pick<Places, 'learn'>;
  #idleSince: number;

  constructor(entry: SendingRow, clock: Clock, places: Pick<Places, 'learn'>) {
    this.entry = entry;
    this.#clock = clock;
    this.#places = places;
    this.#idleSince = clock.now();
  }

  begin(operation: Operation | undefined): void {
    this.operation = operation;
  }

  isIdle(): boolean {
    return this.open === 0 && this.#clock.now() - this.#idleSince >= idleMs;
  }

  /** Records that a request begins, to this origin if that is known. @returns a function that ends it. */
  beginRequest(origin: string | undefined): () => void {
    this.hasAsked = true;
    this.origin = origin ?? this.origin;
    if (origin !== undefined) this.#places.learn(this.entry.handler, origin);
    this.open += 1;
    return () => {
      this.open -= 1;
      this.#idleSince = this.#clock.now();
    };
  }
}

export interface Next {
  readonly seq: number;
  readonly fence: Fence;
  /** Empty while it is not known. */
  readonly lane: string;
  readonly isUrged: boolean;
}

/** An entry whose attempt is under way, or is about to begin. */
export interface Slot extends Next {
  readonly startedAt: number;
  /** The connection to the disk that its place belongs to. */
  readonly connection: number;
  readonly running: Running | undefined;
}

export const isPaused = ({ running }: Slot): boolean => running?.operation?.phase.kind === 'paused';

/** The due entries of one lane, the oldest first, read in pages. */
interface Lane {
  readonly name: string;
  readonly seqs: number[];
  /** More entries are due than are in `seqs`. They are read after those. */
  readonly hasMore: boolean;
  readonly nextAt: number;
}

/** After a success at an origin, the entries that wait for it are spread over this time. The first of a lane is sent at once. */
const wakeMs = { least: 500, most: 4000 } as const;

/** If the clock was set back by less, the waits are not moved. */
const leastSetBackMs = 1000;

/** The due entries of an owner, which this tab sends, as far as they were read. */
export class OwnedEntries {
  readonly fence: Fence;
  readonly #store: RowStore;
  readonly #lanes: Map<string, Lane> = new Map();
  /** The entries that a user wants now. They are sent first. */
  readonly #urged: number[] = [];
  #isStale = true;
  /** How far the clock was set back when the times were last moved: see `SteadyClock`. */
  #setBackMs: number;

  constructor(fence: Fence, store: RowStore, setBackMs: number) {
    this.fence = fence;
    this.#store = store;
    this.#setBackMs = setBackMs;
  }

  lanes(): readonly Lane[] {
    return [...this.#lanes.values()];
  }

  expire(): void {
    this.#isStale = true;
  }

  isThrough(): boolean {
    const isAnyDue = this.lanes().some(({ seqs, hasMore }) => seqs.length > 0 || hasMore);
    return !this.#isStale && this.#urged.length === 0 && !isAnyDue;
  }

  /** When something is to be read next, in epoch milliseconds: Infinity for never. */
  nextReadAt(): number {
    return this.#isStale ? -Infinity : Math.min(...this.lanes().map(({ nextAt }) => nextAt));
  }

  isPageThrough(): boolean {
    return this.lanes().some(({ seqs, hasMore }) => hasMore && seqs.length === 0);
  }

  /** Reads the due entries, including those that this tab is sending. */
  async read(running: ReadonlyMap<number, unknown>, nowMs: number): Promise<void> {
    this.#isStale = false;
    const limit = pageSize + running.size;
    const found = await this.#store.due(this.fence, nowMs, limit);
    const before = new Map(this.#lanes);
    this.#lanes.clear();
    for (const { lane: name, due, nextAt = Infinity } of found) {
      // A change that was announced during the read may be missing.
      const known = new Set([...(before.get(name)?.seqs ?? []), ...due]);
      const seqs = [...known].filter((seq) => !running.has(seq)).sort((a, b) => a - b);
      this.#lanes.set(name, { name, seqs, hasMore: due.length === limit, nextAt });
    }
  }

  add({ seq, lane: name, nextRetryAt = Infinity }: DueEntry, nowMs: number): void {
    if (name === undefined) return this.expire();
    const none: Lane = { name, seqs: [], hasMore: false, nextAt: Infinity };
    const { seqs, hasMore, nextAt } = this.#lanes.get(name) ?? none;
    const isDue = nextRetryAt <= nowMs;
    // Behind a page with more entries, it is read in its turn.
    if (isDue && !(hasMore && seq > (seqs[seqs.length - 1] ?? 0))) insertSorted(seqs, seq);
    const next = isDue ? nextAt : Math.min(nextAt, nextRetryAt);
    this.#lanes.set(name, { name, seqs, hasMore, nextAt: next });
  }

  urge(seq: number): void {
    this.#urged.push(seq);
  }

  takeUrged(): number | undefined {
    return this.#urged.shift();
  }

  take({ name }: Pick<Lane, 'name'>): number | undefined {
    return this.#lanes.get(name)?.seqs.shift();
  }

  /** Moves all waits after the clock was set back, because they were planned by another time. */
  async moveWaits(setBackMs: number, nowMs: number): Promise<void> {
    const byMs = setBackMs - this.#setBackMs;
    if (byMs < leastSetBackMs) return;
    await this.#store.setBack(this.fence, nowMs, byMs);
    this.#setBackMs = setBackMs;
    this.expire();
  }

  /** Makes entries due soon that wait for this origin or, without one, for the network. */
  async wake(origin: string | undefined, wall: Clock, random: Random): Promise<void> {
    // Only this device was without a network, so nothing must be spread.
    const { least, most } = origin === undefined ? { least: 0, most: 0 } : wakeMs;
    for (const { name, nextAt } of this.lanes()) {
      if (!isLaneTo(name, origin) || nextAt === Infinity) continue;
      let isFirst = true;
      await this.#store.wake(this.fence, name, wall.now(), most, () => {
        const drawnMs = isFirst ? 0 : Math.round(between(random, least, most));
        isFirst = false;
        return drawnMs;
      });
      this.expire();
    }
  }
}

/** Inserts in order, nearly always at the end. */
function insertSorted(seqs: number[], seq: number): void {
  let at = seqs.length;
  while (at > 0 && (seqs[at - 1] ?? 0) > seq) at -= 1;
  if (seqs[at - 1] !== seq) seqs.splice(at, 0, seq);
}

/** Whether entries of a lane may go to an origin. Before their first request, their origin is not known. */
export const isLaneTo = (lane: string, origin: string | undefined): boolean =>
  origin === undefined || (originOfLane(lane) ?? origin) === origin;

/** The most entries that are paused while it is not known where those behind them go. */
const mostUndiscovered = 1000;

/**
 * Decides which entries are sent next. Each origin has `parallel` places for entries that are being sent. Entries that are
 * paused take no place, nor do attempts that send nothing; but of one lane no more than `parallel` are paused at once. The
 * origin of an entry is known after its first attempt. Until then it counts for the origin of its handler's latest entry.
 * As that may be wrong, an entry that takes long there counts half.
 */
export class Places {
  readonly #parallel: number;
  readonly #origins: Map<string, string> = new Map();

  constructor(parallel: number) {
    this.#parallel = parallel;
  }

  learn(handler: string, origin: string): void {
    this.#origins.set(handler, origin);
  }

  take(all: Iterable<OwnedEntries>, slots: readonly Slot[], nowMs: number): Next | undefined {
    let first: { readonly owned: OwnedEntries; readonly lane: Lane } | undefined;
    const urgent = slots.filter((slot) => slot.isUrged && !isPaused(slot));
    for (const owned of all) {
      const urged = urgent.length < this.#parallel ? owned.takeUrged() : undefined;
      if (urged !== undefined) return { seq: urged, fence: owned.fence, lane: '', isUrged: true };
      for (const lane of owned.lanes()) {
        const [seq = Infinity] = lane.seqs;
        if (seq < (first?.lane.seqs[0] ?? Infinity) && this.#isFree(lane.name, slots, nowMs))
          first = { owned, lane };
      }
    }
    const seq = first?.owned.take(first.lane);
    if (!first || seq === undefined) return undefined;
    return { seq, fence: first.owned.fence, lane: first.lane.name, isUrged: false };
  }

  #isFree(name: string, slots: readonly Slot[], nowMs: number): boolean {
    const [handler, known] = splitLane(name);
    const origin = known ?? this.#origins.get(handler);
    let sending = 0;
    let paused = 0;
    for (const slot of slots) {
      const { lane, running, startedAt } = slot;
      if (isPaused(slot)) paused += lane === name ? 1 : 0;
      else if (!running?.isIdle() && this.#isThere(lane, running, name, origin))
        sending += known === undefined && nowMs - startedAt >= idleMs ? 0.5 : 1;
    }
    const mostPaused = known === undefined ? mostUndiscovered : this.#parallel;
    return sending < this.#parallel && paused < mostPaused;
  }

  #isThere(
    lane: string,
    running: Running | undefined,
    name: string,
    origin: string | undefined,
  ): boolean {
    const [handler, itsOwn] = splitLane(lane);
    const other = running?.origin ?? itsOwn ?? this.#origins.get(handler);
    return origin === undefined || other === undefined ? lane === name : other === origin;
  }
}
