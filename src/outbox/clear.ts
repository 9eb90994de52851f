import { createIdempotencyKey } from '../idempotency/key.ts';
import type { Clock } from '../lib/clock.ts';
import { unsettled, withLimit } from '../lib/timer.ts';
import type { EntryListener, OutboxPage } from './delivery/page.ts';
import { discarded, type EntryFacts, notCleared } from './errors.ts';
import type { EntryStorage } from './storage.ts';
import { RowStore } from './store/row-store.ts';
import type { Backend } from './store/schema.ts';
import { reasonOf } from './store/open-database.ts';

/**
 * Remembers outside of the database that its entries were cleared, from the moment that was asked for
 * until they are gone: nothing is sent meanwhile, by any tab, by the next page or by a service worker.
 */
export interface ClearMark {
  /** Which clear is under way, or has failed; undefined for none. */
  readonly get: () => string | undefined;
  /**
   * The same, also where only the Cache API knows: a service worker has no `localStorage`, and rejects
   * where it cannot look there. An app may empty `localStorage` at a log-out.
   */
  readonly read: () => Promise<string | undefined>;
  /** @returns which clear this is. */
  readonly set: () => string;
  /** Another tab has said that this clear is under way. */
  readonly hear: (token: string) => void;
  /** Whether this page has still to do that clear. */
  readonly has: (token: string) => boolean;
  /** That clear is done, and so are those before it. A later one stays. */
  readonly remove: (token: string) => void;
  /** Whether it outlives this page. */
  readonly isKept: () => Promise<boolean>;
}

/** Where `localStorage` is missing, forbidden or full, this page still knows. */
const marks = new Map<string, string>();

/** The mark of a database. But for `read`, none of its functions throws or rejects. */
export function createClearMark(database: string): ClearMark {
  const name = `steadfetch outbox cleared ${database}`;
  const world = globalThis as Partial<typeof globalThis>;
  const isPage = 'localStorage' in world;
  const attempt = <T>(act: (storage: Storage | undefined) => T): T | undefined => {
    try {
      return act(world.localStorage);
    } catch {
      return undefined;
    }
  };
  const kept = (): string | undefined => attempt((storage) => storage?.getItem(name)) ?? undefined;
  /** Those of which this page knows: the app may empty `localStorage` at a log-out, too. */
  let open: readonly string[] = [];
  const get: ClearMark['get'] = () => marks.get(name) ?? kept() ?? open.at(-1);
  const note = (token: string): void => {
    if (!open.includes(token)) open = [...open, token];
  };

  /** In the Cache API there is a cache for it, whose name ends in the token: that needs no room. */
  const cached = async (): Promise<readonly string[]> => {
    const names = (await world.caches?.keys()) ?? [];
    const own = names.filter((one) => one.startsWith(`${name} `));
    // A token has no space in it, and the name of another database may begin like this one.
    return own.map((one) => one.slice(name.length + 1)).filter((token) => !token.includes(' '));
  };
  const uncache = (token: string) => world.caches?.delete(`${name} ${token}`);
  let caching: Promise<boolean> = Promise.resolve(false);
  const cache = async (token: string): Promise<boolean> => {
    try {
      // An earlier clear is part of this one.
      for (const earlier of await cached()) await uncache(earlier);
      return !!(await world.caches?.open(`${name} ${token}`));
    } catch {
      return false;
    }
  };

  return {
    get,
    async read() {
      const known = get();
      // The app may have emptied `localStorage` since.
      if (known !== undefined) return known;
      try {
        const [token] = await cached();
        if (token !== undefined) marks.set(name, token);
        return token;
      } catch (error) {
        // A page that may store nothing is the only one that could have set it.
        if (isPage) return undefined;
        throw error;
      }
    },
    set() {
      const token = createIdempotencyKey();
      note(token);
      const isKept = attempt((storage) => storage && (storage.setItem(name, token), true));
      if (!isKept) marks.set(name, token);
      caching = cache(token);
      return token;
    },
    hear(token) {
      note(token);
      if (!isPage) marks.set(name, token);
    },
    has: (token) => open.includes(token),
    remove(token) {
      open = open.slice(open.indexOf(token) + 1);
      if (marks.get(name) === token) marks.delete(name);
      if (kept() === token) attempt((storage) => storage?.removeItem(name));
      caching.then(() => uncache(token)).catch(() => {});
    },
    isKept: async () => kept() !== undefined || caching,
  };
}

