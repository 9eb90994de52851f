import { createIdempotencyKey } from '../core/internal.ts';
import type { Clock } from '../core/lib/clock.ts';
import { unsettled, withLimit } from '../core/lib/timer.ts';
import { discarded, type EntryFacts, notCleared } from './errors.ts';
import type { OutboxParts } from './delivery/engine.ts';
import { reasonOf } from './store/disk.ts';
import { RowStore } from './store/row-store.ts';
import type { Database } from './store/schema.ts';

/**
 * Remembers outside of the database that its entries were cleared, from the call until they are gone: nothing of
 * them is sent meanwhile, by this page, by the next one or by a service worker. It is a cache without content,
 * whose name ends in the token of the clear. But for `read`, nothing of it throws or rejects.
 */
export class ClearMark {
  readonly #prefix: string;
  readonly #world: Partial<typeof globalThis> = globalThis;
  /** The clears that this page knows of and has not done, the latest last. */
  #open: readonly string[] = [];
  #caching: Promise<boolean> = Promise.resolve(false);

  constructor(database: string) {
    // The name of another database may begin like this one; a line break is in none.
    this.#prefix = `steadfetch outbox cleared ${database}\n`;
  }

  /** The clear that is under way in this page, or has failed; undefined for none. */
  get(): string | undefined {
    return this.#open.at(-1);
  }

  /** The same, also of earlier pages and other tabs. Rejects where that cannot be read now. */
  async read(): Promise<string | undefined> {
    const token = this.get();
    if (token !== undefined) return token;
    try {
      const [cached] = await this.#cached();
      if (cached !== undefined) this.add(cached);
      return cached;
    } catch (error) {
      // A mark was never set where caches are forbidden.
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

  /** That clear is done, and so are those before it. A later one stays. */
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

/** Clears a database that has just been opened, where a clear was asked for when it did not work. */
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

/** Breaks off what was discarded, by the user here or in another tab, and rejects for its submitter. */
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
   * All entries, for this tab and the others. From the call on, nothing of them is sent.
   *
   * @throws Error (as a rejection) when they are still on the disk.
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

  /** The same, where another tab or an earlier page has asked for it. Never rejects. */
  async obey(token: string): Promise<void> {
    const { receipts, engine } = this.#parts;
    this.#mark.add(token);
    const all = receipts.all();
    for (const [id, { keptIn }] of all) if (keptIn !== 'disk') this.#leave(id);
    await this.#clearSoon(token);
    // An entry that the other tab has not seen exists in this page alone.
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

  /** A part that hangs does not keep the caller waiting: it ends with an error. */
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
    // That cannot fail, and so none of it is sent while the database is waited for.
    storage.clearPage();
    // A database that could not be opened a while ago may open now.
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
