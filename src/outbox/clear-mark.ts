import { createIdempotencyKey } from '../policy/idempotency-key.ts';

/**
 * Remembers outside of the database that its entries were cleared, from the moment that was asked for
 * until they are gone: nothing is sent meanwhile, by any tab or by the next page.
 */
export interface ClearMark {
  /** Which clear is under way, or has failed; undefined for none. */
  readonly get: () => string | undefined;
  /** @returns which clear this is. */
  readonly set: () => string;
  /** That clear is done. A later one stays. */
  readonly remove: (token: string) => void;
  /** Whether it outlives this page. */
  readonly isKept: () => boolean;
}

/** Where `localStorage` is missing, forbidden or full, this page still knows. */
const marks = new Map<string, string>();

/** The mark of a database. None of its functions throws. */
export function createClearMark(database: string): ClearMark {
  const name = `steadfetch outbox cleared ${database}`;
  const attempt = <T>(act: (storage: Storage | undefined) => T): T | undefined => {
    try {
      return act((globalThis as Partial<typeof globalThis>).localStorage);
    } catch {
      return undefined;
    }
  };
  const kept = (): string | undefined => attempt((storage) => storage?.getItem(name)) ?? undefined;
  return {
    get: () => marks.get(name) ?? kept(),
    set() {
      const token = createIdempotencyKey();
      const isKept = attempt((storage) => storage && (storage.setItem(name, token), true));
      if (!isKept) marks.set(name, token);
      return token;
    },
    remove(token) {
      if (marks.get(name) === token) marks.delete(name);
      if (kept() === token) attempt((storage) => storage?.removeItem(name));
    },
    isKept: () => kept() !== undefined,
  };
}
