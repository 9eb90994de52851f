import type { Network } from '../origin/network.ts';
import type { Clock } from '../policy/clock.ts';
import {
  dueOf,
  type DueQueue,
  type DueRow,
  isThrough,
  nextLookAt,
  noteDue,
  readDue,
  takeOldest,
} from './due-queue.ts';
import type { Fence, Row } from './row.ts';
import type { Attempt, Running } from './running.ts';
import type { OutboxStore, Settled } from './store.ts';
import { writeEnd } from './write-end.ts';

export interface DeliveryContext {
  readonly clock: Clock;
  readonly store: OutboxStore;
  readonly network: Network;
  /** So many attempts at once, at most. */
  readonly parallel: number;
  /** Makes one attempt; undefined when nobody wanted it any more. Never rejects. */
  readonly attempt: (
    running: Running,
    fence: Fence,
    isUrged: boolean,
  ) => Promise<Attempt | undefined>;
  /** Which clear of all entries is under way, or has failed: nothing is sent meanwhile. */
  readonly clearing: () => string | undefined;
  /** One has begun that this tab has not heard of. */
  readonly onCleared: (token: string) => void;
  /** An attempt begins. */
  readonly onStart: (row: Row) => void;
  /** Its turn has come, whoever sends it. */
  readonly onTurn: (row: Row) => void;
  /** Another tab has taken the rows of this owner over. */
  readonly onLost: (fence: Fence) => void;
  /** The store does not work. */
  readonly onError: (error: unknown) => void;
  /** There is nothing left to do at the moment. */
  readonly onIdle: () => void;
}

/** Sends the rows of the owners that this tab has, when they are due, the oldest first. */
export interface Delivery {
  /** The rows of this owner are to be sent. @returns whether that is new. */
  readonly drive: (fence: Fence) => boolean;
  /** They no longer are. What is under way goes on. */
  readonly drop: (owner: string) => void;
  /** A row of an owner of ours is due. `isUrged`: because a person wants it now. */
  readonly add: (row: DueRow, isUrged?: boolean) => void;
  /** Looks again what is due: time has passed, or another tab has changed something. */
  readonly look: () => void;
  readonly running: (id: string) => Running | undefined;
  /** Breaks off all that is under way. */
  readonly stop: () => void;
  /** Resolves when nothing is due or under way. @returns when the next one is, or Infinity. */
  readonly whenIdle: () => Promise<number>;
  readonly dispose: () => void;
}

/** No wait is trusted to one timer for longer: timers stand still while a machine sleeps. */
const longestTimerMs = 30_000;
/** A store that does not work is asked again after so long. */
const errorPauseMs = 5000;

