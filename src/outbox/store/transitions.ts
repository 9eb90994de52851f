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
      /** None of its requests was about to be sent. */
      readonly isUntouched?: boolean;
      readonly notBefore?: number;
      readonly lane?: string;
    })
  /** Delivered. Nothing is stored if its submitter has the result already. */
  | {
      readonly kind: 'done';
      /** As the codec stores it. */
      readonly result: unknown;
      /** The value that its handler returned. */
      readonly data?: unknown;
      readonly isKept: boolean;
      readonly isRead?: boolean;
    }
  | (Shown & {
      readonly kind: 'dead';
      readonly reason: DeadReason;
      /** The others of its scope wait for the user's decision. */
      readonly isBlocking: boolean;
    })
  /** This version of the app does not know it, so it waits for a later one. Nothing was tried. */
  | { readonly kind: 'too-new' };

interface Shown {
  readonly error: RowError | undefined;
  readonly attempts: number;
  /** How many attempts have timed out; undefined if that has not changed. */
  readonly timeouts?: number;
  /** How many attempts in a row were told that another one is still running. @default 0 */
  readonly conflicts?: number;
  readonly isInDoubt: boolean;
  readonly steps?: unknown;
}

export async function headOf(tx: Transaction, scope: string): Promise<Row | undefined> {
  return (await tx.rows('blocks', [scope], 1))[0];
}

/** The range of keys that begin with this one, and have a later time. */
export const after = (key: readonly Key[], nowMs: number): Range => [
  [...key, nowMs],
  [...key, []],
  true,
];

/** The range of all texts. Numbers and dates come before it, bytes and lists after it. */
export const texts = ['', '\uffff'] as const;

export async function owns(tx: Transaction, { owner, token }: Fence): Promise<boolean> {
  return (await tx.owner(owner))?.token === token;
}

/** Whether the owner belongs to this tab. A new owner becomes its own. */
export async function isOurs(tx: Transaction, fence: Fence, nowMs: number): Promise<boolean> {
  const record = await tx.owner(fence.owner);
  if (!record) await tx.putOwner({ ...fence, signedAt: nowMs });
  return !record || record.token === fence.token;
}

/** The row that this tab has claimed; undefined if it was claimed again. */
export async function claimedRow(
  tx: Transaction,
  { seq, claims }: Row,
  fence: Fence,
): Promise<SendingRow | undefined> {
  // Both at once, because all tabs wait for this transaction.
  const [isOwn, row] = await Promise.all([owns(tx, fence), tx.row(seq)]);
  if (!isOwn || row?.state !== 'sending' || row.owner !== fence.owner) return undefined;
  return row.claims === claims ? row : undefined;
}

/**
 * Whether another row of its scope is being sent, or was when its tab died, although this row is the head of the scope.
 * That row has passed this one, so it is younger, and older rows need not be read.
 */
export async function isScopeBusy(tx: Transaction, { seq, blocks }: Row): Promise<boolean> {
  if (blocks === undefined) return false;
  const younger = await tx.page('state', 'sending', seq, Infinity);
  return younger.some((other) => other.blocks === blocks);
}

/** The same row, with its times moved by a change of the clock. */
export const shift = (row: Row, byMs: number): Row =>
  row.owner === undefined
    ? row
    : {
        ...row,
        nextRetryAt: (row.nextRetryAt ?? 0) + byMs,
        notBefore: row.notBefore === undefined ? undefined : row.notBefore + byMs,
        lastAttemptAt: row.lastAttemptAt === undefined ? undefined : row.lastAttemptAt + byMs,
      };

/** The same row, or with its wait begun anew if that seems to have begun in the future: how much of it is over is not known. */
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
  // A row on the disk comes before those of this page. One of this page is claimed to find out about the disk.
  const isBehind = !!head && isInPage(head) === (row.owner === pageFence.owner);
  const placed = {
    ...row,
    nextRetryAt: isBehind ? undefined : (row.nextRetryAt ?? nowMs),
  } as NewRow;
  return { ...placed, seq: await tx.add(placed) };
}

/** The row after a change; undefined if it is not kept. */
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
  // Another tab may try it if this one did not, and a dead entry may be submitted again. Both need to know.
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
    // The next wait begins now, whatever the clock did during the attempt.
    lastAttemptAt: nowMs,
  };
  if (change.kind === 'again') {
    const { lane = row.lane, notBefore, nextRetryAt, decidedAt } = change;
    const again: Row = { ...tried, lane, state: 'pending', nextRetryAt, notBefore };
    // The clock was set back meanwhile.
    return decidedAt > nowMs ? { ...shift(again, nowMs - decidedAt), lastAttemptAt: nowMs } : again;
  }
  const { reason: deadReason, isBlocking } = change;
  const blocks = isBlocking ? row.blocks : undefined;
  return { ...tried, ...stateless, state: 'dead', deadReason, blocks };
}

/**
 * Places a row, to be sent by this owner in the order of its scope: it is due at once if no other is before it. Its place
 * is that of its submission, even if later rows were sent meanwhile, or it had another scope. If an answer that it refers
 * to is missing, it is dead.
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

/** Makes the next row of a scope due, if no other is before it. */
export async function unblock(
  tx: Transaction,
  scope: string | undefined,
  nowMs: number,
  links: RowLinks = noLinks,
): Promise<Row | undefined> {
  const head = scope === undefined ? undefined : await headOf(tx, scope);
  if (head?.owner === undefined) return undefined;
  // A row that was being sent when its tab died may have waited for a younger one.
  if (head.nextRetryAt !== undefined) return head;
  if (await links.hold(tx, head)) return undefined;
  const due = { ...head, nextRetryAt: nowMs };
  await tx.put(due);
  return due;
}
