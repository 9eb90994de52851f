import { createIdempotencyKey } from '../policy/idempotency-key.ts';
import type { Clock } from '../policy/clock.ts';
import type { Fence } from './row.ts';
import type { OutboxStore } from './store.ts';
import type { TabPorts } from './tab-ports.ts';

/**
 * Where there are no Web Locks, an owner counts as dead so long after its last sign: longer than the
 * minute to which timers of a hidden tab are throttled.
 */
const leaseMs = 90_000;
const renewMs = 20_000;
/** Clocks of one machine can be set. */
const skewMs = 10_000;

/** Whose rows this tab sends. */
export interface Ownership {
  /**
   * Writes rows of this tab's own; `leaseUntil` is until when it counts as alive where there are no
   * locks.
   */
  readonly use: <T>(
    work: (fence: Fence, leaseUntil: number | undefined) => Promise<T>,
  ) => Promise<T>;
  /** All that this tab owns. */
  readonly held: () => readonly Fence[];
  /** Another has taken this over: it is no longer of this tab. */
  readonly lose: (fence: Fence) => void;
  /** Looks who else has rows, to take over when they die. */
  readonly look: () => Promise<void>;
  /** Gives up what has none. @returns that. */
  readonly tidy: () => Promise<readonly Fence[]>;
  /** Gives everything up: the page is put away. */
  readonly leave: () => void;
  readonly dispose: () => void;
}

export interface OwnershipContext {
  readonly clock: Clock;
  readonly store: OutboxStore;
  readonly lock: TabPorts['lock'];
  /** Of the database, and so of its locks. */
  readonly name: string;
  /** This tab now sends the rows of an owner. */
  readonly onGain: (fence: Fence) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * A tab owns its rows by a lock that it holds as long as it has any. When it dies, the browser gives
 * the lock to one of those who wait for it, which takes the rows over; and whatever the dead one
 * still writes, should it only have slept, is refused by its token.
 */
export function createOwnership({
  clock,
  store,
  lock,
  name,
  onGain,
  onError,
}: OwnershipContext): Ownership {
  const held = new Map<string, { readonly fence: Fence; readonly release: () => void }>();
  const asked = new Map<string, () => void>();
  let mine: Fence | undefined;
  /** Writes of new rows that are under way. */
  let uses = 0;
  let timer: unknown;
  let isOver = false;

  const leaseUntil = (): number | undefined => (lock ? undefined : clock.now() + leaseMs);
  const lockName = (owner: string): string => `steadfetch outbox ${name} ${owner}`;

  const own = (): Fence => {
    if (mine && held.has(mine.owner)) return mine;
    const owner = createIdempotencyKey();
    mine = { owner, token: createIdempotencyKey() };
    // Nobody else knows its name yet, so it is ours before anybody can ask.
    const release = lock?.(lockName(owner), () => {}) ?? (() => {});
    held.set(owner, { fence: mine, release });
    plan();
    return mine;
  };

  const lose = ({ owner, token }: Fence): void => {
    const known = held.get(owner);
    if (known?.fence.token !== token) return;
    held.delete(owner);
    known.release();
  };

  const take = async (owner: string, release: () => void, from?: string): Promise<void> => {
    const fence = { owner, token: createIdempotencyKey() };
    const isTaken = !isOver && (await store.adopt(fence, { leaseUntil: leaseUntil(), from }));
    asked.delete(owner);
    if (!isTaken || isOver) return release();
    held.set(owner, { fence, release });
    plan();
    onGain(fence);
  };

  const tidy = async (): Promise<readonly Fence[]> => {
    const given: Fence[] = [];
    const isUsed = (fence: Fence): boolean => fence === mine && uses > 0;
    for (const { fence } of held.values()) {
      if (isUsed(fence) || !(await store.abandon(fence)) || isUsed(fence)) continue;
      lose(fence);
      given.push(fence);
    }
    return given;
  };

  const look = async (): Promise<void> => {
    if (isOver) return;
    const now = clock.now();
    const records = await store.owners();
    const names = new Set(records.map(({ owner }) => owner));
    for (const [owner, giveUp] of asked) {
      if (names.has(owner)) continue;
      asked.delete(owner);
      giveUp();
    }
    for (const { owner, token, leaseUntil: until = 0 } of records) {
      if (isOver || held.has(owner) || asked.has(owner)) continue;
      if (!lock) {
        if (until + skewMs < now || until > now + leaseMs + skewMs)
          await take(owner, () => {}, token);
        continue;
      }
      const release = lock(lockName(owner), () => void take(owner, release).catch(onError));
      asked.set(owner, release);
    }
    plan();
  };

  /** Where there are no locks, it is said from time to time that this tab lives, and looked who does not. */
  function plan(): void {
    if (lock || timer !== undefined || isOver) return;
    timer = clock.setTimeout(() => {
      timer = undefined;
      renew().catch(onError);
    }, renewMs);
  }
  const renew = async (): Promise<void> => {
    for (const { fence } of held.values())
      if (!(await store.renew(fence, clock.now() + leaseMs))) lose(fence);
    await look();
  };

  const leave = (): void => {
    for (const giveUp of asked.values()) giveUp();
    asked.clear();
    for (const { fence, release } of held.values()) {
      // The next page of this tab need not wait for the end of the lease.
      if (!lock) store.renew(fence, 0).catch(onError);
      release();
    }
    held.clear();
    mine = undefined;
    clock.clearTimeout(timer);
    timer = undefined;
  };

  return {
    async use(work) {
      uses += 1;
      try {
        return await work(own(), leaseUntil());
      } finally {
        uses -= 1;
      }
    },
    held: () => [...held.values()].map(({ fence }) => fence),
    lose,
    look,
    tidy,
    leave,
    dispose() {
      isOver = true;
      leave();
    },
  };
}
