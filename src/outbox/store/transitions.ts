import type { PausedEntries } from '../messages.ts';
import type { Change, Counts, RowStore } from './row-store.ts';
import {
  type Fence,
  type Key,
  type NewRow,
  type Range,
  type Row,
  type Transaction,
  without,
} from './schema.ts';

export async function rowById(tx: Transaction, id: string): Promise<Row | undefined> {
  return (await tx.rows('id', [id], 1))[0];
}

/** The oldest row that holds up a scope. */
export async function headOf(tx: Transaction, scope: string): Promise<Row | undefined> {
  return (await tx.rows('blocks', [scope], 1))[0];
}

/** What begins with this key, and has a later time. */
export const after = (key: readonly Key[], nowMs: number): Range => [
  [...key, nowMs],
  [...key, []],
  true,
];

/** All texts are between these; dates and numbers come before, bytes and lists after. */
export const texts = ['', '\uffff'] as const;

/** What of an owner is due in each lane. Where a lane is no text, or a time no number: see `adoptStrays`. */
export async function dueInLanes(
  tx: Transaction,
  owner: string,
  nowMs: number,
  limit: number,
): Promise<Awaited<ReturnType<RowStore['due']>>> {
  const lanes: Awaited<ReturnType<RowStore['due']>>[number][] = [];
  for (let from = ''; ;) {
    const key = await tx.firstKey('lanes', [
      [owner, from],
      [owner, texts[1]],
    ]);
    if (!key) return lanes;
    const [, lane] = key as [string, string];
    const [due, next] = await Promise.all([
      tx.places(
        'lanes',
        [
          [owner, lane],
          [owner, lane, nowMs],
        ],
        limit,
      ),
      tx.firstKey('lanes', after([owner, lane], nowMs)),
    ]);
    const nextAt = (next as [string, string, number] | undefined)?.[2];
    lanes.push({ lane, due, nextAt: Number.isFinite(nextAt) ? nextAt : undefined });
    // The next text there is: beyond all of its times, whatever they are.
    from = `${lane}\0`;
  }
}

export async function countAll(
  tx: Transaction,
  nowMs: number,
  pauses: PausedEntries,
): Promise<Counts> {
  const owners = await tx.owners();
  const dues = await Promise.all(
    owners.map(({ owner }) => tx.count('due', [[owner], [owner, nowMs]])),
  );
  const states = ['pending', 'sending', 'dead'] as const;
  const counts = await Promise.all(states.map((state) => tx.count('state', [state])));
  const [pending = 0, claimed = 0, dead = 0] = counts;
  const known = await Promise.all([...pauses.ids()].map((id) => rowById(tx, id)));
  const paused = known.filter((row) => row && pauses.of(row)).length;
  const oldest = await Promise.all(states.map((state) => tx.rows('state', [state], 1)));
  const times = oldest.flat().map(({ createdAt }) => createdAt);
  // What is being sent, or paused, is due, too.
  const due = Math.max(0, dues.reduce((sum, count) => sum + count, 0) - claimed);
  return {
    due,
    waiting: pending - due,
    sending: claimed - paused,
    paused,
    dead,
    oldestAt: times.length > 0 ? Math.min(...times) : undefined,
  };
}

export async function owns(tx: Transaction, { owner, token }: Fence): Promise<boolean> {
  return (await tx.owner(owner))?.token === token;
}

/** A row as this tab has claimed it: nobody has claimed it since. */
export async function claimedRow(
  tx: Transaction,
  { seq, attempts }: Row,
  fence: Fence,
): Promise<Row | undefined> {
  // At once: while one waits for the other, all tabs wait for this transaction.
  const [isOwn, row] = await Promise.all([owns(tx, fence), tx.row(seq)]);
  const isClaimed = row?.state === 'sending' && row.attempts === attempts;
  return isOwn && isClaimed && row.liveOwner === fence.owner ? row : undefined;
}

/** Whether the owner is of this tab; one that is new becomes so. */
export async function isOurs(tx: Transaction, fence: Fence, nowMs: number): Promise<boolean> {
  const record = await tx.owner(fence.owner);
  if (!record) await tx.putOwner({ ...fence, signedAt: nowMs });
  return !record || record.token === fence.token;
}

/**
 * Whether another row of the scope that this one is the head of is being sent, or was when its tab
 * died. It has passed this one, so it is younger: what is older is not read.
 */
export async function isScopeBusy(tx: Transaction, { seq, blocks }: Row): Promise<boolean> {
  if (blocks === undefined) return false;
  const younger = await tx.page('state', 'sending', seq, Infinity);
  return younger.some((other) => other.blocks === blocks);
}

