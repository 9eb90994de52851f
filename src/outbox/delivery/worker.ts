import { type Clock, type Random, createSteadyClock } from '../../lib/clock.ts';
import type { Network } from '../../origin/origin.ts';
import { sleep, startAlarm } from '../../lib/timer.ts';
import type { Attempt, EntryEnd } from './end-attempt.ts';
import {
  beginAttempt,
  createPlaces,
  type DueEntry,
  isThrough,
  moveWaits,
  type Next,
  nextReadAt,
  noteDue,
  type Owned,
  ownedBy,
  readDue,
  type Running,
  type Slot,
  wakeLanes,
} from './due.ts';
import { reasonOf } from '../store/open-database.ts';
import type { RowStore, Settled } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import { type Row, originOfLane } from '../store/row.ts';

export interface WorkerContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: RowStore;
  readonly network: Network;
  /** So many attempts at once to one origin, at most. */
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
  /** Rows have changed: an attempt begins. */
  readonly onChange: () => void;
  /** Its turn has come, whoever sends it. */
  readonly onDue: (entry: Row) => void;
  /** An end is written; `settled` is undefined where it was not ours to write any more. */
  readonly onEnd: (entry: Row, end: EntryEnd, settled: Settled | undefined) => void;
  /** Another tab has taken the entries of this owner over. */
  readonly onLost: (fence: Fence) => void;
  /** The store does not work. */
  readonly onError: (error: unknown) => void;
  /** There is nothing left to do at the moment. */
  readonly onIdle: () => void;
}

/** Sends the entries of the owners that this tab has, when they are due. */
export interface Worker {
  /** The entries of this owner are to be sent. @returns whether that is new. */
  readonly drive: (fence: Fence) => boolean;
  /** They no longer are. What is under way goes on. */
  readonly drop: (owner: string) => void;
  /** An entry of an owner of ours is due. `isUrged`: because a user wants it now. */
  readonly add: (entry: DueEntry, isUrged?: boolean) => void;
  /** Looks again what is due: time has passed, or another tab has changed something. */
  readonly look: () => void;
  /** An attempt is paused or goes on: there may be a place for another. */
  readonly check: () => void;
  /** A request to this origin went well, or (without one) the network is back: what waits goes soon. */
  readonly wake: (origin?: string) => void;
  /** Whether entries that had to wait for this origin are about to be sent, because the cause of that is gone. */
  readonly isReleasing: (origin: string) => boolean;
  /** Breaks off what is under way: all of it, or of the entry with this id. */
  readonly abort: (id?: string) => void;
  /** When the next one is due, or Infinity; while something is due or under way, that has passed. */
  readonly nextAt: () => number;
  readonly dispose: () => void;
}

/** No wait is trusted to one timer for longer: timers stand still while a machine sleeps. */
const longestTimerMs = 5000;
/** A store that does not work is asked again after so long. */
const errorPauseMs = 5000;
/** And one entry that cannot be read or written, ever later, after so long at the most. */
const longestAsideMs = 60_000;
/** What was woken has been sent by then, as a rule. */
const releaseMs = 5000;
/** An end is tried to be written so often, a second later and then twice as late. */
const tries = 5;

