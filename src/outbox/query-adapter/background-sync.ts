import type { Clock } from '../../core/lib/clock.ts';
import { ifAllowed } from '../../core/lib/browser/page.ts';
import { hash128, toHex } from '../../core/lib/hash.ts';
import type { Engine } from '../delivery/engine.ts';

interface SyncRegistration {
  readonly sync?: { readonly register: (tag: string) => Promise<void> };
}

export const syncTag = (database: string): string => `steadfetch ${database}`;

/**
 * Returns what asks the browser to wake the service worker when the network is there, also once this
 * page is gone. Only Chromium can, with a service worker; elsewhere it does nothing.
 */
export function prepareSync(database: string): () => void {
  let registration: SyncRegistration | undefined;
  // Looked up beforehand: a page that is being left has no time for it.
  ifAllowed(() => navigator.serviceWorker)?.ready.then(
    (ready) => (registration = ready as SyncRegistration),
    () => {},
  );
  return () => {
    // Forbidden by the user or the browser: then the next page delivers.
    registration?.sync?.register(syncTag(database)).catch(() => {});
  };
}

/**
 * The database of a user: each has one, so that no entry is sent as another user. The id cannot be read from
 * its name.
 */
export function databaseName(name: string, user: string | undefined): string {
  return user === undefined ? name : `${name} ${toHex(hash128(user))}`;
}

/** A lock that is free is granted long before. */
const grantMs = 500;
/** An entry that is due within this time is waited for. */
const soonMs = 30_000;

/**
 * Sends the entries that no open tab has, as far as that can be done now.
 *
 * @returns whether something of it is left for later.
 */
export async function drain(clock: Clock, engine: Engine): Promise<boolean> {
  const pass = (ms: number): Promise<void> =>
    new Promise((over) => void clock.setTimeout(over, ms));
  await engine.ownership.refresh();
  await pass(grantMs);
  for (;;) {
    const waitMs = engine.worker.nextAt() - clock.now();
    if (waitMs > soonMs) return waitMs < Infinity;
    await pass(Math.max(grantMs, waitMs));
  }
}
