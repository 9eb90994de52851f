import { warn } from '../lib/input/warn.ts';

/** What this tab keeps over a reload, by name. It never throws. */
export interface TabStorage {
  readonly read: (name: string) => string | null;
  readonly write: (name: string, text: string) => void;
  readonly remove: (name: string) => void;
}

/** The part of `sessionStorage` that is needed. */
export type TabStoragePort = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** That of this environment. Where it is forbidden, the look alone throws. */
const systemTabStorage = (): TabStoragePort | undefined => globalThis.sessionStorage;

/** Where `sessionStorage` is missing, forbidden or full, this page still knows, but not after a reload. */
export function createTabStorage(
  port: () => TabStoragePort | undefined = systemTabStorage,
): TabStorage {
  const memory = new Map<string, string>();
  const storage: TabStorage = {
    read(name) {
      const known = memory.get(name);
      if (known !== undefined) return known;
      try {
        return port()?.getItem(name) ?? null;
      } catch {
        return null;
      }
    },
    write(name, text) {
      memory.delete(name);
      try {
        const real = port();
        if (real) return real.setItem(name, text);
      } catch {
        // Forbidden, or full.
      }
      memory.set(name, text);
      if (process.env.NODE_ENV !== 'production') warnOfMemory();
    },
    remove(name) {
      memory.delete(name);
      try {
        port()?.removeItem(name);
      } catch {
        // Then there is nothing in it.
      }
    },
  };
  return storage;
}

function warnOfMemory(): void {
  warn(
    createTabStorage,
    'memory',
    'useSafeSubmit cannot write to sessionStorage (missing, forbidden or full). Until that is mended, a form that ' +
      'is sent again after a reload gets a new idempotency key, and its order may be booked twice.',
  );
}
