import type { Clock } from '../core/lib/clock.ts';
import { type Alarm, startAlarm } from '../core/lib/timer.ts';
import { disposedOf } from './errors.ts';
import type { Display } from './state.ts';
import { DatabaseError, hasIndexedDb, type NotDurableReason, reasonOf } from './store/disk.ts';
import type { DiskListener } from './store/disk.ts';
import { joinRows, noDisk, PageRows } from './store/memory.ts';
import type { Row } from './store/row.ts';
import { RowStore, type Settled } from './store/row-store.ts';
import type { Backend, Database, Durability, Transaction } from './store/schema.ts';

/** Opens the database of an outbox. @see openIndexedDb */
export type OpenDatabase = (listener: DiskListener) => Promise<Database>;

interface StorageContext extends Required<Pick<DiskListener, 'onSetAside'>> {
  readonly clock: Clock;
  readonly display: Display;
  readonly open: OpenDatabase;
  /** Called when a row was removed from the disk because this page has it, and the next one of its scope is due. */
  readonly onFollow: (settled: Settled) => void;
  /** Called when a database was opened, with the clears that were done in it. */
  readonly onOpen: (clears: readonly string[]) => void;
  readonly onLost: () => void;
}

/** A database that failed is opened again after this time, which then doubles each time. */
const reopenMs = 1000;
const longestReopenMs = 60_000;

/**
 * The rows of an outbox: on the disk or, if that fails, in this page. A connection that fails is closed, and another one
 * is opened.
 */
export class EntryStorage implements Backend {
  readonly #context: StorageContext;
  readonly #page: PageRows = new PageRows();
  readonly #hasDisk: boolean = hasIndexedDb();
  /** Resolves once it is known whether there is a disk. */
  readonly opened: Promise<void>;
  #disk: Database | undefined;
  #waitMs = reopenMs;
  #setReopening: Alarm | undefined;
  #opening: Promise<void> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isStopped = false;
  #isOver = false;
  #failure: unknown;
  /** Entries that the page holds although a failed connection may have written them. */
  readonly #copies: Set<string> = new Set();

  constructor(context: StorageContext) {
    this.#context = context;
    this.opened = this.#openOnce();
  }