export function createWorker({
  clock: wall,
  random,
  store,
  network,
  parallel,
  attempt,
  clearing,
  onCleared,
  onChange,
  onDue,
  onEnd,
  onLost,
  onError,
  onIdle,
}: WorkerContext): Worker {
  // What is on the disk is of the clock on the wall; how long something takes is not.
  const clock = createSteadyClock(wall);
  const running = new Map<number, Slot>();
  const driven = new Map<string, Owned>();
  const places = createPlaces(parallel);
  /** Rows that could not be taken, or of which nothing could be written. */
  const aside = new Map<number, { readonly times: number; readonly until: number }>();
  let timer: unknown;
  let pausedUntil = -Infinity;
  let moving: Promise<void> | undefined;
  let isPumping = false;
  let isAskedAgain = false;
  let wasOffline = network.isOffline();
  let isOver = false;
  let waking = 0;
  let releasedAt = -Infinity;
  /** What was under way when they were released, and did not wait. */
  let sentBefore: readonly Slot[] = [];

  const isDriven = ({ owner, token }: Fence): boolean => driven.get(owner)?.fence.token === token;
  const read = (owned: Owned): Promise<void> => readDue(owned, store, running, wall.now());
  const note = (entry: DueEntry, isUrged = false): void =>
    noteDue(driven.get(entry.owner ?? ''), entry, wall.now(), isUrged);
  const expire = (): void => {
    for (const owned of driven.values()) owned.isStale = true;
  };
  /** One at a time: moved twice, the next time would be missed. */
  const obeyClock = (): Promise<void> =>
    (moving ??= moveWaits(driven.values(), store, clock, wall).finally(() => (moving = undefined)));
  const isBlocked = (): boolean =>
    clock.now() < pausedUntil || network.isOffline() || clearing() !== undefined;

  const fill = async (): Promise<void> => {
    await obeyClock();
    for (const owned of driven.values()) if (nextReadAt([owned]) <= wall.now()) await read(owned);
    while (!isBlocked()) {
      for (const owned of driven.values())
        if ([...owned.lanes.values()].some((lane) => lane.hasMore && lane.seqs.length === 0))
          await read(owned);
      const next = places.take(driven.values(), running.values(), clock.now());
      if (!next) break;
      const { seq, isUrged } = next;
      const isAside = !isUrged && (aside.get(seq)?.until ?? 0) > clock.now();
      if (!running.has(seq) && !isAside) void run(next);
    }
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
        if (clock.now() < pausedUntil) break;
        const cleared = driven.size > 0 ? clearing() : undefined;
        if (cleared !== undefined) {
          onCleared(cleared);
          break;
        }
        await fill();
      } while (isAskedAgain);
    } catch (error) {
      pause(error);
    } finally {
      isPumping = false;
    }
    plan();
    if (isIdle() && !isOver) onIdle();
  };
  const isIdle = (): boolean => running.size === 0 && isThrough(driven.values());

  const pause = (error: unknown): void => {
    pausedUntil = clock.now() + errorPauseMs;
    expire();
    onError(error);
  };

  const look = (): void => {
    expire();
    void pump();
  };
  const setAside = (seq: number, error: unknown): void => {
    const times = (aside.get(seq)?.times ?? 0) + 1;
    const forMs = Math.min(errorPauseMs * Math.max(1, 2 ** (times - 2)), longestAsideMs);
    aside.set(seq, { times, until: clock.now() + forMs });
    startAlarm(clock, forMs, look);
    onError(error);
  };

  const plan = (): void => {
    clock.clearTimeout(timer);
    if (isOver) return;
    const pausedMs = pausedUntil - clock.now();
    // What is due goes when a place is free, or the store is asked again.
    const isWaiting = (running.size > 0 || pausedMs > 0) && !isThrough(driven.values());
    const dueInMs = nextReadAt(driven.values()) - wall.now();
    if (dueInMs === Infinity && !isWaiting) return;
    const delayMs = Math.max(dueInMs, pausedMs, 0);
    timer = clock.setTimeout(() => void pump(), Math.min(delayMs, longestTimerMs));
  };

  /** Writes an end, and again where that fails: what has happened has happened. */
  const writeEnd = async (entry: Row, fence: Fence, { change, onWritten }: Attempt) => {
    for (let left = tries; ; left -= 1) {
      try {
        // Its new time is of now: moved with the others, it would come too early.
        await obeyClock();
        // This tab may have slept, and taken over from itself since.
        const current = driven.get(fence.owner)?.fence ?? fence;
        const written = await store.settle(entry, current, change, wall.now());
        onWritten?.();
        return written;
      } catch (error) {
        // The database is gone: what has become of the entry is all the same known.
        if (isOver) return undefined;
        if (left === 1) throw error;
        onError(error);
        await sleep(clock, 1000 * 2 ** (tries - left), undefined);
      }
    }
  };

  const run = async ({ seq, fence, lane, isUrged }: Next): Promise<void> => {
    const slot: Slot = { lane, isUrged, startedAt: clock.now(), one: undefined };
    running.set(seq, slot);
    let settled: Settled | undefined;
    try {
      const claim = await store.claim(seq, fence, wall.now());
      if (claim === 'lost') {
        if (isDriven(fence)) driven.delete(fence.owner);
        onLost(fence);
      } else if (claim.next) onDue(claim.next);
      // Unless its owner was given up meanwhile: all entries were discarded, or the page is put away.
      else if (claim.row && isDriven(fence)) {
        const { row: entry } = claim;
        const one = beginAttempt(entry, clock, places);
        slot.lane = entry.lane;
        slot.one = one;
        onChange();
        const made = await attempt(one, fence, isUrged);
        if (made) settled = await writeEnd(entry, fence, made);
        // It may be there still, and then nobody else looks: this tab has slept, and is back.
        if (!settled) expire();
        if (made) onEnd(made.entry, made.end, settled);
      }
      aside.delete(seq);
    } catch (error) {
      // What says nothing of the database may be of this entry alone: it keeps nobody else waiting.
      if (reasonOf(error)) pause(error);
      else setAside(seq, error);
    }
    running.delete(seq);
    if (settled?.row?.state === 'pending') note(settled.row);
    if (settled?.next) note(settled.next);
    void pump();
  };

  const isPaused = ({ one }: Slot): boolean => one?.operation?.phase.kind === 'paused';
  /** Its handler does something else by now: it may await the very read that would wait for it. */
  const isAnswered = ({ one }: Slot): boolean => one?.open === 0 && one.origin !== undefined;
  const isAnyPlanned = (): boolean => nextReadAt(driven.values()) < Infinity;
  const lanesTo = (origin: string) =>
    [...driven.values()]
      .flatMap(({ lanes }) => [...lanes.values()])
      .filter(({ name }) => (originOfLane(name) ?? origin) === origin);
  const runningTo = (origin: string): readonly Slot[] =>
    [...running.values()].filter(({ lane }) => (originOfLane(lane) ?? origin) === origin);
  /** What was kept back from it has something to be released for: what is only under way has not. */
  const isKept = (origin: string): boolean =>
    runningTo(origin).some(isPaused) || lanesTo(origin).some(({ nextAt }) => nextAt < Infinity);

  const wake: Worker['wake'] = (origin) => {
    waking += 1;
    const isAnyKept = origin === undefined ? !isIdle() || isAnyPlanned() : isKept(origin);
    if (isAnyKept) {
      releasedAt = clock.now();
      sentBefore = [...running.values()].filter((slot) => !isPaused(slot));
    }
    void obeyClock()
      .then(() => wakeLanes(driven.values(), store, origin, wall, random))
      .finally(() => (waking -= 1))
      .then(pump)
      .catch(pause);
  };

  const unsubscribe = network.subscribe(() => {
    const isOffline = network.isOffline();
    if (wasOffline && !isOffline) wake();
    wasOffline = isOffline;
    void pump();
  });
  return {
    drive(fence) {
      if (isOver || isDriven(fence)) return false;
      driven.set(fence.owner, ownedBy(fence, clock.setBackMs()));
      void pump();
      return true;
    },
    drop: (owner) => void driven.delete(owner),
    add(entry, isUrged = false) {
      if (!driven.has(entry.owner ?? '')) return;
      const known = running.get(entry.seq)?.one;
      if (isUrged) known?.operation?.pauses.each('go');
      note(entry, isUrged);
      void pump();
    },
    look,
    check: () => void pump(),
    wake,
    isReleasing(origin) {
      if (clock.now() > releasedAt + releaseMs) return false;
      return (
        runningTo(origin).some((slot) => !sentBefore.includes(slot) && !isAnswered(slot)) ||
        lanesTo(origin).some(
          ({ seqs, nextAt }) => seqs.length > 0 || (waking > 0 && nextAt < Infinity),
        )
      );
    },
    nextAt: () => (isIdle() ? nextReadAt(driven.values()) : -Infinity),
    abort(id) {
      for (const { one } of running.values())
        if (one && (id ?? one.entry.id) === one.entry.id) one.controller.abort();
    },
    dispose() {
      isOver = true;
      clock.clearTimeout(timer);
      unsubscribe();
      driven.clear();
    },
  };
}
