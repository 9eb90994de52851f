import type { Clock } from '../policy/clock.ts';
import type { Fence, Row } from './row.ts';
import { type OutboxStore, pageSize } from './store.ts';

/** What must be known of a row to send it when it is due. */
export type DueRow = Pick<Row, 'seq' | 'liveOwner' | 'nextRetryAt'>;

/** What is due of the owners whose rows this tab sends, the oldest first, a page of each at a time. */
export interface DueQueue {
  /** The rows of this owner are to be sent. @returns whether that is new. */
  readonly drive: (fence: Fence) => boolean;
  readonly drop: (owner: string) => void;
  readonly clear: () => void;
  /** What the rows of an owner are written with; undefined when they are not sent from here. */
  readonly fenceOf: (owner: string) => Fence | undefined;
  /** A row of an owner is due, or will be. */
  readonly note: (row: DueRow, isUrged?: boolean) => void;
  /** What is known of this owner, or of all, is to be read again. */
  readonly expire: (owner?: string) => void;
  /** Reads what is to be read again. */
  readonly refresh: (nowMs: number) => Promise<void>;
  /** Takes the oldest. */
  readonly take: () => Promise<{ readonly seq: number; readonly fence: Fence } | undefined>;
  readonly isEmpty: () => boolean;
  /** When something is due next: Infinity for never, and -Infinity where that is to be read. */
  readonly nextAt: () => number;
}

interface Driven {
  readonly fence: Fence;
  /** The places of what is due, or of a page of it, the oldest first. */
  queue: number[];
  /** There is more that is due than is in the queue: it is read when that is through. */
  hasMore: boolean;
  isStale: boolean;
  nextAt: number;
}

/** `running` is what is being sent from here, by its place: it is among the due, and not sent twice. */
export function createDueQueue(
  clock: Clock,
  store: OutboxStore,
  running: ReadonlyMap<number, unknown>,
): DueQueue {
  const driven = new Map<string, Driven>();

  const load = async (one: Driven): Promise<void> => {
    const nowMs = clock.now();
    one.isStale = false;
    const limit = pageSize + running.size;
    const due = await store.due(one.fence.owner, nowMs, limit);
    one.hasMore = due.length === limit;
    one.nextAt = (await store.nextDueAt(one.fence, nowMs)) ?? Infinity;
    const known = new Set(one.queue);
    for (const seq of due) if (!running.has(seq)) known.add(seq);
    one.queue = [...known].toSorted((a, b) => a - b);
  };

  return {
    drive(fence) {
      if (driven.get(fence.owner)?.fence.token === fence.token) return false;
      const fresh = { queue: [], isStale: true, hasMore: false, nextAt: Infinity };
      driven.set(fence.owner, { fence, ...fresh });
      return true;
    },
    drop: (owner) => void driven.delete(owner),
    clear: () => driven.clear(),
    fenceOf: (owner) => driven.get(owner)?.fence,
    note({ seq, liveOwner = '', nextRetryAt = Infinity }, isUrged = false) {
      const one = driven.get(liveOwner);
      if (!one) return;
      // Its turn comes when those before it are read.
      const isBeyond = one.hasMore && !isUrged && seq > (one.queue.at(-1) ?? 0);
      if (nextRetryAt > clock.now()) one.nextAt = Math.min(one.nextAt, nextRetryAt);
      else if (!isBeyond) insertSorted(one.queue, seq);
    },
    expire(owner) {
      for (const one of driven.values())
        if ((owner ?? one.fence.owner) === one.fence.owner) one.isStale = true;
    },
    async refresh(nowMs) {
      for (const one of driven.values())
        if (one.isStale || (!one.hasMore && one.nextAt <= nowMs)) await load(one);
    },
    async take() {
      for (const one of driven.values()) if (one.hasMore && one.queue.length === 0) await load(one);
      let oldest: Driven | undefined;
      for (const one of driven.values()) {
        const [seq = Infinity] = one.queue;
        if (seq < (oldest?.queue[0] ?? Infinity)) oldest = one;
      }
      const seq = oldest?.queue.shift();
      return oldest && seq !== undefined ? { seq, fence: oldest.fence } : undefined;
    },
    isEmpty: () =>
      [...driven.values()].every(
        ({ queue, hasMore, isStale }) => queue.length === 0 && !hasMore && !isStale,
      ),
    nextAt: () =>
      Math.min(
        Infinity,
        // Where a page of them is under way, the end of each looks what comes next.
        ...[...driven.values()].map(({ nextAt, isStale, hasMore }) =>
          isStale ? -Infinity : hasMore ? Infinity : nextAt,
        ),
      ),
  };
}

/** Nearly always at the end. */
function insertSorted(queue: number[], seq: number): void {
  let at = queue.length;
  while (at > 0 && (queue[at - 1] ?? 0) > seq) at -= 1;
  if (queue[at - 1] !== seq) queue.splice(at, 0, seq);
}
