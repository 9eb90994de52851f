import type { Operation } from '../../core/internal.ts';
import { discarded, leftBehind } from '../errors.ts';
import type { EntryStorage } from '../storage.ts';
import { DatabaseError } from '../store/disk.ts';
import { refersTo } from '../store/linked.ts';
import { pageFence } from '../store/memory.ts';
import type { NewRow, Row, Unplaced } from '../store/row.ts';
import { type Revived, RowStore } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import { Delivery } from './deliver.ts';
import { Ownership } from './ownership.ts';
import type { EntryListener, OutboxPage } from './page.ts';
import { Worker } from './worker.ts';

export interface OutboxParts extends OutboxPage, EntryListener {
  readonly storage: EntryStorage;
  readonly engine: Engine;
}

/** Stores the entries of this tab, and sends them and those of tabs that have died. */
export class Engine {
  readonly store: RowStore;
  readonly ownership: Ownership;
  readonly worker: Worker;
  readonly #page: OutboxPage;
  readonly #storage: EntryStorage;
  readonly #onChange: () => void;
  /** The clears that this page knows of. Entries that it holds are younger. Undefined before a database was open. */
  #clears: Set<string> | undefined;
  #moving: Promise<void> | undefined;

  constructor(page: OutboxPage, storage: EntryStorage, listener: EntryListener) {
    const onError = storage.showError;
    const store = new RowStore(storage, page.links?.rows);
    const delivery = new Delivery(page, store, (entry, operation) => this.#show(entry, operation));
    this.#page = page;
    this.#storage = storage;
    this.#onChange = listener.onChange;
    this.store = store;
    this.ownership = new Ownership({
      ...page,
      store,
      tokens: page.memory.tokens,
      onGain: (fence) => this.#gain(fence),
      onError,
    });
    this.worker = new Worker({
      ...page,
      ...listener,
      random: page.sender.random,
      steady: page.sender.clock,
      store,
      attempt: (...given) => delivery.attempt(...given),
      onEnd: (...ended) => {
        listener.onEnd(...ended);
        void this.#move();
      },
      onLost: (fence) => this.ownership.lose(fence),
      onIdle: () => void this.#tidy(),
      onError,
    });
  }

  /** Called when a database was opened, with the clears that were done in it. Resolves once it has the entries of this page. */
  async takeOpened(clears: readonly string[]): Promise<void> {
    const known = (this.#clears ??= new Set(clears));
    await this.#move();
    // Entries that are submitted from now on are younger than these clears.
    for (const clear of clears) known.add(clear);
  }

  addClear(token: string): void {
    this.#clears = (this.#clears ?? new Set()).add(token);
  }

  /**
   * Keeps an entry of this tab's own, on the disk if that is possible, and sends it when it is due.
   *
   * @throws SteadfetchError (as a rejection) when it was discarded meanwhile.
   */
  async add(entry: Unplaced, isWanted: () => boolean): Promise<Row> {
    const storage = this.#storage;
    await this.#move();
    // An older entry of its scope, or one that it refers to, is only in this page.
    const isBehind = storage
      .inPage()
      .some(
        (row) =>
          (row.blocks !== undefined && row.blocks === entry.scope) ||
          (row.state !== 'done' && refersTo(entry, row)),
      );
    if (storage.isOpen && !isBehind) {
      try {
        const added = await storage.writeShown(() => this.#addToDisk(entry, isWanted), isWanted);
        if (added) return added;
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        // An entry that was sent before may be on the disk already.
        if (!entry.isInDoubt) storage.setCopied(entry.id, true);
        if (!isWanted()) throw error;
      }
    }
    if (storage.isStopped) throw leftBehind(entry, false);
    if (!isWanted()) throw discarded(entry);
    const added = await this.store.addToPage(entry, this.#page.clock.now());
    this.worker.drive(pageFence);
    this.worker.add(added);
    return added;
  }

  /** Sends an entry now, or again. @see RowStore.revive */
  async revive(id: string, change: (entry: Row) => Row | undefined): Promise<Revived | undefined> {
    for (;;) {
      const revived = await this.#own((fence) =>
        this.store.revive(id, fence, this.#page.clock.now(), change),
      );
      if (revived !== 'lost') return revived;
    }
  }

  /** Sends none of the entries any more: they were discarded, or cannot be read. */
  forget(): void {
    this.#drop();
    void this.ownership.release();
  }

  /** Called when the page is put away. Other tabs send its entries until it is back. */
  leave(): void {
    this.#drop();
    void this.ownership.leave();
  }

  stop(): void {
    this.worker.abort();
    this.worker.dispose();
  }

  /** Resolves once other tabs can take the entries over. */
  dispose(): Promise<unknown> {
    this.#page.memory.endWaiting(undefined, 'cancelled');
    return this.ownership.dispose();
  }

  /** A row of this page moves there: where a clear that this page has not heard of was done meanwhile, it goes. */
  async #addToDisk(given: Unplaced | Row, isWanted: () => boolean): Promise<Row | undefined> {
    const { clock, links } = this.#page;
    let entry = given;
    let isFilled = 'seq' in given || !links;
    for (;;) {
      if (!isWanted()) throw discarded(entry);
      const added = await this.#own((fence) => {
        const row = { ...entry, owner: fence.owner } as NewRow;
        return this.store.add(row, fence, clock.now(), this.#clears, isFilled);
      });
      if (added === 'cleared') throw discarded(entry);
      if (added === 'outdated') {
        const filled = await links?.refresh(entry, this.#page, this.store.read);
        // An answer that cannot be read stays a reference. The end of the entry says why.
        isFilled = filled === entry;
        entry = filled ?? entry;
        continue;
      }
      if (added === 'lost') continue;
      if (added) this.worker.add(added);
      return added;
    }
  }

  /** Moves the entries of the page to the disk, if that works. Never rejects. */
  #move(): Promise<void> {
    return (this.#moving ??= this.#moveAll()
      .catch(() => {})
      .finally(() => (this.#moving = undefined)));
  }

  async #moveAll(): Promise<void> {
    const storage = this.#storage;
    const { receipts } = this.#page;
    for (const row of storage.inPage()) {
      if (!storage.isOpen || storage.isStopped) return;
      const { id } = row;
      try {
        const added = await this.#addToDisk(row, () => true);
        if (!added) continue;
        storage.setCopied(id, false);
        receipts.save(id, true);
        // Entries on the disk that refer to it may be due now.
        if (row.state === 'done') this.worker.refresh();
        this.#onChange();
      } catch (error) {
        if (error instanceof DatabaseError) {
          storage.setCopied(id, true);
          throw error;
        }
        // A clear that this page did not know of.
        receipts.reject(id, error);
      }
    }
  }

  /** Writes rows under this tab's owner, and sends them. A row that was there already is sent by its owner. */
  #own<T>(write: (fence: Fence) => Promise<T>): Promise<T> {
    return this.ownership.use(async (fence) => {
      const written = await write(fence);
      if (written === 'lost') this.ownership.lose(fence);
      else if (((Object(written) as Partial<Row>).owner ?? fence.owner) === fence.owner)
        this.#drive(fence);
      return written;
    });
  }

  #drop(): void {
    this.#page.memory.endWaiting(undefined, 'cancelled');
    for (const { owner } of this.ownership.held()) this.worker.drop(owner);
  }

  #gain(fence: Fence): void {
    // The previous tab may have died after it stored an end and before it announced the next entry.
    this.worker.refresh();
    this.worker.drive(fence);
    this.#announceOwner();
  }

  #announceOwner(): void {
    this.#page.others.post({ kind: 'owner' });
  }

  #drive(fence: Fence): void {
    if (this.ownership.has(fence)) {
      if (this.worker.drive(fence)) this.#announceOwner();
      return;
    }
    // The owner was given up while the entry was written. The first tab that looks for owners takes it.
    this.#announceOwner();
    void this.ownership.refresh();
  }

  async #tidy(): Promise<void> {
    try {
      if (this.#storage.inPage().length === 0) this.worker.drop(pageFence.owner);
      for (const { owner } of await this.ownership.tidy()) this.worker.drop(owner);
    } catch (error) {
      this.#storage.showError(error);
    }
  }

  #show(entry: Row, operation: Operation): void {
    const { receipts, pauses, display } = this.#page;
    if (operation.phase.kind !== 'ended') receipts.report(entry, { operation });
    pauses.record(entry, operation);
    display.refresh();
    this.worker.check();
  }
}
