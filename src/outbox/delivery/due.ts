import { between, type Clock, type Random, type SteadyClock } from '../../lib/clock.ts';
import type { Operation } from '../../operation/operation.ts';
import { type RowStore, pageSize } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import { type Row, originOfLane, splitLane } from '../store/row.ts';

/** What must be known of an entry to send it when it is due. */
export type DueEntry = Pick<Row, 'seq'> &
  Partial<Pick<Row, 'owner' | 'nextRetryAt' | 'lane' | 'plannedAt'>>;

/** What is due of one lane, the oldest first, a page of it at a time. */
interface Lane {
  readonly name: string;
  seqs: number[];
  /** There is more that is due than is in `seqs`: it is read when that is through. */
  hasMore: boolean;
  /** When the next one is due, in epoch milliseconds. */
  nextAt: number;
}

/** The entries of an owner, which this tab sends. */
export interface Owned {
  readonly fence: Fence;
  readonly lanes: Map<string, Lane>;
  /** Those that a user wants now go first. */
  urged: number[];
  /** It is to be read again. */
  isStale: boolean;
  /** How far the clock was set back when its times were last moved: see `SteadyClock`. */
  setBackMs: number;
}

/** An entry whose attempt is under way; `one` is undefined before it is claimed. */
export interface Slot {
  /** Empty while that is not known. */
  lane: string;
  readonly isUrged: boolean;
  /** As the worker's clock has it. */
  readonly startedAt: number;
  one: Running | undefined;
}

/** Nothing was read of it yet. */
export const ownedBy = (fence: Fence, setBackMs: number): Owned => ({
  fence,
  lanes: new Map(),
  urged: [],
  isStale: true,
  setBackMs,
});

/** Reads what is due; what is being sent from here is among it. */
export async function readDue(
  owned: Owned,
  store: RowStore,
  running: ReadonlyMap<number, unknown>,
  nowMs: number,
): Promise<void> {
  owned.isStale = false;
  const limit = pageSize + running.size;
  const found = await store.due(owned.fence, nowMs, limit);
  const before = new Map(owned.lanes);
  owned.lanes.clear();
  for (const { lane, due, nextAt = Infinity } of found) {
    // What was told while this was read is perhaps not among it.
    const known = new Set([...(before.get(lane)?.seqs ?? []), ...due]);
    owned.lanes.set(lane, {
      name: lane,
      seqs: [...known].filter((seq) => !running.has(seq)).toSorted((a, b) => a - b),
      hasMore: due.length === limit,
      nextAt,
    });
  }
}

/** A clock that was set back by less is not worth a write. */
const leastSetBackMs = 1000;

/** Where the clock was set back, all that waits was planned by another time. */
export async function moveWaits(
  all: Iterable<Owned>,
  store: RowStore,
  clock: SteadyClock,
  wall: Clock,
): Promise<void> {
  const setBackMs = clock.setBackMs();
  for (const owned of all) {
    const byMs = setBackMs - owned.setBackMs;
    if (byMs < leastSetBackMs) continue;
    await store.setBack(owned.fence, wall.now(), byMs);
    owned.setBackMs = setBackMs;
    owned.isStale = true;
  }
}

/** What waits for an origin goes within this time of a success there, spread: but for the first of a lane, which goes at once. */
const wakeMs = { least: 500, most: 4000 } as const;

/** What waits for this origin, or (without one) for the network, goes soon. */
export async function wakeLanes(
  all: Iterable<Owned>,
  store: RowStore,
  origin: string | undefined,
  wall: Clock,
  random: Random,
): Promise<void> {
  // Only this device was without a network: nothing else comes back with it.
  const { least, most } = origin === undefined ? { least: 0, most: 0 } : wakeMs;
  for (const owned of all)
    for (const { name, nextAt } of owned.lanes.values()) {
      // Where it goes is not known while nothing of it was sent.
      const isMeant = origin === undefined || (originOfLane(name) ?? origin) === origin;
      if (!isMeant || nextAt === Infinity) continue;
      let isFirst = true;
      await store.wake(owned.fence, name, wall.now(), most, () => {
        const drawnMs = isFirst ? 0 : Math.round(between(random, least, most));
        isFirst = false;
        return drawnMs;
      });
      owned.isStale = true;
    }
}

/** An entry of this owner is due, or will be. */
export function noteDue(
  owned: Owned | undefined,
  { seq, lane: name, nextRetryAt = Infinity, plannedAt = 0 }: DueEntry,
  nowMs: number,
  isUrged: boolean,
): void {
  if (!owned) return;
  if (isUrged) owned.urged.push(seq);
  // Its lane is not known; or it was planned before the clock was set back.
  else if (name === undefined || plannedAt > nowMs) owned.isStale = true;
  else {
    const lane = owned.lanes.get(name) ?? { name, seqs: [], hasMore: false, nextAt: Infinity };
    owned.lanes.set(name, lane);
    // Its turn comes when those before it are read.
    const isBeyond = lane.hasMore && seq > (lane.seqs.at(-1) ?? 0);
    if (nextRetryAt > nowMs) lane.nextAt = Math.min(lane.nextAt, nextRetryAt);
    else if (!isBeyond) insertSorted(lane.seqs, seq);
  }
}

