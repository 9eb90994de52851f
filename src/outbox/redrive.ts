import { startAlarm } from '../core/lib/timer.ts';
import { gone, toDeadLetter } from './errors.ts';
import type { OutboxParts } from './delivery/engine.ts';
import type { Receipt } from './receipts.ts';
import type { DeadReason, Row } from './store/row.ts';

/** An end that could not be read is read again after this time. */
const errorPauseMs = 5000;

const redrivable: readonly DeadReason[] = ['handler-missing', 'not-migrated', 'unreadable'];

/** Handles entries that another tab, or another version of the app, has ended. */
export class Redrive {
  readonly #parts: OutboxParts;
  /** Entries that this tab could not deliver. Otherwise two such tabs would pass an entry to each other for ever. */
  readonly #buried: Set<string> = new Set();

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Revives all stored entries that this version may be able to deliver. Never rejects. */
  async all(): Promise<void> {
    const { memory, engine, storage } = this.#parts;
    try {
      for (const id of memory.underWay.keys()) await this.#revive(id);
      for (const key of ['other-version', ...redrivable] as const) {
        const index = key === 'other-version' ? 'waitsFor' : 'deadReason';
        for await (const { id } of engine.store.all(key, index)) await this.#revive(id);
      }
    } catch (error) {
      storage.showError(error);
    }
  }

  /**
   * Handles an entry that another tab has ended. If this version may be able to deliver it, it is revived; otherwise its
   * submitter here gets the end that is on the disk. Never rejects.
   */
  async receive(id: string): Promise<void> {
    const { storage } = this.#parts;
    if (!(await this.#revive(id).catch(storage.showError))) await this.resolve(id);
  }

  /**
   * The same for all that this page has submitted, one after the other: a tab that ends or removes an entry may die
   * before it says so, or not know whose it is.
   */
  async receiveAll(): Promise<void> {
    for (const [id, { keptIn }] of this.#parts.receipts.all())
      if (keptIn === 'disk') await this.receive(id);
  }

  /** Ends the receipt here as the entry on the disk has ended; `delivered` is the word of another tab. Never rejects. */
  async resolve(id: string, delivered?: { readonly data: unknown }): Promise<void> {
    const { clock, receipts, storage, engine } = this.#parts;
    const known = receipts.get(id);
    const isOnDisk = known?.keptIn === 'disk';
    if (!known || (isOnDisk && !storage.isOpen)) return;
    try {
      const entry = await engine.store.find(id);
      if (!receipts.isOpen(id, known)) return;
      if (entry) await this.#endAs(entry, id);
      else if (delivered) receipts.resolve(id, delivered.data);
      else if (isOnDisk) void this.#endGone(id, known);
    } catch (error) {
      storage.showError(error);
      // The word of the other tab is had once; all else is looked up again.
      if (delivered) startAlarm(clock, errorPauseMs, () => void this.resolve(id, delivered));
    }
  }

  /** `known`: the key that the receipt has. Another tab may have edited the entry since. */
  async #endAs(entry: Row, known: string): Promise<void> {
    const { codec, receipts, engine } = this.#parts;
    const { id } = entry;
    if (id !== known) receipts.rename(known, id, entry);
    if (entry.state === 'done') {
      receipts.resolve(id, await codec.decode(entry.result).catch(() => undefined));
      await engine.store.acknowledge(id);
    } else if (entry.state === 'dead') receipts.reject(id, toDeadLetter(entry));
  }

  /** Ends the receipt of a missing entry. If its attempt is under way here, the answer will say more. */
  async #endGone(id: string, known: Receipt): Promise<void> {
    const { memory, receipts } = this.#parts;
    const made = await memory.underWay.get(id)?.made.catch(() => undefined);
    if (!receipts.isOpen(id, known)) return;
    memory.endWaiting(id, 'cancelled');
    if (made?.delivered) receipts.resolve(id, made.delivered.data);
    else receipts.reject(id, gone(known.facts));
  }

  /** Records that this tab cannot deliver it either. */
  giveUp(id: string): void {
    this.#buried.add(id);
  }

  async #revive(id: string): Promise<boolean> {
    const { engine, onDue, onFollow } = this.#parts;
    const entry = await engine.store.find(id);
    if (!entry || this.#buried.has(id) || !this.#isRedrivable(entry)) return false;
    // The row may have changed since.
    const revived = await engine.revive(id, (row) => (this.#isRedrivable(row) ? row : undefined));
    if (revived) {
      onDue(revived.row);
      onFollow(revived);
    }
    return !!revived;
  }

  #isRedrivable(entry: Row): boolean {
    const { deadReason, waitsFor } = entry;
    // The end that it really has could not be written yet.
    const isKnownBetter =
      deadReason === 'not-repeatable' && this.#parts.memory.underWay.has(entry.id);
    const isLeft = !!waitsFor || (!!deadReason && redrivable.includes(deadReason));
    return (isKnownBetter || isLeft) && this.#isDeliverable(entry);
  }

  #isDeliverable({ handler, version, isGone }: Row): boolean {
    const known = this.#parts.handlers.get(handler);
    if (isGone || !known || version > known.version) return false;
    return version === known.version || !!known.handler.migrate;
  }
}
