import {
  type DeadReason,
  type NewRow,
  type Row,
  type RowError,
  type SendingRow,
  stateless,
} from './row.ts';
import { noLinks, type RowLinks } from './linked.ts';
import { isInPage, pageFence } from './memory.ts';
import type { Fence, Key, Range, Transaction } from './schema.ts';

export type Change =
  | (Shown & {
      readonly kind: 'again';
      readonly nextRetryAt: number;
      readonly decidedAt: number;
      /** Nothing of it was about to go. */
      readonly isUntouched?: boolean;
      readonly notBefore?: number;
      readonly lane?: string;
    })
  /** Delivered. Nothing is kept where its submitter knows already. */
  | {
      readonly kind: 'done';
      /** As the codec keeps it. */
      readonly result: unknown;
      /** As its handler has resolved with it. */
      readonly data?: unknown;
      readonly isKept: boolean;
      readonly isRead?: boolean;
    }
  | (Shown & {
      readonly kind: 'dead';
      readonly reason: DeadReason;
      /** Those of its scope wait until a user has decided. */
      readonly isBlocking: boolean;
    })
  /** This version of the app does not understand it: it waits for a later one. Nothing was tried. */
  | { readonly kind: 'too-new' };

interface Shown {
  readonly error: RowError | undefined;
  readonly attempts: number;
  /** So many of them, as far as that has changed, have timed out. */
  readonly timeouts?: number;
  /** So many of the last in a row were answered that another is still running. @default 0 */
  readonly conflicts?: number;
  readonly isInDoubt: boolean;
  readonly steps?: unknown;
}

export async function headOf(tx: Transaction, scope: string): Promise<Row | undefined> {
  return (await tx.rows('blocks', [scope], 1))[0];
}

/** All keys that begin with this one, and have a later time. */
export const after = (key: readonly Key[], nowMs: number): Range => [
  [...key, nowMs],
  [...key, []],
  true,
];

/** All texts are between these; dates and numbers come before, bytes and lists after. */
export const texts = ['', '\uffff'] as const;

export async function owns(tx: Transaction, { owner, token }: Fence): Promise<boolean> {
  return (await tx.owner(owner))?.token === token;
}

/** Whether the owner is of this tab; one that is new becomes so. */
export async function isOurs(tx: Transaction, fence: Fence, nowMs: number): Promise<boolean> {
  const record = await tx.owner(fence.owner);
  if (!record) await tx.putOwner({ ...fence, signedAt: nowMs });
  return !record || record.token === fence.token;
}

