import type { Random, SteadyClock } from '../../core/lib/clock.ts';
import { sleep, startAlarm } from '../../core/lib/timer.ts';
import { reasonOf } from '../store/disk.ts';
import { isInPage, pageFence } from '../store/memory.ts';
import type { Row } from '../store/row.ts';
import { alsoChanged, type RowStore, type Settled } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import {
  type DueEntry,
  isLaneTo,
  isPaused,
  type Next,
  OwnedEntries,
  Places,
  Running,
  type Slot,
} from './due.ts';
import type { Delivery } from './deliver.ts';
import type { Attempt, EntryListener, OutboxPage } from './page.ts';

export interface WorkerContext
  extends
    Pick<OutboxPage, 'clock' | 'network' | 'parallel' | 'clearing'>,
    Pick<EntryListener, 'onChange' | 'onDue' | 'onEnd'> {
  readonly random: Random;
  /** Measures durations. Times on the disk are those of the wall clock. */
  readonly steady: SteadyClock;
  readonly store: RowStore;
  /** Makes one attempt; undefined if its end is no longer wanted. Never rejects. */
  readonly attempt: Delivery['attempt'];
  readonly onLost: (fence: Fence) => void;
  readonly onError: (error: unknown) => void;
  readonly onIdle: () => void;
}

/** The longest timer, because timers stop while a device sleeps. */
const longestTimerMs = 5000;
/** A store that fails is tried again after this time. */
const errorPauseMs = 5000;
/** An entry that cannot be read or written is tried again ever later, and at the latest after this time. */
const longestAsideMs = 60_000;
/** Woken entries are usually sent within this time. */
const releaseMs = 5000;
/** How often the write of an end is tried: after a second, and then after twice as long each time. */
const tries = 5;

/** Sends the entries of the owners that this tab has, when they are due. */
export class Worker {
  readonly #context: WorkerContext;
  readonly #clock: SteadyClock;
  readonly #slots: Map<number, Slot> = new Map();
  readonly #driven: Map<string, OwnedEntries> = new Map();
  readonly #places: Places;
  /** Rows that could not be claimed or written. */
  readonly #aside: Map<number, { readonly times: number; readonly until: number }> = new Map();
  /** The places of entries whose turn came while they were claimed: for another owner, that claim finds nothing. */
  readonly #missed: Set<number> = new Set();
  readonly #unsubscribe: () => void;
  #timer: unknown;
  #pausedUntil = -Infinity;
  #moving: Promise<void> | undefined;
  #isPumping = false;
  #isAskedAgain = false;
  #isOver = false;
  #waking = 0;
  /** The present connection to the disk. Places of another connection belong to other rows. */
  #connection = 0;
  #releasedAt = -Infinity;
  /** The places of attempts that were under way without a wait when entries were released. */
  #sentBefore: ReadonlySet<number> = new Set();

