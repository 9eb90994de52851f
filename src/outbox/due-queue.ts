import type { Fence, Row } from './row.ts';
import { type OutboxStore, pageSize } from './store.ts';

/** What must be known of a row to send it when it is due. */
export type DueRow = Pick<Row, 'seq' | 'liveOwner' | 'nextRetryAt'>;

/** What is due of an owner whose rows this tab sends, the oldest first, a page of it at a time. */
export interface DueQueue {
  readonly fence: Fence;
  /** The places of what is due, or of a page of it, the oldest first. */
  queue: number[];
  /** There is more that is due than is in the queue: it is read when that is through. */
  hasMore: boolean;
  /** It is to be read again. */
  isStale: boolean;
  nextAt: number;
}

/** Of which nothing was read yet. */
export const dueOf = (fence: Fence): DueQueue => ({
  fence,
  queue: [],
  hasMore: false,
  isStale: true,
  nextAt: Infinity,
});

/** Reads what is due; `running` is what is being sent from here, which is among it. */
export async function readDue(
  one: DueQueue,
  store: OutboxStore,
  running: ReadonlyMap<number, unknown>,
  nowMs: number,
): Promise<void> {
  one.isStale = false;
  const limit = pageSize + running.size;
  const due = await store.due(one.fence.owner, nowMs, limit);
  one.hasMore = due.length === limit;
  one.nextAt = (await store.nextDueAt(one.fence, nowMs)) ?? Infinity;
  const known = new Set([...one.queue, ...due.filter((seq) => !running.has(seq))]);
  one.queue = [...known].toSorted((a, b) => a - b);
}

/** A row of this owner is due, or will be. */
export function noteDue(
  one: DueQueue | undefined,
  { seq, nextRetryAt = Infinity }: DueRow,
  nowMs: number,
  isUrged: boolean | undefined,
): void {
  if (!one) return;
  // Its turn comes when those before it are read.
  const isBeyond = one.hasMore && !isUrged && seq > (one.queue.at(-1) ?? 0);
  if (nextRetryAt > nowMs) one.nextAt = Math.min(one.nextAt, nextRetryAt);
  else if (!isBeyond) insertSorted(one.queue, seq);
}

/** Nearly always at the end. */
function insertSorted(queue: number[], seq: number): void {
  let at = queue.length;
  while (at > 0 && (queue[at - 1] ?? 0) > seq) at -= 1;
  if (queue[at - 1] !== seq) queue.splice(at, 0, seq);
}

/** Takes the oldest of all. */
export function takeOldest(
  all: Iterable<DueQueue>,
): { readonly seq: number; readonly fence: Fence } | undefined {
  let oldest: DueQueue | undefined;
  for (const one of all) {
    const [seq = Infinity] = one.queue;
    if (seq < (oldest?.queue[0] ?? Infinity)) oldest = one;
  }
  const seq = oldest?.queue.shift();
  return oldest && seq !== undefined ? { seq, fence: oldest.fence } : undefined;
}

/** Nothing is due, as far as is known, and all is known. */
export const isThrough = (all: Iterable<DueQueue>): boolean =>
  [...all].every(({ queue, hasMore, isStale }) => queue.length === 0 && !hasMore && !isStale);

/**
 * When something is to be looked at next: Infinity for never. Where a page is under way, the end of each
 * looks what comes next.
 */
export const nextLookAt = (all: Iterable<DueQueue>): number =>
  Math.min(
    Infinity,
    ...[...all].map(({ nextAt, isStale, hasMore }) =>
      isStale ? -Infinity : hasMore ? Infinity : nextAt,
    ),
  );
