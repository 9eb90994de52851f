import { createIdempotencyKey } from '../../idempotency/key.ts';
import type { Clock } from '../../lib/clock.ts';
import { DatabaseError } from '../store/open-database.ts';
import type { RowStore } from '../store/row-store.ts';
import type { Fence, OwnerRecord } from '../store/schema.ts';
import type { TabPorts } from '../../tabs/ports.ts';

/** Whose entries this tab sends. */
export interface Ownership {
  /**
   * Writes entries of this tab's own; `leaseUntil` is until when it counts as alive where there are no
   * locks. Afterwards `has` says whether they are still its own.
   */
  readonly use: <T>(
    work: (fence: Fence, leaseUntil: number | undefined) => Promise<T>,
  ) => Promise<T>;
  /** All that this tab owns. */
  readonly held: () => readonly Fence[];
  readonly has: (fence: Fence) => boolean;
  /** Another has taken this over: it is no longer of this tab. */
  readonly lose: (fence: Fence) => void;
  /** Looks who else has entries, to take over when they die. Never rejects. */
  readonly look: () => Promise<void>;
  /** Gives up what has none. @returns that. */
  readonly tidy: () => Promise<readonly Fence[]>;
  /** Gives everything up. */
  readonly release: () => void;
  /** The page is put away: gives everything up, and takes nothing until it is back. */
  readonly leave: () => void;
  readonly comeBack: () => Promise<void>;
  readonly dispose: () => void;
}

export interface OwnershipContext {
  readonly clock: Clock;
  readonly store: RowStore;
  readonly lock: TabPorts['lock'];
  /** Of the database, and so of its locks. */
  readonly name: string;
  /** This tab now sends the entries of an owner. */
  readonly onGain: (fence: Fence) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * A tab owns its entries by a lock that it holds as long as it has any. When it dies, the browser gives
 * the lock to one of those who wait for it, which takes the entries over; and whatever the dead one
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
  /** What gives up waiting for each owner that another tab has. */
  const asked = new Map<string, () => void>();
  /** The owner of new entries. */
  let mine: Fence | undefined;
  /** Writes of new entries that are under way. */
  let uses = 0;
  let timer: unknown;
  let isAway = false;
  let isOver = false;

  const leaseUntil = (): number | undefined =>
    lock || isAway ? undefined : leaseFrom(clock.now());
  const ask = (owner: string, granted: () => void): (() => void) =>
    lock?.(`steadfetch outbox ${name} ${owner}`, granted) ?? (() => {});
  const hold = (fence: Fence, release: () => void): void => {
    held.set(fence.owner, { fence, release });
    if (!lock) plan();
  };

  const own = (): Fence => {
    if (mine && has(mine)) return mine;
    const fence = { owner: createIdempotencyKey(), token: createIdempotencyKey() };
    // A page that is put away holds nothing: whoever looks next takes it over.
    if (isAway) return fence;
    mine = fence;
    // Nobody else knows its name yet, so it is ours before anybody can ask.
    hold(
      fence,
      ask(fence.owner, () => {}),
    );
    return fence;
  };

  const has = ({ owner, token }: Fence): boolean => held.get(owner)?.fence.token === token;
  const lose = (fence: Fence): void => {
    if (!has(fence)) return;
    held.get(fence.owner)?.release();
    held.delete(fence.owner);
  };

  const tidy = async (): Promise<readonly Fence[]> => {
    const given: Fence[] = [];
    for (const { fence } of held.values()) {
      const isMine = fence === mine;
      if (isMine && uses > 0) continue;
      // An entry that is new from here on has another owner: nobody would look after this one again.
      if (isMine) mine = undefined;
      if (await store.abandon(fence)) {
        lose(fence);
        given.push(fence);
      } else if (isMine) mine ??= fence;
    }
    return given;
  };

  /** Takes an owner over, whose lock this tab was given or whose lease is over. */
  const take = async (owner: string, free: () => void, from?: string): Promise<void> => {
    // Not any more, when everything is given up meanwhile.
    const isWanted = (): boolean => asked.get(owner) === free;
    const fence = { owner, token: createIdempotencyKey() };
    let isTaken = false;
    try {
      isTaken = isWanted() && (await store.adopt(fence, { leaseUntil: leaseUntil(), from }));
    } catch (error) {
      fail(error);
    }
    if (!isWanted()) return free();
    asked.delete(owner);
    if (!isTaken) return free();
    hold(fence, free);
    onGain(fence);
  };
  const lookAround = async (): Promise<void> => {
    const records = await store.owners();
    const nowMs = clock.now();
    for (const [owner, giveUp] of asked) {
      if (records.some((record) => record.owner === owner)) continue;
      asked.delete(owner);
      giveUp();
    }
    for (const record of records) {
      const { owner, token } = record;
      if (isOver || isAway || held.has(owner) || asked.has(owner)) continue;
      if (!lock && !isLapsed(record, nowMs)) continue;
      const free: () => void = ask(owner, () => void take(owner, free));
      asked.set(owner, free);
      if (!lock) await take(owner, free, token);
    }
  };
  const look = async (): Promise<void> => {
    if (isOver || isAway) return;
    await lookAround().catch(fail);
    if (!lock) plan();
  };

  const fail = (error: unknown): void => {
    plan();
    onError(error);
  };
  /**
   * Where there are no locks, it is said from time to time that this tab lives, and looked who does
   * not; and where the store has failed, it is asked again.
   */
  function plan(): void {
    if (timer !== undefined || isOver || isAway) return;
    timer = clock.setTimeout(() => {
      timer = undefined;
      void (lock ? look() : renew());
    }, renewMs);
  }
  const renew = async (): Promise<void> => {
    try {
      for (const { fence } of held.values())
        if (!(await store.renew(fence, leaseFrom(clock.now())))) lose(fence);
    } catch (error) {
      return fail(error);
    }
    await look();
  };

  const release = (): void => {
    for (const giveUp of asked.values()) giveUp();
    asked.clear();
    for (const { fence, release: giveBack } of held.values()) {
      // The next page of this tab need not wait for the end of the lease.
      if (!lock) store.renew(fence, 0).catch(onError);
      giveBack();
    }
    held.clear();
    mine = undefined;
  };
  const leave = (): void => {
    isAway = true;
    release();
    clock.clearTimeout(timer);
    timer = undefined;
  };

  return {
    async use(work) {
      if (isOver) throw new DatabaseError('lost');
      uses += 1;
      try {
        return await work(own(), leaseUntil());
      } finally {
        uses -= 1;
      }
    },
    held: () => [...held.values()].map(({ fence }) => fence),
    has,
    lose,
    look,
    tidy,
    release,
    leave,
    comeBack() {
      isAway = false;
      return look();
    },
    dispose() {
      isOver = true;
      leave();
    },
  };
}

/**
 * Where there are no Web Locks, an owner counts as dead so long after its last sign: longer than the
 * minute to which timers of a hidden tab are throttled.
 */
const leaseMs = 90_000;
/** Clocks of one machine can be set. */
const skewMs = 10_000;
/** A lease is prolonged after so long; what has failed is tried again. */
const renewMs = 20_000;

/** Until when an owner that gives a sign now counts as alive. */
const leaseFrom = (nowMs: number): number => nowMs + leaseMs;

/** Whether an owner counts as dead; so does one whose lease is of a clock that was set back since. */
function isLapsed({ leaseUntil = 0 }: OwnerRecord, nowMs: number): boolean {
  return leaseUntil + skewMs < nowMs || leaseUntil > leaseFrom(nowMs) + skewMs;
}