  constructor(context: WorkerContext) {
    this.#context = context;
    this.#clock = context.steady;
    this.#places = new Places(context.parallel);
    const { network } = context;
    let wasOffline = network.isOffline();
    this.#unsubscribe = network.subscribe(() => {
      const isOffline = network.isOffline();
      if (wasOffline && !isOffline) this.wake();
      wasOffline = isOffline;
      this.check();
    });
  }

  /** Sends the entries of this owner from now on. @returns whether that is new. */
  drive(fence: Fence): boolean {
    if (this.#isOver || this.#isDriven(fence)) return false;
    const setBackMs = this.#clock.setBackMs();
    this.#driven.set(fence.owner, new OwnedEntries(fence, this.#context.store, setBackMs));
    // The owner was just written, so the store works.
    this.#pausedUntil = -Infinity;
    this.check();
    return true;
  }

  /** Called when the rows on the disk are lost. Their attempts go on, and are found again by the ids of their entries. */
  disconnect(): void {
    this.#connection += 1;
    for (const slot of this.#slots.values())
      if (!this.#isConnected(slot)) this.#slots.delete(slot.seq);
    this.#aside.clear();
  }

  drop(owner: string): void {
    this.#driven.delete(owner);
  }

  /** Adds a due entry of an owner of this tab. `isUrged`: a user wants it now. */
  add(entry: DueEntry, isUrged: boolean = false): void {
    const owned = this.#driven.get(entry.owner ?? '');
    if (!owned) return;
    if (isUrged) {
      this.#slots.get(entry.seq)?.running?.operation?.pauses.each('go');
      owned.urge(entry.seq);
    } else owned.add(entry, this.#context.clock.now());
    this.check();
  }

  refresh(): void {
    this.#expire();
    this.check();
  }

  /** Called when an attempt is paused or goes on: there may be a place for another one. */
  check(): void {
    void this.#pump();
  }

  /** Makes waiting entries due soon: a request to this origin succeeded or, without an origin, the network is back. */
  wake(origin?: string): void {
    this.#waking += 1;
    if (this.#isAnyKept(origin)) {
      this.#releasedAt = this.#clock.now();
      const sending = [...this.#slots.values()].filter((slot) => !isPaused(slot));
      this.#sentBefore = new Set(sending.map(({ seq }) => seq));
    }
    void this.#wakeAll(origin);
  }

  /** Whether entries that waited for this origin are about to be sent. */
  isReleasing(origin: string): boolean {
    if (this.#clock.now() > this.#releasedAt + releaseMs) return false;
    const isSentBefore = ({ seq, startedAt }: Slot): boolean =>
      this.#sentBefore.has(seq) && startedAt <= this.#releasedAt;
    const isComing = (at: number): boolean => this.#waking > 0 && at < Infinity;
    return (
      this.#slotsTo(origin).some((slot) => !isSentBefore(slot) && !isAnswered(slot)) ||
      this.#lanesTo(origin).some(({ seqs, nextAt }) => seqs.length > 0 || isComing(nextAt))
    );
  }

  /** Aborts the attempt at the entry with this id, or all attempts. */
  abort(id?: string): void {
    for (const { running } of this.#slots.values())
      if (running && (id ?? running.entry.id) === running.entry.id) running.controller.abort();
  }

  /** When the next entry is due; `Infinity` for none. In the past while one is due or under way. */
  nextAt(): number {
    return this.#isIdle() ? this.#nextReadAt() : -Infinity;
  }

  dispose(): void {
    this.#isOver = true;
    this.#clock.clearTimeout(this.#timer);
    this.#unsubscribe();
    this.#driven.clear();
  }

  #isConnected({ seq, connection }: Pick<Slot, 'seq' | 'connection'>): boolean {
    return connection === this.#connection || isInPage({ seq });
  }

  #isDriven({ owner, token }: Fence): boolean {
    return this.#driven.get(owner)?.fence.token === token;
  }

  #owned(): readonly OwnedEntries[] {
    return [...this.#driven.values()];
  }

  #expire(): void {
    for (const owned of this.#owned()) owned.expire();
  }

  #isThrough(): boolean {
    return this.#owned().every((owned) => owned.isThrough());
  }

  #isIdle(): boolean {
    return this.#slots.size === 0 && this.#isThrough();
  }

  #nextReadAt(): number {
    return Math.min(Infinity, ...this.#owned().map((owned) => owned.nextReadAt()));
  }

  #slotsTo(origin: string): readonly Slot[] {
    return [...this.#slots.values()].filter(({ lane }) => isLaneTo(lane, origin));
  }

  #lanesTo(origin: string): ReturnType<OwnedEntries['lanes']> {
    return this.#owned()
      .flatMap((owned) => owned.lanes())
      .filter(({ name }) => isLaneTo(name, origin));
  }

  /** Whether entries wait that can be released, and are not only under way. */
  #isAnyKept(origin: string | undefined): boolean {
    if (origin === undefined) return !this.#isIdle() || this.#nextReadAt() < Infinity;
    return (
      this.#slotsTo(origin).some(isPaused) ||
      this.#lanesTo(origin).some(({ nextAt }) => nextAt < Infinity)
    );
  }

  async #wakeAll(origin: string | undefined): Promise<void> {
    const { clock, random } = this.#context;
    try {
      await this.#obeyClock();
      for (const owned of this.#owned()) await owned.wake(origin, clock, random);
    } catch (error) {
      this.#pause(error);
    }
    this.#waking -= 1;
    this.check();
  }

  /** Moves the waits after the clock was set back. One move at a time, because two would move them too far. */
  #obeyClock(): Promise<void> {
    return (this.#moving ??= this.#moveWaits().finally(() => (this.#moving = undefined)));
  }

  async #moveWaits(): Promise<void> {
    const setBackMs = this.#clock.setBackMs();
    for (const owned of this.#owned()) await owned.moveWaits(setBackMs, this.#context.clock.now());
  }

  async #pump(): Promise<void> {
    const { onIdle } = this.#context;
    if (this.#isPumping) {
      this.#isAskedAgain = true;
      return;
    }
    this.#isPumping = true;
    try {
      do {
        this.#isAskedAgain = false;
        await this.#fill();
      } while (this.#isAskedAgain);
    } catch (error) {
      this.#pause(error);
    } finally {
      this.#isPumping = false;
    }
    this.#plan();
    if (this.#isIdle() && !this.#isOver) onIdle();
  }

  async #fill(): Promise<void> {
    const { clock, network } = this.#context;
    await this.#obeyClock();
    const read = async (isWanted: (owned: OwnedEntries) => boolean): Promise<void> => {
      for (const owned of this.#sendable())
        if (isWanted(owned)) await owned.read(this.#slots, clock.now());
    };
    await read((owned) => owned.nextReadAt() <= clock.now());
    while (!network.isOffline()) {
      await read((owned) => owned.isPageThrough());
      const nowMs = this.#clock.now();
      const next = this.#places.take(this.#sendable(), [...this.#slots.values()], nowMs);
      if (!next) break;
      const isAside = !next.isUrged && (this.#aside.get(next.seq)?.until ?? 0) > nowMs;
      if (this.#slots.has(next.seq)) this.#missed.add(next.seq);
      else if (!isAside) void this.#run(next);
    }
  }

  /** The owners whose entries may be sent. During a clear, or without a working disk, only those of this page. */
  #sendable(): readonly OwnedEntries[] {
    const isPageAlone =
      this.#context.clearing() !== undefined || this.#clock.now() < this.#pausedUntil;
    return this.#owned().filter((owned) => !isPageAlone || isOfPage(owned));
  }

  #plan(): void {
    this.#clock.clearTimeout(this.#timer);
    if (this.#isOver) return;
    const pausedMs = this.#pausedUntil - this.#clock.now();
    // Due entries wait for a free place, or until the store is tried again.
    const isWaiting = this.#slots.size > 0 && !this.#isThrough();
    const nowMs = this.#context.clock.now();
    const dueInMs = this.#owned().map((owned) =>
      Math.max(owned.nextReadAt() - nowMs, isOfPage(owned) ? 0 : pausedMs, 0),
    );
    const delayMs = Math.min(Infinity, ...dueInMs);
    if (delayMs === Infinity && !isWaiting) return;
    this.#timer = this.#clock.setTimeout(() => this.check(), Math.min(delayMs, longestTimerMs));
  }

  #pause(error: unknown): void {
    this.#pausedUntil = this.#clock.now() + errorPauseMs;
    this.#expire();
    this.#context.onError(error);
  }

  #setAside(seq: number, error: unknown): void {
    const times = (this.#aside.get(seq)?.times ?? 0) + 1;
    const forMs = Math.min(errorPauseMs * Math.max(1, 2 ** (times - 2)), longestAsideMs);
    this.#aside.set(seq, { times, until: this.#clock.now() + forMs });
    startAlarm(this.#clock, forMs, () => this.refresh());
    this.#context.onError(error);
  }

  async #run(next: Next): Promise<void> {
    const slot: Slot = {
      ...next,
      startedAt: this.#clock.now(),
      running: undefined,
      connection: this.#connection,
    };
    this.#slots.set(next.seq, slot);
    let settled: Settled | undefined;
    try {
      settled = await this.#send(slot);
      this.#aside.delete(next.seq);
    } catch (error) {
      // A failure that is not the database's may concern only this entry, so no other entry waits.
      if (reasonOf(error)) this.#pause(error);
      else this.#setAside(next.seq, error);
    }
    if (this.#isConnected(slot)) this.#slots.delete(next.seq);
    if (this.#missed.delete(next.seq)) this.#expire();
    for (const row of settled ? [settled.row, ...alsoChanged(settled)] : [])
      if (row?.owner !== undefined)
        this.#driven.get(row.owner)?.add(row, this.#context.clock.now());
    this.check();
  }

  async #send(slot: Slot): Promise<Settled | undefined> {
    const { seq, fence, isUrged } = slot;
    const { clock, store, attempt, onLost, onDue, onChange, onEnd } = this.#context;
    const claim = await store.claim(seq, fence, clock.now());
    if (claim === 'lost') {
      if (this.#isDriven(fence)) this.drop(fence.owner);
      onLost(fence);
      return undefined;
    }
    if (claim.next) onDue(claim.next);
    const { row: entry } = claim;
    // The owner was given up meanwhile: the entries were discarded, or the page was put away.
    if (!entry || !this.#isDriven(fence)) return undefined;
    const running = new Running(entry, this.#clock, this.#places);
    this.#slots.set(seq, { ...slot, lane: entry.lane, running });
    onChange();
    const made = await attempt(running, fence, isUrged);
    const settled = made && (await this.#writeEnd(slot, entry, made));
    // The row may still be there, without another tab that checks: this tab has slept.
    if (!settled) this.#expire();
    if (made) onEnd(made, settled);
    return settled;
  }

  /** Writes an end, and tries again if that fails, because the outcome is known. */
  async #writeEnd(
    { fence, seq, connection }: Slot,
    entry: Row,
    { change, onWritten }: Attempt,
  ): Promise<Settled | undefined> {
    const { clock, store, onError } = this.#context;
    for (let left = tries; ; left -= 1) {
      // Without the connection, the end is kept, and written when the entry is claimed again.
      if (this.#isOver || !this.#isConnected({ seq, connection })) return undefined;
      try {
        // Waits are moved first: its new time is from now, and must not be moved with them.
        await this.#obeyClock();
        // This tab may have slept meanwhile, and taken its own owner over.
        const current = this.#driven.get(fence.owner)?.fence ?? fence;
        const written = await store.recordEnd(entry, current, change, clock.now());
        onWritten?.();
        return written;
      } catch (error) {
        if (left === 1) throw error;
        onError(error);
        await sleep(this.#clock, 1000 * 2 ** (tries - left), undefined);
      }
    }
  }
}

const isOfPage = ({ fence }: OwnedEntries): boolean => fence.owner === pageFence.owner;

/** Whether the write was answered, and its handler does something else: it may await the very read that would wait for it. */
const isAnswered = ({ running }: Slot): boolean =>
  running?.open === 0 && running.origin !== undefined;