/** The row that this tab has claimed; undefined once it was claimed again. */
export async function claimedRow(
  tx: Transaction,
  { seq, claims }: Row,
  fence: Fence,
): Promise<SendingRow | undefined> {
  // At once: while one waits for the other, all tabs wait for this transaction.
  const [isOwn, row] = await Promise.all([owns(tx, fence), tx.row(seq)]);
  if (!isOwn || row?.state !== 'sending' || row.owner !== fence.owner) return undefined;
  return row.claims === claims ? row : undefined;
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

/** A row that waits, at its time on a clock that shows another. */
export const shift = (row: Row, byMs: number): Row =>
  row.owner === undefined
    ? row
    : {
        ...row,
        nextRetryAt: (row.nextRetryAt ?? 0) + byMs,
        notBefore: row.notBefore === undefined ? undefined : row.notBefore + byMs,
        lastAttemptAt: row.lastAttemptAt === undefined ? undefined : row.lastAttemptAt + byMs,
      };

/** The same row, unless its wait began in what is now the future: it is not known how much of that is over. */
export function replan<R extends NewRow | Row>(row: R, nowMs: number): R {
  const sinceMs = row.lastAttemptAt ?? row.createdAt;
  if (sinceMs <= nowMs || row.nextRetryAt === undefined) return row;
  const { notBefore } = row;
  return notBefore === undefined
    ? { ...row, nextRetryAt: nowMs }
    : { ...row, ...shift(row as Row, nowMs - sinceMs) };
}

export async function insert(
  tx: Transaction,
  given: NewRow,
  nowMs: number,
  links: RowLinks = noLinks,
): Promise<Row> {
  const row = replan(given, nowMs);
  const held = row.owner === undefined ? row : await links.hold(tx, row);
  if (held) return { ...held, seq: await tx.add(held) };
  const head = row.blocks === undefined ? undefined : await headOf(tx, row.blocks);
  // A row on the disk comes before those of this page; one of this page is claimed to find out about the disk.
  const isBehind = !!head && isInPage(head) === (row.owner === pageFence.owner);
  const placed = {
    ...row,
    nextRetryAt: isBehind ? undefined : (row.nextRetryAt ?? nowMs),
  } as NewRow;
  return { ...placed, seq: await tx.add(placed) };
}

/** The row after a change; undefined when nothing is to be kept. */
export function applyChange(row: SendingRow, change: Change, nowMs: number): Row | undefined {
  const { blocks } = row;
  if (change.kind === 'done') {
    if (!change.isKept) return undefined;
    const ended = { isInDoubt: false, lastError: undefined, steps: undefined };
    const { result, isRead } = change;
    const now = { ...ended, ...stateless, parents: undefined, thing: undefined };
    return { ...row, ...now, state: 'done', doneAt: nowMs, result, isRead };
  }
  if (change.kind === 'too-new') {
    return { ...row, ...stateless, state: 'pending', waitsFor: 'other-version', blocks };
  }
  return applyShown(row, change, nowMs);
}

function applyShown(
  row: SendingRow,
  change: Extract<Change, { readonly kind: 'again' | 'dead' }>,
  nowMs: number,
): Row {
  const { error, attempts, timeouts, conflicts = 0, isInDoubt, steps } = change;
  // Another tab may try it where this one did not, and a dead one may be submitted again: both need the mark.
  const isToKnow = change.kind === 'dead' || change.isUntouched;
  const tried = {
    ...row,
    attempts,
    isInDoubt,
    isUnkeyed: !!isToKnow && row.isUnkeyed,
    timeouts: timeouts ?? row.timeouts,
    conflicts,
    lastError: error ?? row.lastError,
    steps: steps ?? row.steps,
    // Its next wait begins now, whatever the clock has done during the attempt.
    lastAttemptAt: nowMs,
  };
  if (change.kind === 'again') {
    const { lane = row.lane, notBefore, nextRetryAt, decidedAt } = change;
    const again: Row = { ...tried, lane, state: 'pending', nextRetryAt, notBefore };
    // The clock was set back since.
    return decidedAt > nowMs ? { ...shift(again, nowMs - decidedAt), lastAttemptAt: nowMs } : again;
  }
  const { reason: deadReason, isBlocking } = change;
  const blocks = isBlocking ? row.blocks : undefined;
  return { ...tried, ...stateless, state: 'dead', deadReason, blocks };
}

/**
 * A row is to be sent by this owner, in its scope's order: due at once if none is before it. Its place is that of
 * its submission, also when those behind it have gone meanwhile, or it was of another scope. Where an answer that it
 * refers to is missing, it is dead.
 */
export async function place(
  tx: Transaction,
  row: Row,
  owner: string,
  nowMs: number,
  links: RowLinks = noLinks,
): Promise<Row> {
  const blocks = row.scope;
  const waiting: Row = { ...row, ...stateless, state: 'pending', owner, blocks };
  const held = await links.hold(tx, waiting);
  const behind = held ?? waiting;
  await tx.put(behind);
  const head = blocks === undefined ? behind : await headOf(tx, blocks);
  if (held || head?.seq !== row.seq) return behind;
  const due = { ...behind, nextRetryAt: nowMs };
  await tx.put(due);
  return due;
}

/** The next row of a scope is due once nothing is before it. */
export async function unblock(
  tx: Transaction,
  scope: string | undefined,
  nowMs: number,
  links: RowLinks = noLinks,
): Promise<Row | undefined> {
  const head = scope === undefined ? undefined : await headOf(tx, scope);
  if (head?.owner === undefined) return undefined;
  // One that was being sent when its tab died may have waited for the end of a younger one.
  if (head.nextRetryAt !== undefined) return head;
  if (await links.hold(tx, head)) return undefined;
  const due = { ...head, nextRetryAt: nowMs };
  await tx.put(due);
  return due;
}
