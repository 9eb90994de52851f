import { type Alarm, startAlarm } from '../lib/timer.ts';
import { type Counts, pagesOf, RowStore } from './store/row-store.ts';
import type { Backend } from './store/schema.ts';
import type { Unplaced } from './store/row.ts';
import type { Kept } from './enqueue.ts';
import { Engine } from './delivery/engine.ts';
import type { EntryListener, OutboxPage } from './delivery/page.ts';
import { discarded, disposedOf, leftBehind } from './errors.ts';
import type { DiskListener } from './store/disk.ts';
import { createMemoryBackend } from './store/memory.ts';
import { DatabaseError, hasIndexedDb, type NotDurableReason, reasonOf } from './store/disk.ts';

/** An outbox in this page, with its entries. */
export interface OutboxParts extends OutboxPage {
  readonly storage: EntryStorage;
  readonly listener: EntryListener;
}

/** Opens the database of an outbox. @see openIndexedDb */
export type OpenDatabase = (listener: DiskListener) => Promise<Backend>;

/** A database that is not there is opened again after this time, and then after twice as long each time. */
const reopenMs = 1000;
const longestReopenMs = 60_000;

/**
 * Where the entries of this page are: on the disk, or in the page as long as the disk does not take them. A
 * connection that fails is closed, and another is opened; then what the page holds is moved to the disk.
 */
export class EntryStorage {
  readonly #page: OutboxPage;
  readonly #openDatabase: OpenDatabase;
  readonly #listener: EntryListener;
  /** A database was opened: what an earlier page, or an earlier connection, has left can be sent. */
  readonly #onOpen: (engine: Engine) => Promise<void>;
  readonly #hasDisk: boolean = hasIndexedDb();
  readonly #isOpen: Promise<void>;
  #durable: Engine | undefined;
  #memory: Engine | undefined;
  #waitMs = reopenMs;
  #setReopening: Alarm | undefined;
  #opening: Promise<void> | undefined;
  #moving: Promise<void> | undefined;
  #isStopped = false;
  #isOver = false;
  /** Why the database is not open. */
  #failure: unknown;
  /** Entries that the page holds, and that a connection that failed may have written all the same. */
  readonly #copies: Set<string> = new Set();

  constructor(
    page: OutboxPage,
    open: OpenDatabase,
    listener: EntryListener,
    onOpen: (engine: Engine) => Promise<void>,
  ) {
    this.#page = page;
    this.#openDatabase = open;
    this.#listener = listener;
    this.#onOpen = onOpen;
    this.#isOpen = this.#openOnce();
  }

