/** What Chromium adds to a service worker's registration. */
interface SyncRegistration {
  readonly sync?: { readonly register: (tag: string) => Promise<void> };
}

/** What a sync is known by. */
export const syncTag = (database: string): string => `steadfetch ${database}`;

/**
 * Returns what asks the browser to wake the service worker when the network is there, also once this
 * page is gone. Only Chromium can, with a service worker; elsewhere it does nothing.
 */
export function prepareSync(database: string): () => void {
  const { navigator } = globalThis as Partial<typeof globalThis>;
  const { serviceWorker } = (navigator ?? {}) as Partial<Navigator>;
  let registration: SyncRegistration | undefined;
  // Looked up beforehand: a page that is being left has no time for it.
  serviceWorker?.ready.then(
    (ready) => (registration = ready as SyncRegistration),
    () => {},
  );
  return () => {
    // Forbidden by the user or the browser: then the next page delivers.
    registration?.sync?.register(syncTag(database)).catch(() => {});
  };
}
