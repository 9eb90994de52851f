import type { Operation } from '../../operation/operation.ts';
import { discarded } from '../errors.ts';
import type { NewRow, Row, Unplaced } from '../store/row.ts';
import type { Revived, RowStore } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import { Delivery } from './deliver.ts';
import { Ownership } from './ownership.ts';
import type { EntryListener, OutboxPage } from './page.ts';
import { Worker } from './worker.ts';

/** A store, and what sends its entries. */
export class Engine {
  readonly store: RowStore;
  /** Which database it is; undefined for what is in this page alone. */
  readonly generation: string | undefined;
  readonly ownership: Ownership;
  readonly worker: Worker;
  readonly onError: (error: unknown) => void;
  readonly #page: OutboxPage;

  constructor(
    page: OutboxPage,
    store: RowStore,
    generation: string | undefined,
    listener: EntryListener,
    onError: (error: unknown) => void,
  ) {
    const { clock, sender, name, network, parallel } = page;
    const isShared = generation !== undefined;
    const clearing = (): string | undefined => (isShared ? page.clearing() : undefined);
    // An entry that was cleared while it waited at the gate does not go.
    const note: RowStore['note'] = async (...noted) =>
      clearing() === undefined && store.note(...noted);
    const delivery = new Delivery(page, note, (entry, operation) => this.#show(entry, operation));
    this.#page = page;
    this.store = store;
    this.generation = generation;
    this.onError = onError;
    this.ownership = new Ownership({
      clock,
      store,
      lock: isShared ? page.lock : undefined,
      name,
      tokens: page.memory.tokens,
      onGain: (fence) => this.#gain(fence),
      onLoss: listener.onLoss,
      onError,
    });
    this.worker = new Worker({
      ...listener,
      clock,
      random: sender.random,
      store,
      network,
      parallel,
      clearing,
      attempt: (...given) => delivery.attempt(...given),
      onLost: (fence) => this.ownership.lose(fence),
      onIdle: () => void this.#tidy(),
      onError,
    });
  }

  /**
   * Keeps an entry of this tab's own, and sends it when it is due. `isMoved`: it was kept elsewhere before.
   *
   * @returns the entry as it is kept.
   * @throws SteadfetchError (as a rejection) when it was discarded or cleared meanwhile.
   */
  async add(entry: Unplaced, isWanted: () => boolean, isMoved: boolean = false): Promise<Row> {
    const { clock, memory } = this.#page;
    const clears = isMoved ? memory.clears : undefined;
    const isLive = entry.state === 'pending' && !entry.waitsFor;
    for (;;) {
      if (!isWanted()) throw discarded(entry);
      const added = await this.ownership.use(async (fence) => {
        const row = { ...entry, owner: isLive ? fence.owner : undefined } as NewRow;
        const kept = await this.store.add(row, fence, clock.now(), clears);
        if (kept === 'lost') this.ownership.lose(fence);
        else if (kept !== 'cleared' && kept.owner === fence.owner) this.#driveOrTell(fence);
        return kept;
      });
      if (added === 'cleared') throw discarded(entry);
      if (added === 'lost') continue;
      if (isWanted()) this.worker.add(added);
      return added;
    }
  }

  /**
   * A user wants an entry to be sent now, or again; `change` makes another of it.
   *
   * @returns the entry as it is now, and whose turn has come by that; undefined when that cannot be.
   */
  async revive(id: string, change?: (entry: Row) => Row): Promise<Revived | undefined> {
    for (;;) {
      const revived = await this.ownership.use(async (fence) => {
        const found = await this.store.revive(id, fence, this.#page.clock.now(), change);
        if (found === 'lost') this.ownership.lose(fence);
        else if (found) this.#driveOrTell(fence);
        return found;
      });
      if (revived !== 'lost') return revived;
    }
  }

  /** All entries were discarded. */
  forget(): void {
    this.#drop();
    this.worker.abort();
    this.ownership.release();
  }

  /** The page is put away: its entries are sent by others until it is back. */
  leave(): void {
    this.#drop();
    this.ownership.leave();
  }

  dispose(): void {
    this.#page.memory.endWaiting(undefined, 'cancelled');
    this.worker.dispose();
    this.ownership.dispose();
    this.store.close();
  }

  #drop(): void {
    this.#page.memory.endWaiting(undefined, 'cancelled');
    for (const { owner } of this.ownership.held()) this.worker.drop(owner);
  }

  #gain(fence: Fence): void {
    // The tab that had it may have died between an end and telling whose turn had come.
    this.worker.look();
    this.worker.drive(fence);
    this.#tellOwner();
  }

  /** There are entries of an owner that the other tabs do not know yet, or whose owner has died. */
  #tellOwner(): void {
    this.#page.others.post({ kind: 'owner' });
  }

  #driveOrTell(fence: Fence): void {
    if (this.ownership.has(fence)) {
      if (this.worker.drive(fence)) this.#tellOwner();
      return;
    }
    // It was given up while the entry was written: to whoever looks first.
    this.#tellOwner();
    void this.ownership.look();
  }

  async #tidy(): Promise<void> {
    try {
      for (const { owner } of await this.ownership.tidy()) this.worker.drop(owner);
    } catch (error) {
      this.onError(error);
    }
  }

  #show(entry: Row, operation: Operation): void {
    const { receipts, pauses, display } = this.#page;
    if (operation.phase.kind !== 'ended') receipts.tell(entry, { operation });
    pauses.note(entry, operation);
    display.refresh();
    this.worker.check();
  }
}
