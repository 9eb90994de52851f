import { inDevelopment } from '../lib/development.ts';
import { warn } from '../lib/input/warn.ts';

/** The part of `sessionStorage` that is needed. */
export type TabStoragePort = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** The texts that this tab keeps over a reload, by name. It never throws. */
export interface TabStorage {
  readonly read: (name: string) => string | null;
  readonly write: (name: string, text: string) => void;
  readonly remove: (name: string) => void;
}

/** Where storage is forbidden, reading the global alone throws; where it is missing, its use does. */
const systemTabStorage = (): TabStoragePort => globalThis.sessionStorage;

/** Where `sessionStorage` is missing, forbidden or full, this page still knows, but not after a reload. */
export function createTabStorage(port: () => TabStoragePort = systemTabStorage): TabStorage {
  const memory = new Map<string, string>();
  return {
    read(name) {
      try {
        return memory.get(name) ?? port().getItem(name);
      } catch {
        return null;
      }
    },
    write(name, text) {
      memory.delete(name);
      try {
        return port().setItem(name, text);
      } catch {
        // Missing, forbidden, or full.
      }
      memory.set(name, text);
      inDevelopment(warnOfMemory);
    },
    remove(name) {
      memory.delete(name);
      try {
        port().removeItem(name);
      } catch {
        // Then it contains nothing.
      }
    },
  };
}

function warnOfMemory(): void {
  warn(
    createTabStorage,
    'memory',
    'useSafeSubmit cannot write to sessionStorage (missing, forbidden or full). Until that is mended, a form that ' +
      'is sent again after a reload gets a new idempotency key, and its order may be booked twice.',
    'idempotency.md#what-the-user-sees',
  );
}
