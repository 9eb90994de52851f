import { createIdempotencyKey } from '../idempotency/key.ts';
import type { Clock } from '../lib/clock.ts';
import { isLapsed } from './lease.ts';
import type { Fence } from './store/schema.ts';
import type { RowStore } from './store/row-store.ts';

/** Waits for the owners that other tabs have, and takes the rows of those that die. */
export interface Takeover {
  /** Looks who else has rows. Never rejects. */
  readonly look: () => Promise<void>;
  /** Waits for nobody any more. */
  readonly giveUp: () => void;
}

/**
 * `ask` asks for the lock of an owner; where there are none (`leaseUntil` is then until when this tab
 * counts as alive), its lease says whether it lives. `canTake` says whether this tab may take an owner at
 * the moment, and `onTake` that it has, until `release` is called.
 */
export function createTakeover(
  clock: Clock,
  store: RowStore,
  hasLocks: boolean,
  ask: (owner: string, granted: () => void) => () => void,
  leaseUntil: () => number | undefined,
  canTake: (owner: string) => boolean,
  onTake: (fence: Fence, release: () => void) => void,
  onError: (error: unknown) => void,
): Takeover {
  const asked = new Map<string, () => void>();

  const take = async (owner: string, release: () => void, from?: string): Promise<void> => {
    // Not any more, when everything is given up meanwhile.
    const isWanted = (): boolean => asked.get(owner) === release;
    const fence = { owner, token: createIdempotencyKey() };
    let isTaken = false;
    try {
      isTaken = isWanted() && (await store.adopt(fence, { leaseUntil: leaseUntil(), from }));
    } catch (error) {
      onError(error);
    }
    if (isWanted() && asked.delete(owner) && isTaken) onTake(fence, release);
    else release();
  };

  return {
    async look() {
      let records;
      try {
        records = await store.owners();
      } catch (error) {
        return onError(error);
      }
      const nowMs = clock.now();
      for (const [owner, giveUp] of asked) {
        if (records.some((record) => record.owner === owner)) continue;
        asked.delete(owner);
        giveUp();
      }
      for (const record of records) {
        const { owner, token } = record;
        if (!canTake(owner) || asked.has(owner)) continue;
        if (!hasLocks && !isLapsed(record, nowMs)) continue;
        const release: () => void = ask(owner, () => void take(owner, release));
        asked.set(owner, release);
        if (!hasLocks) await take(owner, release, token);
      }
    },
    giveUp() {
      for (const giveUp of asked.values()) giveUp();
      asked.clear();
    },
  };
}