  readonly read: Backend['read'] = (work) => {
    if (this.#disk && this.#page.isEmpty()) return this.#disk.read(work);
    const inBoth = (tx: Transaction) => work(joinRows(tx, this.#page.begin().tx, true));
    return this.#disk ? this.#disk.read(inBoth) : inBoth(this.#noDisk());
  };

  readonly write: Backend['write'] = (durability, work) => {
    const isOfPage = durability === 'page' || this.#waiting > 0 || !this.#page.isEmpty();
    if (this.#disk && !isOfPage) return this.#disk.write(durability, work);
    // One after the other, as on the disk, so that each sees the changes of the one before.
    this.#waiting += 1;
    const written = this.#turn.then(() => this.#write(durability, work));
    this.#turn = written.catch(() => {}).finally(() => (this.#waiting -= 1));
    return written;
  };

  /** Resolves as `opened` does; rejects after it was disposed of. */
  async ready(): Promise<void> {
    if (this.#isStopped) throw disposedOf('outbox');
    await this.opened;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get isOpen(): boolean {
    return !!this.#disk;
  }

  /** Whether there are, or may be, entries on a disk that cannot be read at the moment. */
  isBlind(): boolean {
    return this.#hasDisk && !this.#disk;
  }

  inPage(): readonly Row[] {
    return this.#page.list();
  }

  /** Whether the disk may have an entry that this page holds. */
  setCopied(id: string, isCopied: boolean): void {
    if (isCopied) this.#copies.add(id);
    else this.#copies.delete(id);
  }

  clearPage(): void {
    this.#page.clear();
  }

  /**
   * Opens the database again, if it is not open. @returns why that failed; undefined if it is open, or this environment
   * has no database.
   */
  async reopen(): Promise<{ readonly reason: unknown } | undefined> {
    await this.#opening;
    if (this.isBlind() && !this.#isOver) {
      this.#setReopening?.(Infinity);
      await this.#openOnce();
    }
    return this.isBlind() ? { reason: this.#failure } : undefined;
  }

  /** Gives the connection up. Another one is opened later. */
  lose(reason: NotDurableReason): void {
    if (this.#isOver || !this.#disk) return;
    this.#disk.close();
    this.#disk = undefined;
    this.#failure = new DatabaseError(reason);
    this.#context.onLost();
    this.#context.display.show({ storage: reason });
    this.#context.display.refresh();
    if (reason !== 'newer-version') this.#openLater();
  }

  /** Runs a write for a user, and shows whether the disk works. Rejects as `work` does. */
  async writeShown<T>(work: () => Promise<T>, isWanted: () => boolean = () => true): Promise<T> {
    try {
      const written = await work();
      if (this.#disk) {
        this.#waitMs = reopenMs;
        this.#context.display.show({ storage: 'durable' });
      }
      return written;
    } catch (error) {
      if (isWanted() && error instanceof DatabaseError && this.#disk)
        this.#context.display.show({ storage: error.reason });
      throw error;
    }
  }

  readonly showError = (error: unknown): void => {
    const storage = reasonOf(error);
    if (storage && this.#disk) this.#context.display.show({ storage });
  };

  /** Takes no more entries of earlier pages. New submissions are still stored. */
  stop(): void {
    this.#isStopped = true;
    this.#setReopening?.(Infinity);
  }

  dispose(): void {
    this.#isOver = true;
    this.#setReopening?.(Infinity);
    this.#disk?.close();
    this.#failure = new DatabaseError('lost');
  }

  #noDisk(): Transaction {
    return noDisk(() => {
      if (this.#hasDisk) throw this.#failure;
    });
  }

  async #write<T>(durability: Durability, work: (tx: Transaction) => Promise<T>): Promise<T> {
    let page: ReturnType<PageRows['begin']> | undefined;
    const inBoth = (tx: Transaction): Promise<T> => {
      page = this.#page.begin();
      return work(joinRows(tx, page.tx, durability === 'page'));
    };
    const written = this.#disk
      ? await this.#disk.write(durability, inBoth)
      : await inBoth(this.#noDisk());
    page?.complete();
    return written;
  }

  #openOnce(): Promise<void> {
    return (this.#opening ??= this.#open().finally(() => (this.#opening = undefined)));
  }

  #openLater(): void {
    this.#setReopening = startAlarm(this.#context.clock, this.#waitMs, () => void this.#openOnce());
    this.#waitMs = Math.min(2 * this.#waitMs, longestReopenMs);
  }

  async #open(): Promise<void> {
    const { display, onOpen } = this.#context;
    let disk: Database | undefined;
    try {
      const opened = await this.#connect();
      ({ disk } = opened);
      if (this.#isOver) return disk.close();
      this.#disk = disk;
      if (this.#isStopped) return;
      display.show({ storage: 'durable' });
      display.refresh();
      onOpen(opened.clears);
    } catch (error) {
      this.#failure = error;
      if (this.#isOver) return;
      const reason = reasonOf(error) ?? 'unavailable';
      display.show({ storage: reason });
      if (this.#hasDisk && reason !== 'newer-version') this.#openLater();
    }
  }

  async #connect(): Promise<{ readonly disk: Database; readonly clears: readonly string[] }> {
    const { open, onSetAside, display } = this.#context;
    const made: { disk?: Database; lost?: NotDurableReason } = {};
    const disk = await open({
      onLost: (reason) => {
        made.lost = reason;
        if (made.disk && made.disk === this.#disk) this.lose(reason);
      },
      onErased: () => display.show({ wasErased: true }),
      onSetAside,
    });
    made.disk = disk;
    try {
      const store = new RowStore(disk);
      const clears = await store.clears();
      await this.#removeCopies(store);
      if (made.lost) throw new DatabaseError(made.lost);
      return { disk, clears };
    } catch (error) {
      disk.close();
      throw error;
    }
  }

  /** Removes copies from the disk: sent from two places, an entry could take effect twice. */
  async #removeCopies(store: RowStore): Promise<void> {
    for (const id of this.#copies) {
      const discarded = await store.discard(id, this.#context.clock.now());
      if (discarded) this.#context.onFollow(discarded);
      this.#copies.delete(id);
    }
  }
}
