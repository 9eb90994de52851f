import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Network } from '../origin/network.ts';
import type { Clock } from '../policy/clock.ts';
import type { Fence, Row } from './row.ts';
import { type Change, type OutboxStore, pageSize, type Settled } from './store.ts';

/** What one attempt at a row has come to, and what is to be written of it. */
export interface Attempt {
  readonly change: Change;
  /** Is told once it is written; undefined when it was not ours to write any more. */
  readonly report: (settled: Settled | undefined) => void;
}

/** An attempt that is under way. */
export interface Running {
  readonly row: Row;
  /** What is known of it while it is held; undefined before it begins. */
  live: LiveOperation | undefined;
  readonly controller: AbortController;
}

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

/** What must be known of a row to send it when it is due. */
type DueRow = Pick<Row, 'seq' | 'liveOwner' | 'nextRetryAt'>;

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
/** An end that cannot be written is written again so often, a second later and then twice as late. */
const writes = 5;

interface Driven {
  readonly fence: Fence;
  /** The places of what is due, or of a page of it, the oldest first. */
  queue: number[];
  /** There is more that is due than is in the queue: it is read when that is through. */
  hasMore: boolean;
  isStale: boolean;
  nextAt: number;
}

export function createDelivery({
  clock,
  store,
  network,
  parallel,
  attempt,
  onStart,
  onTurn,
  onLost,
  onError,
  onIdle,
}: DeliveryContext): Delivery {
  const driven = new Map<string, Driven>();
  const running = new Map<number, Running | undefined>();
  const urged = new Set<number>();
  const idle: (() => void)[] = [];
  let timer: unknown;
  let pausedUntil = -Infinity;
  /** The clock, when it was looked at last. */
  let seenMs = -Infinity;
  let isPumping = false;
  let isAskedAgain = false;
  let isOver = false;

  const load = async (one: Driven): Promise<void> => {
    const { owner } = one.fence;
    const nowMs = clock.now();
    one.isStale = false;
    // What is being sent is among the due.
    const limit = pageSize + running.size;
    const due = await store.due(owner, nowMs, limit);
    one.hasMore = due.length === limit;
    one.nextAt = (await store.nextDueAt(one.fence, nowMs)) ?? Infinity;
    const known = new Set(one.queue);
    for (const seq of due) if (!running.has(seq)) known.add(seq);
    one.queue = [...known].toSorted((a, b) => a - b);
  };

  const takeOldest = (): { readonly seq: number; readonly fence: Fence } | undefined => {
    let oldest: Driven | undefined;
    for (const one of driven.values()) {
      const [seq = Infinity] = one.queue;
      if (seq < (oldest?.queue[0] ?? Infinity)) oldest = one;
    }
    const seq = oldest?.queue.shift();
    return oldest && seq !== undefined ? { seq, fence: oldest.fence } : undefined;
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
        if (nowMs < seenMs) noteSetBack(nowMs);
        seenMs = nowMs;
        if (isOver || nowMs < pausedUntil) break;
        for (const one of driven.values())
          if (one.isStale || (!one.hasMore && one.nextAt <= nowMs)) await load(one);
        while (running.size < parallel && !isOver && !network.isOffline()) {
          for (const one of driven.values())
            if (one.hasMore && one.queue.length === 0) await load(one);
          const next = takeOldest();
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
    if (driven.size > 0 && !isOver) onIdle();
  };
  const isIdle = (): boolean =>
    running.size === 0 &&
    [...driven.values()].every(
      ({ queue, hasMore, isStale }) => queue.length === 0 && !hasMore && !isStale,
    );

  /** The clock was set back: whatever was planned by it is too far off. */
  const noteSetBack = (nowMs: number): void => {
    pausedUntil = Math.min(pausedUntil, nowMs);
    for (const one of driven.values()) one.isStale = true;
  };

  const pause = (error: unknown): void => {
    pausedUntil = clock.now() + errorPauseMs;
    for (const one of driven.values()) one.isStale = true;
    onError(error);
  };

  const plan = (): void => {
    clock.clearTimeout(timer);
    timer = undefined;
    if (isOver) return;
    const nextAt = Math.min(
      // Where a page of them is under way, the end of each looks what comes next.
      ...[...driven.values()].map(({ nextAt: at, isStale, hasMore }) =>
        isStale ? pausedUntil : hasMore ? Infinity : at,
      ),
    );
    if (nextAt === Infinity) return;
    const delayMs = Math.min(Math.max(nextAt, pausedUntil) - clock.now(), longestTimerMs);
    timer = clock.setTimeout(() => void pump(), Math.max(0, delayMs));
  };

  const run = async (seq: number, fence: Fence): Promise<void> => {
    running.set(seq, undefined);
    const isUrged = urged.delete(seq);
    let settled: Settled | undefined;
    try {
      const claim = await store.claim(seq, fence, clock.now());
      if (claim === 'lost') lose(fence);
      else if (claim.next) onTurn(claim.next);
      else if (claim.row && !isOver) {
        const { row } = claim;
        const one: Running = { row, live: undefined, controller: new AbortController() };
        running.set(seq, one);
        onStart(row);
        const made = await attempt(one, fence, isUrged);
        if (made) settled = await write(row, fence, made.change);
        // It may be there still, and then nobody else looks: this tab has slept, and is back.
        const driver = driven.get(fence.owner);
        if (!settled && driver) driver.isStale = true;
        made?.report(settled);
      }
    } catch (error) {
      pause(error);
    }
    running.delete(seq);
    if (settled?.row?.state === 'pending') noteDue(settled.row);
    if (settled?.next) noteDue(settled.next);
    void pump();
  };

  /** What has happened has happened: it is written again when the store cannot. */
  const write = async (row: Row, fence: Fence, change: Change): Promise<Settled | undefined> => {
    for (let left = writes; ; left -= 1) {
      // This tab may have slept, and taken over from itself since.
      const { fence: latest } = driven.get(fence.owner) ?? { fence };
      try {
        return await store.settle(row, latest, change, clock.now());
      } catch (error) {
        // The database is gone: what has become of the row is all the same known.
        if (isOver) return undefined;
        if (left === 1) throw error;
        onError(error);
        await new Promise<void>((over) => {
          clock.setTimeout(over, 1000 * 2 ** (writes - left));
        });
      }
    }
  };

  const lose = (fence: Fence): void => {
    if (driven.get(fence.owner)?.fence.token === fence.token) driven.delete(fence.owner);
    onLost(fence);
  };

  const noteDue = (
    { seq, liveOwner = '', nextRetryAt = Infinity }: DueRow,
    isUrged = false,
  ): void => {
    const one = driven.get(liveOwner);
    if (!one) return;
    // Its turn comes when those before it are read.
    const isBeyond = one.hasMore && !isUrged && seq > (one.queue.at(-1) ?? 0);
    if (nextRetryAt > clock.now()) one.nextAt = Math.min(one.nextAt, nextRetryAt);
    else if (!isBeyond) insertSorted(one.queue, seq);
  };

  const unsubscribe = network.subscribe(() => void pump());
  return {
    drive(fence) {
      if (driven.get(fence.owner)?.fence.token === fence.token) return false;
      const fresh = { queue: [], isStale: true, hasMore: false, nextAt: Infinity };
      driven.set(fence.owner, { fence, ...fresh });
      void pump();
      return true;
    },
    drop: (owner) => void driven.delete(owner),
    add(row, isUrged = false) {
      if (!driven.has(row.liveOwner ?? '')) return;
      const known = running.get(row.seq);
      if (isUrged && known) for (const { go } of known.live?.holds ?? []) go();
      else if (isUrged) urged.add(row.seq);
      noteDue(row, isUrged);
      void pump();
    },
    look() {
      for (const one of driven.values()) one.isStale = true;
      void pump();
    },
    async whenIdle() {
      if (!isIdle()) await new Promise<void>((resolve) => void idle.push(resolve));
      return Math.min(Infinity, ...[...driven.values()].map(({ nextAt }) => nextAt));
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

/** Nearly always at the end. */
function insertSorted(queue: number[], seq: number): void {
  let at = queue.length;
  while (at > 0 && (queue[at - 1] ?? 0) > seq) at -= 1;
  if (queue[at - 1] !== seq) queue.splice(at, 0, seq);
}
