import { createIdempotencyKey } from '../../idempotency/key.ts';

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