/** Nearly always at the end. */
function insertSorted(seqs: number[], seq: number): void {
  let at = seqs.length;
  while (at > 0 && (seqs[at - 1] ?? 0) > seq) at -= 1;
  if (seqs[at - 1] !== seq) seqs.splice(at, 0, seq);
}

/** Nothing is due, as far as is known, and all is known. */
export const isThrough = (all: Iterable<Owned>): boolean =>
  [...all].every(
    ({ lanes, urged, isStale }) =>
      !isStale &&
      urged.length === 0 &&
      [...lanes.values()].every(({ seqs, hasMore }) => seqs.length === 0 && !hasMore),
  );

/** When something is to be read next, in epoch milliseconds: Infinity for never. */
export const nextReadAt = (all: Iterable<Owned>): number =>
  Math.min(
    Infinity,
    ...[...all].flatMap(({ lanes, isStale }) =>
      isStale ? -Infinity : [...lanes.values()].map(({ nextAt }) => nextAt),
    ),
  );

/** An attempt that has sent nothing for so long takes no place: nobody knows what it waits for. */
const idleMs = 5000;
/** So many entries are paused at most while it is not known where those behind them go. */
const mostUndiscovered = 1000;

/** An entry that goes next. */
export interface Next extends Pick<Slot, 'lane' | 'isUrged'> {
  readonly seq: number;
  readonly fence: Fence;
}

/** Which entries go next. */
export interface Places {
  /** An entry of this handler is sent there. */
  readonly learn: (handler: string, origin: string) => void;
  /** Takes the oldest that has a place. */
  readonly take: (all: Iterable<Owned>, running: Iterable<Slot>, nowMs: number) => Next | undefined;
}

/**
 * A place is for what is being sent: so many (`parallel`) for each origin. What is paused takes none of
 * them, and so do attempts that send nothing; but of those of one lane that are known to be paused, so
 * many are enough. Where an entry goes is known once it was tried. Before, it is taken to go where the
 * last of its handler went; as that may be wrong, whatever takes long there counts half.
 */
export function createPlaces(parallel: number): Places {
  const origins = new Map<string, string>();

  const isFree = (name: string, running: readonly Slot[], nowMs: number): boolean => {
    const [handler, known] = splitLane(name);
    const origin = known ?? origins.get(handler);
    let sending = 0;
    let paused = 0;
    for (const { lane, one, startedAt } of running) {
      const isOld = nowMs - startedAt >= idleMs;
      if (one?.operation?.phase.kind === 'paused') paused += lane === name ? 1 : 0;
      else if (one && one.open === 0 && nowMs - one.idleSince >= idleMs) continue;
      else {
        const [ofHandler, itsOwn] = splitLane(lane);
        const other = one?.origin ?? itsOwn ?? origins.get(ofHandler);
        if (origin === undefined || other === undefined ? lane === name : other === origin)
          sending += known === undefined && isOld ? 0.5 : 1;
      }
    }
    return sending < parallel && paused < (known === undefined ? mostUndiscovered : parallel);
  };

  return {
    learn: (handler, origin) => void origins.set(handler, origin),
    take(all, slots, nowMs) {
      const running = [...slots];
      let first: { readonly lane: Lane; readonly fence: Fence } | undefined;
      for (const { fence, lanes, urged } of all) {
        const wanted = running.filter(
          ({ isUrged, one }) => isUrged && one?.operation?.phase.kind !== 'paused',
        );
        if (wanted.length < parallel) {
          const seq = urged.shift();
          if (seq !== undefined) return { seq, fence, lane: '', isUrged: true };
        }
        for (const lane of lanes.values()) {
          const [seq = Infinity] = lane.seqs;
          if (seq < (first?.lane.seqs[0] ?? Infinity) && isFree(lane.name, running, nowMs))
            first = { lane, fence };
        }
      }
      const seq = first?.lane.seqs.shift();
      return first && seq !== undefined
        ? { seq, fence: first.fence, lane: first.lane.name, isUrged: false }
        : undefined;
    },
  };
}

/** An attempt that is under way. */
export interface Running {
  readonly entry: Row;
  /** What is known of it while it is paused; undefined before it begins. */
  operation: Operation | undefined;
  readonly controller: AbortController;
  /** Whether any request of it has begun. */
  hasAsked: boolean;
  /** Where its last request goes; undefined before there is one. */
  origin: string | undefined;
  /** How many of its requests are under way, or paused before they are sent. */
  open: number;
  /** Since when there is none, as the worker's clock has it. */
  idleSince: number;
  /** A request of it begins, to this origin as far as that is known. @returns what ends it. */
  readonly onRequest: (origin: string | undefined) => () => void;
}

/** An attempt at an entry begins: nothing of it is under way yet. */
export function beginAttempt(entry: Row, clock: Clock, places: Pick<Places, 'learn'>): Running {
  const one: Running = {
    entry,
    operation: undefined,
    controller: new AbortController(),
    hasAsked: false,
    origin: undefined,
    open: 0,
    idleSince: clock.now(),
    onRequest(origin) {
      one.hasAsked = true;
      one.origin = origin ?? one.origin;
      if (origin !== undefined) places.learn(entry.handler, origin);
      one.open += 1;
      return () => {
        one.open -= 1;
        one.idleSince = clock.now();
      };
    },
  };
  return one;
}