/** Clears a database that has just been opened, where that was asked for when it did not work. */
export async function obeyMark(mark: ClearMark, clock: Clock, backend: Backend): Promise<void> {
  let token: string | undefined;
  try {
    token = await withLimit({ clock }, mark.read, () => unsettled('The mark of outbox.clear'));
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
  readonly #page: OutboxPage;
  readonly #storage: EntryStorage;
  readonly #listener: Pick<EntryListener, 'onChange'>;
  readonly #mark: ClearMark;

  constructor(
    page: OutboxPage,
    storage: EntryStorage,
    listener: Pick<EntryListener, 'onChange'>,
    mark: ClearMark,
  ) {
    this.#page = page;
    this.#storage = storage;
    this.#listener = listener;
    this.#mark = mark;
  }

  /** `error` is what its submission ends in. */
  one(id: string, facts: EntryFacts | undefined, error?: unknown): void {
    const { memory, receipts } = this.#page;
    for (const { worker } of this.#storage.engines()) worker.abort(id);
    memory.endWaiting(id, 'cancelled');
    if (facts) receipts.reject(id, error ?? discarded(facts));
  }

  /**
   * All entries, for this tab and the others. From the call on, nothing of them is sent.
   *
   * @throws Error (as a rejection) when they are still on the disk.
   */
  async all(): Promise<void> {
    const { memory, receipts, others } = this.#page;
    const token = this.#mark.set();
    memory.clears.add(token);
    others.post({ kind: 'cleared', token });
    for (const [id] of receipts.all()) this.#leave(id);
    const failure = await this.#clearSoon(token);
    this.#listener.onChange();
    if (failure) throw notCleared(await this.#mark.isKept(), failure.reason);
    await this.#storage.durable()?.ownership.look();
  }

  /** The same, where another tab or an earlier page has asked for it. Never rejects. */
  async obey(token: string): Promise<void> {
    const { memory, receipts } = this.#page;
    this.#mark.hear(token);
    memory.clears.add(token);
    const all = receipts.all();
    for (const [id, { savedIn }] of all) if (savedIn === undefined) this.#leave(id);
    await this.#clearSoon(token);
    const durable = this.#storage.durable();
    // What the other tab has not seen is of this page alone.
    for (const [id] of all)
      if (!(await durable?.store.find(id).catch(() => undefined))) this.#leave(id);
    this.#listener.onChange();
    await durable?.ownership.look();
  }

  /** Unless it was settled meanwhile. */
  #leave(id: string): void {
    const known = this.#page.receipts.get(id);
    const isInDoubt = !!known && (known.facts.isInDoubt || known.isKept);
    this.one(id, known && { ...known.facts, isInDoubt });
  }

  /** Whatever hangs, whoever waits for it is told. */
  async #clearSoon(token: string): Promise<NotCleared> {
    const { clock } = this.#page;
    const expire = (): Error => unsettled('outbox.clear');
    try {
      return await withLimit({ clock }, () => this.#clear(token), expire);
    } catch (reason) {
      return { reason };
    }
  }

  async #clear(token: string): Promise<NotCleared> {
    const [storage, mark] = [this.#storage, this.#mark];
    for (const engine of storage.engines()) {
      engine.forget();
      // That cannot fail, and so none of it is sent while the database is waited for.
      if (!engine.store.isDurable) await engine.store.clear(token);
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
