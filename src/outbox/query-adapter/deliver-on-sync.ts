import { databaseName, syncTag } from '../background-sync.ts';
import { createOutbox, drainOutbox } from './create-outbox.ts';
import { type AnyOutboxHandlers, defaultName, type OutboxConfig } from './outbox.ts';

/** A sync event, which TypeScript's library does not have. */
interface SyncEvent extends Event {
  readonly tag: string;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** An outbox in a service worker has no QueryClient, and no other ports. */
export type WorkerOutboxConfig<H extends AnyOutboxHandlers> = Omit<
  OutboxConfig<H>,
  'queryClient' | 'ports' | 'backgroundSync'
>;

/**
 * In a service worker: delivers what the pages have left, when the browser says that the network is
 * there (Background Sync: Chromium). Entries of pages that live are theirs. The pages ask for it with
 * `createOutbox({ backgroundSync: true })`, and both have the same handlers.
 *
 * @param config As of `createOutbox`; or a function, where it must be found out first who is logged in.
 *   Undefined from it means nobody.
 *
 * @example
 * ```ts
 * // sw.ts
 * deliverOnSync({ steady: createSteadfetch(), handlers });
 * ```
 */
export function deliverOnSync<const H extends AnyOutboxHandlers>(
  config:
    | WorkerOutboxConfig<H>
    | (() => WorkerOutboxConfig<H> | undefined | Promise<WorkerOutboxConfig<H> | undefined>),
): void {
  const deliver = async (tag: string): Promise<void> => {
    const known = typeof config === 'function' ? await config() : config;
    if (!known || tag !== syncTag(databaseName(known.name ?? defaultName, known.user))) return;
    const outbox = createOutbox(known);
    try {
      // The browser asks again later when it is told that something is left.
      if (await drainOutbox(outbox)) throw new Error('The outbox has entries to send later.');
    } finally {
      outbox.dispose();
    }
  };
  addEventListener('sync', (event) => {
    const { tag, waitUntil } = event as SyncEvent;
    if (tag.startsWith(syncTag(''))) waitUntil.call(event, deliver(tag));
  });
}