export function createDelivery({
  clock,
  store,
  network,
  parallel,
  attempt,
  clearing,
  onCleared,
  onStart,
  onTurn,
  onLost,
  onError,
  onIdle,
}: DeliveryContext): Delivery {
  const running = new Map<number, Running | undefined>();
  const driven = new Map<string, DueQueue>();
  const urged = new Set<number>();
  const idle: (() => void)[] = [];
  let timer: unknown;
  let pausedUntil = -Infinity;
  /** The clock, when it was looked at last. */
  let seenMs = -Infinity;
  let isPumping = false;
  let isAskedAgain = false;
  let isOver = false;

  const read = (one: DueQueue): Promise<void> => readDue(one, store, running, clock.now());
  const note = (row: DueRow, isUrged?: boolean): void =>
    noteDue(driven.get(row.liveOwner ?? ''), row, clock.now(), isUrged);
  const expire = (): void => {
    for (const one of driven.values()) one.isStale = true;
  };

  const pump = async (): Promise<void> => {
    if (isPumping) {
      isAskedAgain = true;
      return;
    }
    isPumping = true;
    try {
      do {
        isAskedAgain = false;
        const nowMs = clock.now();
        if (nowMs < seenMs) {
          // The clock was set back: whatever was planned by it is too far off.
          pausedUntil = Math.min(pausedUntil, nowMs);
          expire();
        }
        seenMs = nowMs;
        if (isOver || nowMs < pausedUntil) break;
        const cleared = driven.size > 0 ? clearing() : undefined;
        if (cleared !== undefined) onCleared(cleared);
        if (cleared !== undefined) break;
        for (const one of driven.values()) if (nextLookAt([one]) <= nowMs) await read(one);
        while (
          running.size < parallel &&
          !isOver &&
          !network.isOffline() &&
          clearing() === undefined
        ) {
          for (const one of driven.values())
            if (one.hasMore && one.queue.length === 0) await read(one);
          const next = takeOldest(driven.values());
          if (!next) break;
          if (!running.has(next.seq)) void run(next.seq, next.fence);
        }
      } while (isAskedAgain);
    } catch (error) {
      pause(error);
    } finally {
      isPumping = false;
    }
    plan();
    if (!isIdle()) return;
    for (const tell of idle.splice(0)) tell();
    if (!isOver) onIdle();
  };
  const isIdle = (): boolean => running.size === 0 && isThrough(driven.values());

  const pause = (error: unknown): void => {
    pausedUntil = clock.now() + errorPauseMs;
    expire();
    onError(error);
  };

  const plan = (): void => {
    clock.clearTimeout(timer);
    if (isOver) return;
    const nextAt = nextLookAt(driven.values());
    if (nextAt === Infinity) return;
    const delayMs = Math.min(Math.max(nextAt, pausedUntil) - clock.now(), longestTimerMs);
    timer = clock.setTimeout(() => void pump(), Math.max(0, delayMs));
  };

  const run = async (seq: number, fence: Fence): Promise<void> => {
    running.set(seq, undefined);
    const { owner } = fence;
    const isUrged = urged.delete(seq);
    let settled: Settled | undefined;
    try {
      const claim = await store.claim(seq, fence, clock.now());
      if (claim === 'lost') {
        if (driven.get(owner)?.fence.token === fence.token) driven.delete(owner);
        onLost(fence);
      } else if (claim.next) onTurn(claim.next);
      else if (claim.row && !isOver) {
        const { row } = claim;
        const one: Running = { row, live: undefined, controller: new AbortController() };
        running.set(seq, one);
        onStart(row);
        const made = await attempt(one, fence, isUrged);
        if (made)
          settled = await writeEnd(
            clock,
            // This tab may have slept, and taken over from itself since.
            () => store.settle(row, driven.get(owner)?.fence ?? fence, made.change, clock.now()),
            () => isOver,
            onError,
          );
        // It may be there still, and then nobody else looks: this tab has slept, and is back.
        if (!settled) expire();
        made?.report(settled);
      }
    } catch (error) {
      pause(error);
    }
    running.delete(seq);
    if (settled?.row?.state === 'pending') note(settled.row);
    if (settled?.next) note(settled.next);
    void pump();
  };

  const unsubscribe = network.subscribe(() => void pump());
  return {
    drive(fence) {
      const { owner, token } = fence;
      if (driven.get(owner)?.fence.token === token) return false;
      driven.set(owner, dueOf(fence));
      void pump();
      return true;
    },
    drop: (owner) => void driven.delete(owner),
    add(row, isUrged = false) {
      if (!driven.has(row.liveOwner ?? '')) return;
      const known = running.get(row.seq);
      if (isUrged && known) for (const { go } of known.live?.holds ?? []) go();
      else if (isUrged) urged.add(row.seq);
      note(row, isUrged);
      void pump();
    },
    look() {
      expire();
      void pump();
    },
    async whenIdle() {
      if (!isIdle()) await new Promise<void>((resolve) => void idle.push(resolve));
      return nextLookAt(driven.values());
    },
    stop() {
      for (const one of running.values()) one?.controller.abort();
    },
    running: (id) => [...running.values()].find((one) => one?.row.id === id),
    dispose() {
      isOver = true;
      clock.clearTimeout(timer);
      unsubscribe();
      driven.clear();
    },
  };
}
