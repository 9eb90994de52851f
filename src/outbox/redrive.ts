import type { Clock } from '../lib/clock.ts';
import { type Alarm, startAlarm } from '../lib/timer.ts';
import type { Engine } from './delivery/engine.ts';
import { gone, toDeadLetter } from './errors.ts';
import type { EntryStorage, OutboxParts } from './storage.ts';
import { type DeadReason, type Row, rowSchema } from './store/row.ts';
import { pagesOf } from './store/row-store.ts';

/** What became of an entry is asked again after so long, where it could not be read. */
const errorPauseMs = 5000;

const redrivable: readonly DeadReason[] = ['handler-missing', 'not-migrated', 'unreadable'];

/** Handles entries that another tab, or another version of the app, has ended. */
export class Redrive {
  readonly #parts: OutboxParts;
  /** Two tabs that cannot deliver an entry would give it to each other for ever. */
  readonly #buried: Set<string> = new Set();

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Revives those of all that are kept that this version perhaps can deliver. Never rejects. */
  async all(engine: Engine): Promise<void> {
    try {
      for (const id of this.#parts.memory.underWay.keys()) await this.#revive(engine, id);
      for (const key of ['other-version', ...redrivable] as const) {
        const index = key === 'other-version' ? 'waitsFor' : 'deadReason';
        const rows = pagesOf((after, count) => engine.store.list(key, after, count, index));
        for await (const { id } of rows) await this.#revive(engine, id);
      }
    } catch (error) {
      engine.onError(error);
    }
  }

  /**
   * Another tab has ended one: it is revived where this version perhaps can deliver it, or else its submitter
   * here is told by what the disk says. Never rejects.
   */
  async hear(id: string): Promise<void> {
    const engine = this.#parts.storage.durable();
    const isRevived = engine && (await this.#revive(engine, id).catch(engine.onError));
    if (!isRevived) await this.settle(id);
  }

  /** The same for all that this page has submitted, and for all that are kept, one after the other. */
  async hearAll(): Promise<void> {
    for (const [id] of this.#parts.receipts.all()) await this.hear(id);
    const engine = this.#parts.storage.durable();
    if (engine) await this.all(engine);
  }

  /** Tells the submitter here by what the disk says; `delivered` is what another tab has said. Never rejects. */
  async settle(id: string, delivered?: { readonly data: unknown }): Promise<void> {
    const { clock, codec, receipts } = this.#parts;
    const engine = this.#parts.storage.durable();
    const known = receipts.get(id);
    if (!engine || known?.savedIn === undefined) return;
    try {
      const entry = await engine.store.find(id);
      if (!receipts.isOpen(id, known)) return;
      if (entry?.state === 'done') {
        receipts.resolve(id, await codec.decode(entry.result).catch(() => undefined));
        await engine.store.acknowledge(id);
      } else if (entry?.state === 'dead') receipts.reject(id, toDeadLetter(entry));
      else if (!entry && delivered) receipts.resolve(id, delivered.data);
      else if (!entry) receipts.reject(id, gone(known.facts));
    } catch (error) {
      engine.onError(error);
      startAlarm(clock, errorPauseMs, () => {
        // Where it was opened anew, that was asked already.
        if (this.#parts.storage.durable() === engine) void this.settle(id, delivered);
      });
    }
  }

  /** This tab could not deliver it, either. */
  giveUp(id: string): void {
    this.#buried.add(id);
  }

  async #revive(engine: Engine, id: string): Promise<boolean> {
    const entry = await engine.store.find(id);
    if (!entry || this.#buried.has(id) || !this.#isRedrivable(entry)) return false;
    const revived = await engine.revive(id);
    if (revived) this.#parts.listener.onDue(revived.row);
    return !!revived;
  }

  #isRedrivable(entry: Row): boolean {
    const { deadReason, waitsFor } = entry;
    if (waitsFor) return this.#isDeliverable(entry) || this.#isOurs(entry);
    // The end that it really has could not be written yet.
    const isKnownBetter =
      deadReason === 'not-repeatable' && this.#parts.memory.underWay.has(entry.id);
    const isAny = isKnownBetter || (!!deadReason && redrivable.includes(deadReason));
    return isAny && this.#isDeliverable(entry);
  }

  #isDeliverable({ handler, schema, version, isGone }: Row): boolean {
    const known = this.#parts.handlers.get(handler);
    if (isGone || !known || schema > rowSchema || version > known.version) return false;
    return version === known.version || !!known.handler.migrate;
  }

  /** It waits for a tab of a version that is not this page's and was here before it: no other decides. */
  #isOurs({ handler, schema, version, createdAt }: Row): boolean {
    const { handlers, startedAt } = this.#parts;
    const known = handlers.get(handler)?.version ?? Infinity;
    return schema <= rowSchema && version <= known && createdAt <= startedAt;
  }
}

/** A result waits so long for the tab that submitted. */
const keepResultMs = 600_000;

/** Forgets results that nobody has asked for. */
export class Sweeper {
  readonly #clock: Clock;
  readonly #storage: Pick<EntryStorage, 'durable'>;
  #setAlarm: Alarm | undefined;
  #isOver = false;

  constructor(clock: Clock, storage: Pick<EntryStorage, 'durable'>) {
    this.#clock = clock;
    this.#storage = storage;
  }

  /** Does so now, and again while there are results that are not old enough. */
  async sweep({ store }: Engine): Promise<void> {
    // Those that are left are younger; or the clock was set back, and they seem to be.
    if (await store.sweep(this.#clock.now() - keepResultMs)) this.plan();
  }

  /** Something was done: its result is forgotten when it is old enough. */
  plan(): void {
    if (this.#isOver) return;
    this.#setAlarm ??= startAlarm(this.#clock, keepResultMs + 1000, () => {
      this.#setAlarm = undefined;
      const engine = this.#storage.durable();
      if (!engine) return;
      this.sweep(engine).catch((error: unknown) => {
        engine.onError(error);
        this.plan();
      });
    });
  }

  dispose(): void {
    this.#isOver = true;
    this.#setAlarm?.(Infinity);
  }
}