  /** Resolves once it is known whether there is a disk; rejects once it is disposed of. */
  async ready(): Promise<void> {
    if (this.#isStopped) throw disposedOf('outbox');
    await this.#isOpen;
  }

  durable(): Engine | undefined {
    return this.#durable;
  }

  engines(): readonly Engine[] {
    return [this.#durable, this.#memory].filter((engine) => engine !== undefined);
  }

  /** Whether there are, or may be, entries on a disk that cannot be read at the moment. */
  isBlind(): boolean {
    return this.#hasDisk && !this.#durable;
  }

  /** @throws DatabaseError while entries may be on a disk that cannot be read. */
  refuseBlind(): void {
    if (this.isBlind()) throw this.#failure;
  }

  /**
   * Opens the database once more, where it is not open. @returns why it is not; undefined when it is, or
   * this environment has none.
   */
  async reopen(): Promise<{ readonly reason: unknown } | undefined> {
    await this.#opening;
    if (this.isBlind() && !this.#isOver) {
      this.#setReopening?.(Infinity);
      await this.#openOnce();
    }
    return this.isBlind() ? { reason: this.#failure } : undefined;
  }

  /** This engine is no longer used; its database is opened anew later. */
  lose(engine: Engine | undefined, reason: NotDurableReason): void {
    if (this.#isOver || !engine || engine !== this.#durable) return;
    this.#durable = undefined;
    this.#failure = new DatabaseError(reason);
    engine.dispose();
    this.#page.display.show({ storage: reason });
    this.#page.display.refresh();
    if (reason !== 'newer-version') this.#openLater();
  }

  /** Writes what a user has asked for; whether the disk takes it is shown. Rejects as `work` does. */
  async write<T>(
    engine: Engine,
    work: () => Promise<T>,
    isWanted: () => boolean = () => true,
  ): Promise<T> {
    try {
      const written = await work();
      if (engine === this.#durable) {
        this.#waitMs = reopenMs;
        this.#page.display.show({ storage: 'durable' });
      }
      return written;
    } catch (error) {
      if (isWanted() && error instanceof DatabaseError) this.#show(engine, error, error.reason);
      throw error;
    }
  }

  /**
   * Keeps an entry, on the disk if that is possible. `isMoved`: it was kept before, and belongs to a clear that
   * this page has not heard of.
   *
   * @throws SteadfetchError (as a rejection) once `isWanted` says that it was discarded meanwhile.
   */
  async add(entry: Unplaced, isWanted: () => boolean, isMoved: boolean = false): Promise<Kept> {
    await this.#isOpen;
    await this.#move();
    const engine = this.#durable;
    // Behind one of its scope that the disk does not take.
    const isBehind =
      entry.scope !== undefined && (await this.#memory?.store.isBlocked(entry.scope));
    if (engine && !isBehind) {
      try {
        const add = () => engine.add(entry, isWanted, isMoved);
        return { entry: await this.write(engine, add, isWanted), savedIn: engine.generation };
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        // One that was sent before may be there from before.
        if (!entry.isInDoubt) this.#copies.add(entry.id);
        if (!isWanted()) throw error;
      }
    }
    if (this.#isStopped) throw leftBehind(entry, false);
    this.#memory ??= this.#createMemory();
    return { entry: await this.#memory.add(entry, isWanted), savedIn: undefined };
  }

  /** Counts the entries; undefined where they cannot be read. */
  async count(nowMs: number): Promise<Counts | undefined> {
    if (this.isBlind()) return undefined;
    const reads = this.engines().map(({ store }) => store.count(nowMs, this.#page.pauses));
    return Promise.all(reads).then(sumOf, () => undefined);
  }

  /** Nothing more is sent, and nothing of earlier pages is taken; what is submitted is still kept. */
  stop(): void {
    this.#isStopped = true;
    this.#setReopening?.(Infinity);
    for (const { worker } of this.engines()) {
      worker.abort();
      worker.dispose();
    }
  }

  dispose(): void {
    this.#isOver = true;
    this.#setReopening?.(Infinity);
    for (const engine of this.engines()) engine.dispose();
  }

  #show(engine: Engine | undefined, error: unknown, reason = reasonOf(error)): void {
    if (reason && engine && engine === this.#durable) this.#page.display.show({ storage: reason });
  }

  #openOnce(): Promise<void> {
    return (this.#opening ??= this.#open().finally(() => (this.#opening = undefined)));
  }

  #openLater(): void {
    const { clock } = this.#page;
    this.#setReopening = startAlarm(clock, this.#waitMs, () => void this.#openOnce());
    this.#waitMs = Math.min(2 * this.#waitMs, longestReopenMs);
  }

  async #open(): Promise<void> {
    const { display } = this.#page;
    let engine: Engine | undefined;
    try {
      engine = await this.#connect();
      if (this.#isOver) return engine.dispose();
      await this.#removeCopies(engine);
    } catch (error) {
      engine?.dispose();
      this.#failure = error;
      if (this.#isOver) return;
      const reason = reasonOf(error) ?? 'unavailable';
      display.show({ storage: reason });
      if (this.#hasDisk && reason !== 'newer-version') this.#openLater();
      return;
    }
    this.#durable = engine;
    if (this.#isStopped) return engine.worker.dispose();
    display.show({ storage: 'durable' });
    display.refresh();
    this.#resume(engine).catch(engine.onError);
  }

  /** What the page holds may be older than a clear in this database, and what is submitted from now on is not. */
  async #resume(engine: Engine): Promise<void> {
    const { memory } = this.#page;
    const { clears } = await engine.store.identify();
    await this.#move();
    await this.#onOpen(engine);
    for (const clear of clears) memory.clears.add(clear);
  }

  async #connect(): Promise<Engine> {
    const { display, memory } = this.#page;
    const made: { engine?: Engine; lost?: NotDurableReason } = {};
    const backend = await this.#openDatabase({
      onLost: (reason) => {
        made.lost = reason;
        this.lose(made.engine, reason);
      },
      onErased: () => display.show({ wasErased: true }),
      onSetAside: this.#listener.onSetAside,
    });
    const isSending = (scope: string): boolean => !!this.#memory?.store.isSending(scope);
    const store = new RowStore(backend, { isSending });
    const { generation, clears } = await store.identify();
    if (memory.clears.size === 0)
      for (const clear of [generation, ...clears]) memory.clears.add(clear);
    if (made.lost) throw new DatabaseError(made.lost);
    const onError = (error: unknown): void => this.#show(made.engine, error);
    made.engine = new Engine(this.#page, store, generation, this.#listener, onError);
    return made.engine;
  }

  #createMemory(): Engine {
    const isBlocked = async (scope: string): Promise<boolean> =>
      (await this.#durable?.store.isBlocked(scope).catch(() => false)) ?? false;
    const store = new RowStore(createMemoryBackend(), { isBlocked });
    const onEnd: EntryListener['onEnd'] = (...ended) => {
      this.#listener.onEnd(...ended);
      void this.#move();
    };
    return new Engine(this.#page, store, undefined, { ...this.#listener, onEnd }, () => {});
  }

  /** Sent from here and from there, by the next page, an entry could take effect twice. */
  async #removeCopies(engine: Engine): Promise<void> {
    for (const id of this.#copies) {
      const { next } = (await engine.store.discard(id, this.#page.clock.now())) ?? {};
      if (next) this.#listener.onDue(next);
      this.#copies.delete(id);
    }
  }

  /** Moves what the page holds to the disk, where that takes it. Never rejects. */
  #move(): Promise<void> {
    return (this.#moving ??= this.#moveAll()
      .catch(() => {})
      .finally(() => (this.#moving = undefined)));
  }

  async #moveAll(): Promise<void> {
    const [engine, memory] = [this.#durable, this.#memory];
    if (!engine || !memory || this.#isStopped) return;
    await this.#removeCopies(engine);
    const { receipts } = this.#page;
    const all = pagesOf((after, limit) => memory.store.list(undefined, after, limit));
    for await (const { id, scope } of all) {
      // The rest of its scope goes after it.
      if (scope !== undefined && memory.store.isSending(scope)) continue;
      const row = await memory.store.takeOut(id);
      if (!row) continue;
      try {
        await engine.add(row, () => true, true);
        receipts.save(id, engine.generation);
        this.#listener.onChange();
      } catch (error) {
        if (!(error instanceof DatabaseError)) {
          // A clear of which this page has not heard.
          receipts.reject(id, discarded(row));
          continue;
        }
        this.#copies.add(id);
        await memory.add(row, () => true);
        throw error;
      }
    }
  }
}

function sumOf(counts: readonly Counts[]): Counts {
  const sum = (name: Exclude<keyof Counts, 'oldestAt'>): number =>
    counts.reduce((total, count) => total + count[name], 0);
  const oldestAt = Math.min(...counts.map((count) => count.oldestAt ?? Infinity));
  return {
    due: sum('due'),
    waiting: sum('waiting'),
    sending: sum('sending'),
    paused: sum('paused'),
    dead: sum('dead'),
    oldestAt: oldestAt < Infinity ? oldestAt : undefined,
  };
}