/** To be sent at that time. */
export const plan = (row: Row, nextRetryAt: number, nowMs: number): Row => ({
  ...row,
  nextRetryAt,
  plannedAt: nowMs,
});

/** To be sent after others, at no time yet. */
export const unplan = <T extends NewRow>(row: T): T => without(row, 'nextRetryAt', 'plannedAt');

/** The same on a clock that shows another time. */
export const shift = (row: Row, byMs: number): Row => ({
  ...row,
  nextRetryAt: (row.nextRetryAt ?? 0) + byMs,
  plannedAt: (row.plannedAt ?? 0) + byMs,
  ...(row.notBefore !== undefined && { notBefore: row.notBefore + byMs }),
});

/** Nobody knows how much is over of what was planned in what is now the future. */
export async function endWaits(tx: Transaction, owner: string, nowMs: number): Promise<void> {
  for (const row of await tx.rows('planned', after([owner], nowMs))) {
    const anew = shift(row, nowMs - (row.plannedAt ?? 0));
    await tx.put(row.notBefore === undefined ? plan(row, nowMs, nowMs) : anew);
  }
}

export async function insert(tx: Transaction, row: NewRow, nowMs: number): Promise<Row> {
  const isBehind = row.blocks !== undefined && !!(await headOf(tx, row.blocks));
  const isDue = row.liveOwner !== undefined && row.nextRetryAt === undefined;
  const now = isDue && { nextRetryAt: nowMs, plannedAt: nowMs };
  const placed = isBehind && row.liveOwner !== undefined ? unplan(row) : { ...row, ...now };
  return { ...placed, seq: await tx.add(placed) };
}

/** What is left of a row; nothing when nothing is to be kept. */
export function applyChange(row: Row, change: Change, nowMs: number): Row | undefined {
  if (change.kind === 'done') {
    if (!change.isKept) return undefined;
    const rest = without(row, 'liveOwner', 'blocks', 'nextRetryAt', 'lastError', 'steps');
    return { ...rest, state: 'done', doneAt: nowMs, result: change.result, isInDoubt: false };
  }
  if (change.kind === 'too-new') {
    const rest = without(unplan(row), 'liveOwner');
    return { ...rest, state: 'pending', attempts: row.attempts - 1, waitsFor: 'other-version' };
  }
  const { error, attempts, unsent, timeouts, isInDoubt, steps = row.steps } = change;
  // Where nothing was tried, another tab may, and is to know; and so is whoever submits a dead one again.
  const isToKnow = attempts < row.attempts || change.kind === 'dead';
  const tried: Row = {
    ...without(row, 'notBefore', ...(isToKnow && row.isUnkeyed ? [] : (['isUnkeyed'] as const))),
    attempts,
    isInDoubt,
    ...(unsent && { unsent }),
    ...(timeouts && { timeouts }),
    ...(error && { lastError: error }),
    ...(steps !== undefined && { steps }),
  };
  if (change.kind === 'again') {
    const { lane = row.lane, notBefore, nextRetryAt, plannedAt } = change;
    const next = { ...tried, lane, state: 'pending', ...(notBefore && { notBefore }) } as const;
    return plan(next, nextRetryAt, plannedAt);
  }
  const rest = without(tried, 'liveOwner', 'nextRetryAt');
  const over: Row = { ...rest, state: 'dead', deadReason: change.reason };
  return change.isBlocking ? over : without(over, 'blocks');
}

/**
 * A row is to be sent, in its scope's order: due at once if none is before it. Its place is that of its
 * submission, also when those behind it have gone meanwhile, or it was of another scope.
 */
export async function place(tx: Transaction, row: Row, nowMs: number): Promise<Row> {
  const { scope } = row;
  const free = without(unplan(row), 'blocks');
  const behind: Row = scope === undefined ? free : { ...free, blocks: scope };
  await tx.put(behind);
  const head = scope === undefined ? behind : await headOf(tx, scope);
  if (head?.seq !== row.seq) return behind;
  const due = plan(behind, nowMs, nowMs);
  await tx.put(due);
  return due;
}

/** The next row of a scope is due once nothing is before it. */
export async function unblock(
  tx: Transaction,
  scope: string | undefined,
  nowMs: number,
): Promise<Row | undefined> {
  const head = scope === undefined ? undefined : await headOf(tx, scope);
  if (head?.state !== 'pending' || head.waitsFor) return undefined;
  if (head.nextRetryAt !== undefined) return head;
  const due = plan(head, nowMs, nowMs);
  await tx.put(due);
  return due;
}
