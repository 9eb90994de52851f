import { createIdempotencyKey } from '../policy/idempotency-key.ts';
import type { Clock } from '../policy/clock.ts';
import { isLapsed } from './lease.ts';
import type { Fence } from './row.ts';
import type { OutboxStore } from './store.ts';

interface TakeoverContext {
  readonly clock: Clock;
  readonly store: OutboxStore;
  /** Asks for the lock of an owner; undefined where there are none. */
  readonly ask: ((owner: string, granted: () => void) => () => void) | undefined;
  /** Until when this tab counts as alive, where there are no locks. */
  readonly leaseUntil: () => number | undefined;
  /** This tab takes nothing at the moment. */
  readonly isOff: () => boolean;
  /** Whether this tab has this owner's rows already. */
  readonly isHeld: (owner: string) => boolean;
  /** The rows of this owner are now of this tab, until `release` is called. */
  readonly onTake: (fence: Fence, release: () => void) => void;
  readonly onError: (error: unknown) => void;
}

/** Waits for the owners that other tabs have, and takes the rows of those that die. */
export interface Takeover {
  /** Looks who else has rows. Never rejects. */
  readonly look: () => Promise<void>;
  /** Waits for nobody any more. */
  readonly giveUp: () => void;
}

export function createTakeover({
  clock,
  store,
  ask,
  leaseUntil,
  isOff,
  isHeld,
  onTake,
  onError,
}: TakeoverContext): Takeover {
  const asked = new Map<string, () => void>();

  /** `isWanted` becomes false when everything is given up meanwhile. */
  const take = async (
    owner: string,
    isWanted: () => boolean,
    release: () => void,
    from?: string,
  ): Promise<void> => {
    const fence = { owner, token: createIdempotencyKey() };
    let isTaken = false;
    try {
      isTaken = isWanted() && (await store.adopt(fence, { leaseUntil: leaseUntil(), from }));
    } catch (error) {
      onError(error);
    }
    if (!isWanted()) return release();
    asked.delete(owner);
    if (!isTaken) return release();
    onTake(fence, release);
  };

  return {
    async look() {
      if (isOff()) return;
      let records;
      try {
        records = await store.owners();
      } catch (error) {
        return onError(error);
      }
      const nowMs = clock.now();
      const names = new Set(records.map(({ owner }) => owner));
      for (const [owner, giveUp] of asked) {
        if (names.has(owner)) continue;
        asked.delete(owner);
        giveUp();
      }
      for (const record of records) {
        if (isOff()) return;
        const { owner, token } = record;
        if (isHeld(owner) || asked.has(owner)) continue;
        if (ask) {
          const isWanted = (): boolean => asked.get(owner) === release;
          const release = ask(owner, () => void take(owner, isWanted, release));
          asked.set(owner, release);
        } else if (isLapsed(record, nowMs)) {
          const giveUp = (): void => {};
          asked.set(owner, giveUp);
          await take(owner, () => asked.get(owner) === giveUp, giveUp, token);
        }
      }
    },
    giveUp() {
      for (const giveUp of asked.values()) giveUp();
      asked.clear();
    },
  };
}
