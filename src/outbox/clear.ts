import { createIdempotencyKey } from '../idempotency/key.ts';
import type { Clock } from '../lib/clock.ts';
import { unsettled, withLimit } from '../lib/timer.ts';
import { discarded, type EntryFacts, notCleared } from './errors.ts';
import type { OutboxParts } from './storage.ts';
import { RowStore } from './store/row-store.ts';
import type { Backend } from './store/schema.ts';
import { reasonOf } from './store/disk.ts';

/**
 * Remembers outside of the database that its entries were cleared, from the moment that was asked for until they
 * are gone: nothing is sent meanwhile, by any tab, by the next page or by a service worker. But for `read`, nothing
 * of it throws or rejects.
 */
export class ClearMark {
  readonly #name: string;
  readonly #world: Partial<typeof globalThis> = globalThis;
  /** The clears that this page knows of and has not done, the latest last: the app may empty `localStorage`, too. */
  #open: readonly string[] = [];
  #caching: Promise<boolean> = Promise.resolve(false);

  constructor(database: string) {
    this.#name = `steadfetch outbox cleared ${database}`;
  }

  /** Which clear is under way, or has failed; undefined for none. */
  get(): string | undefined {
    return this.#stored() ?? this.#open.at(-1);
  }

  /**
   * The same, also where only the Cache API knows: a service worker has no `localStorage`, and rejects
   * where it cannot look there. An app may empty `localStorage` at a log-out.
   */
  async read(): Promise<string | undefined> {
    const token = this.get();
    if (token !== undefined) return token;
    try {
      const [cached] = await this.#cached();
      if (cached !== undefined) this.hear(cached);
      return cached;
    } catch (error) {
      // A page that may store nothing is the only one that could have set it.
      if ('localStorage' in this.#world) return undefined;
      throw error;
    }
  }

  /** @returns which clear this is. */
  set(): string {
    const token = createIdempotencyKey();
    this.hear(token);
    this.#attempt((storage) => storage?.setItem(this.#name, token));
    this.#caching = this.#cache(token);
    return token;
  }

  /** Another tab has said that this clear is under way. */
  hear(token: string): void {
    if (!this.has(token)) this.#open = [...this.#open, token];
  }

  /** Whether this page has still to do that clear. */
  has(token: string): boolean {
    return this.#open.includes(token);
  }

  /** That clear is done, and so are those before it. A later one stays. */
  remove(token: string): void {
    this.#open = this.#open.slice(this.#open.indexOf(token) + 1);
    if (this.#stored() === token) this.#attempt((storage) => storage?.removeItem(this.#name));
    this.#caching.then(() => this.#uncache(token)).catch(() => {});
  }

  /** Whether it outlives this page. */
  async isKept(): Promise<boolean> {
    return this.#stored() !== undefined || this.#caching;
  }

  #stored(): string | undefined {
    return this.#attempt((storage) => storage?.getItem(this.#name)) ?? undefined;
  }

  #attempt<T>(act: (storage: Storage | undefined) => T): T | undefined {
    try {
      return act(this.#world.localStorage);
    } catch {
      return undefined;
    }
  }

  /** In the Cache API there is a cache for it, whose name ends in the token: that needs no room. */
  async #cached(): Promise<readonly string[]> {
    const names = (await this.#world.caches?.keys()) ?? [];
    const own = names.filter((one) => one.startsWith(`${this.#name} `));
    // A token has no space in it, and the name of another database may begin like this one.
    return own.map((one) => one.slice(this.#name.length + 1)).filter((one) => !one.includes(' '));
  }

  #uncache(token: string): Promise<boolean> | undefined {
    return this.#world.caches?.delete(`${this.#name} ${token}`);
  }

  async #cache(token: string): Promise<boolean> {
    try {
      // An earlier clear is part of this one.
      for (const earlier of await this.#cached()) await this.#uncache(earlier);
      return !!(await this.#world.caches?.open(`${this.#name} ${token}`));
    } catch {
      return false;
    }
  }
}

/** Clears a database that has just been opened, where that was asked for when it did not work. */
export async function obeyMark(mark: ClearMark, clock: Clock, backend: Backend): Promise<void> {
  let token: string | undefined;
  try {
    token = await withLimit(
      { clock },
      () => mark.read(),
      () => unsettled('The mark of outbox.clear'),
    );
    if (token === undefined) return;
    await new RowStore(backend).clear(token);
  } catch (error) {
    backend.close();
    throw error;
  }
  mark.remove(token);
}

/** Why the disk could not be cleared; undefined when it is, or there is none. */
type NotCleared = { readonly reason: unknown } | undefined;

/** Breaks off what was discarded, by the user here or in another tab, and tells whoever waits for it. */
export class Forget {
  readonly #parts: OutboxParts;
  readonly #mark: ClearMark;

  constructor(parts: OutboxParts, mark: ClearMark) {
    this.#parts = parts;
    this.#mark = mark;
  }

  /** `error` is what its submission ends in. */
  one(id: string, facts: EntryFacts | undefined, error?: unknown): void {
    const { memory, receipts } = this.#parts;
    for (const { worker } of this.#parts.storage.engines()) worker.abort(id);
    memory.endWaiting(id, 'cancelled');
    if (facts) receipts.reject(id, error ?? discarded(facts));
  }

  /**
   * All entries, for this tab and the others. From the call on, nothing of them is sent.
   *
   * @throws Error (as a rejection) when they are still on the disk.
   */
  async all(): Promise<void> {
    const { memory, receipts, others } = this.#parts;
    const token = this.#mark.set();
    memory.clears.add(token);
    others.post({ kind: 'cleared', token });
    for (const [id] of receipts.all()) this.#leave(id);
    const failure = await this.#clearSoon(token);
    this.#parts.listener.onChange();
    if (failure) throw notCleared(await this.#mark.isKept(), failure.reason);
    await this.#parts.storage.durable()?.ownership.look();
  }

  /** The same, where another tab or an earlier page has asked for it. Never rejects. */
  async obey(token: string): Promise<void> {
    const { memory, receipts } = this.#parts;
    this.#mark.hear(token);
    memory.clears.add(token);
    const all = receipts.all();
    for (const [id, { savedIn }] of all) if (savedIn === undefined) this.#leave(id);
    await this.#clearSoon(token);
    const durable = this.#parts.storage.durable();
    // An entry that the other tab has not seen exists in this page alone.
    for (const [id] of all)
      if (!(await durable?.store.find(id).catch(() => undefined))) this.#leave(id);
    this.#parts.listener.onChange();
    await durable?.ownership.look();
  }

  /** Unless it was settled meanwhile. */
  #leave(id: string): void {
    const known = this.#parts.receipts.get(id);
    const isInDoubt = !!known && (known.facts.isInDoubt || !!known.isKept);
    this.one(id, known && { ...known.facts, isInDoubt });
  }

  /** A part that hangs does not keep the caller waiting: it ends with an error. */
  async #clearSoon(token: string): Promise<NotCleared> {
    const { clock } = this.#parts;
    const expire = (): Error => unsettled('outbox.clear');
    try {
      return await withLimit({ clock }, () => this.#clear(token), expire);
    } catch (reason) {
      return { reason };
    }
  }

  async #clear(token: string): Promise<NotCleared> {
    const [storage, mark] = [this.#parts.storage, this.#mark];
    for (const engine of storage.engines()) {
      engine.forget();
      // That cannot fail, and so none of it is sent while the database is waited for.
      if (engine.generation === undefined) await engine.store.clear(token);
    }
    // A database that could not be opened a while ago may open now.
    const failure = await storage.reopen();
    const engine = storage.durable();
    if (!engine) {
      if (!failure) mark.remove(token);
      return failure;
    }
    engine.forget();
    try {
      if (mark.has(token)) await engine.store.clear(token);
      mark.remove(token);
      return undefined;
    } catch (error) {
      // What is on that disk must not be sent, nor anything be added to it.
      storage.lose(engine, reasonOf(error) ?? 'unavailable');
      return { reason: error };
    }
  }
}
