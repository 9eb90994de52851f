import { createIdempotencyKey } from '../core/internal.ts';
import type { Clock } from '../core/lib/clock.ts';
import { unsettled, withLimit } from '../core/lib/timer.ts';
import { discarded, type EntryFacts, notCleared } from './errors.ts';
import type { OutboxParts } from './delivery/engine.ts';
import { reasonOf } from './store/disk.ts';
import { RowStore } from './store/row-store.ts';
import type { Database } from './store/schema.ts';

/**
 * Remembers outside of the database that its entries were cleared, until they are removed. Meanwhile this page, the next
 * one and a service worker send none of them. The mark is an empty cache whose name ends in the token of the clear. Only
 * `read` may reject.
 */
export class ClearMark {
  readonly #prefix: string;
  readonly #world: Partial<typeof globalThis> = globalThis;
  /** The clears that this page knows and has not finished, the latest last. */
  #open: readonly string[] = [];
  #caching: Promise<boolean> = Promise.resolve(false);

  constructor(database: string) {
    // A line break ends the name, because the name of another database may begin like this one.
    this.#prefix = `steadfetch outbox cleared ${database}\n`;
  }

  /** The clear that is under way in this page, or has failed; undefined for none. */
  get(): string | undefined {
    return this.#open[this.#open.length - 1];
  }

  /** The same, also of earlier pages and other tabs. Rejects if the caches cannot be read now. */
  async read(): Promise<string | undefined> {
    const token = this.get();
    if (token !== undefined) return token;
    try {
      const [cached] = await this.#cached();
      if (cached !== undefined) this.add(cached);
      return cached;
    } catch (error) {
      // If caches are forbidden, no mark was ever set.
      if ((error as Error).name === 'SecurityError') return undefined;
      throw error;
    }
  }

  set(): string {
    const token = createIdempotencyKey();
    this.add(token);
    this.#caching = this.#cache(token);
    return token;
  }

  add(token: string): void {
    if (!this.has(token)) this.#open = [...this.#open, token];
  }

  has(token: string): boolean {
    return this.#open.includes(token);
  }

  /** Removes the mark of this clear, and of those before it. A later one stays. */
  remove(token: string): void {
    this.#open = this.#open.slice(this.#open.indexOf(token) + 1);
    this.#caching.then(() => this.#uncache(token)).catch(() => {});
  }

  /** Whether it outlives this page. */
  isKept(): Promise<boolean> {
    return this.#caching;
  }

  async #cached(): Promise<readonly string[]> {
    const names = (await this.#world.caches?.keys()) ?? [];
    const own = names.filter((name) => name.startsWith(this.#prefix));
    return own.map((name) => name.slice(this.#prefix.length));
  }

  #uncache(token: string): Promise<boolean> | undefined {
    return this.#world.caches?.delete(this.#prefix + token);
  }

  async #cache(token: string): Promise<boolean> {
    try {
      // An earlier clear is part of this one.
      for (const earlier of await this.#cached()) await this.#uncache(earlier);
      return !!(await this.#world.caches?.open(this.#prefix + token));
    } catch {
      return false;
    }
  }
}

/** Clears a database that has just been opened, if a clear was requested while it did not work. */
export async function obeyMark(mark: ClearMark, clock: Clock, database: Database): Promise<void> {
  let token: string | undefined;
  try {
    token = await withLimit(
      { clock },
      () => mark.read(),
      () => unsettled('The mark of outbox.clear'),
    );
    if (token === undefined) return;
    await new RowStore(database).clear(token);
  } catch (error) {
    database.close();
    throw error;
  }
  mark.remove(token);
}

type NotCleared = { readonly reason: unknown } | undefined;

/** Aborts and rejects the entries that a user has discarded, here or in another tab. */
export class Forget {
  readonly #parts: OutboxParts;
  readonly #mark: ClearMark;

  constructor(parts: OutboxParts, mark: ClearMark) {
    this.#parts = parts;
    this.#mark = mark;
  }

  one(id: string, facts: EntryFacts | undefined, error?: unknown): void {
    const { memory, receipts, engine } = this.#parts;
    engine.worker.abort(id);
    memory.endWaiting(id, 'cancelled');
    if (facts) receipts.reject(id, error ?? discarded(facts));
  }

  /**
   * Discards all entries, in this tab and the others. From the call on, none of them is sent.
   *
   * @throws Error (as a rejection) if they are still on the disk.
   */
  async all(): Promise<void> {
    const { receipts, others } = this.#parts;
    const token = this.#mark.set();
    others.post({ kind: 'cleared', token });
    for (const [id] of receipts.all()) this.#leave(id);
    const failure = await this.#clearSoon(token);
    this.#parts.onChange();
    if (failure) throw notCleared(await this.#mark.isKept(), failure.reason);
    await this.#parts.engine.ownership.refresh();
  }

  /** The same, requested by another tab or an earlier page. Never rejects. */
  async obey(token: string): Promise<void> {
    const { receipts, engine } = this.#parts;
    this.#mark.add(token);
    const all = receipts.all();
    for (const [id, { keptIn }] of all) if (keptIn !== 'disk') this.#leave(id);
    await this.#clearSoon(token);
    // An entry that the other tab did not see exists only in this page.
    for (const [id] of all)
      if (!(await engine.store.find(id).catch(() => undefined))) this.#leave(id);
    this.#parts.onChange();
    await engine.ownership.refresh();
  }

  #leave(id: string): void {
    const known = this.#parts.receipts.get(id);
    const isInDoubt = !!known && (known.facts.isInDoubt || !!known.keptIn);
    this.one(id, known && { ...known.facts, isInDoubt });
  }

  /** Clears the disk. If that hangs, it ends with an error. */
  async #clearSoon(token: string): Promise<NotCleared> {
    const { clock, engine } = this.#parts;
    engine.addClear(token);
    const expire = (): Error => unsettled('outbox.clear');
    try {
      return await withLimit({ clock }, () => this.#clear(token), expire);
    } catch (reason) {
      return { reason };
    }
  }

  async #clear(token: string): Promise<NotCleared> {
    const { storage, engine } = this.#parts;
    const mark = this.#mark;
    engine.forget();
    engine.worker.abort();
    // The page first, because that cannot fail: nothing is sent while the database is awaited.
    storage.clearPage();
    // A database that could not be opened before may open now.
    const failure = await storage.reopen();
    if (!storage.isOpen) {
      if (!failure) mark.remove(token);
      return failure;
    }
    engine.forget();
    try {
      if (mark.has(token)) await engine.store.clear(token);
      mark.remove(token);
      return undefined;
    } catch (error) {
      // Rows on that disk must not be sent, and none may be added.
      storage.lose(reasonOf(error) ?? 'unavailable');
      return { reason: error };
    }
  }
}
