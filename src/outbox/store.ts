import type { Backend, Transaction } from './backend.ts';
import type { DeadReason, Fence, NewRow, OwnerRecord, Row, RowError, RowState } from './row.ts';

/** What an attempt has come to. */
export type Change =
  /** Once more, at that time. */
  | (Tried & { readonly kind: 'again'; readonly nextRetryAt: number })
  /** Delivered. Nothing is kept where whoever submitted it knows already. */
  | { readonly kind: 'done'; readonly result: unknown; readonly isKept: boolean }
  | (Tried & {
      readonly kind: 'dead';
      readonly reason: DeadReason;
      /** Those of its scope wait until a person has decided. */
      readonly isBlocking: boolean;
    });

/** What is known after an attempt that was not good. */
export interface Tried {
  readonly error: RowError | undefined;
  /** Those that were really made. */
  readonly attempts: number;
  readonly isInDoubt: boolean;
  readonly isUnkeyed?: boolean | undefined;
}

/** What has become of the rows. */
export interface Settled {
  /** The row as it is now; undefined when nothing is kept of it. */
  readonly row: Row | undefined;
  /** The next one of its scope, whose turn has come. */
  readonly next: Row | undefined;
}

/** How many rows there are of each kind. */
export interface Counts {
  /** To be sent now. */
  readonly due: number;
  /** To be sent later, or after the older ones of their scope. */
  readonly waiting: number;
  readonly sending: number;
  readonly dead: number;
  /** When the oldest of them was submitted, in epoch milliseconds. */
  readonly oldestAt: number | undefined;
}

/** So many rows are read or removed at once: more would hold up the page, and the other tabs. */
export const pageSize = 100;

/** What can be done with the rows: each is one transaction. */
export interface OutboxStore {
  readonly isDurable: boolean;
  /**
   * Keeps a row, and resolves once it is kept. One that has its id already stays, and comes back.
   *
   * @returns undefined when the owner is no longer of this tab.
   */
  readonly add: (row: NewRow, fence: Fence, leaseUntil?: number) => Promise<Row | undefined>;
  /**
   * Takes a row that is due, to send it now.
   *
   * @returns `lost` when the owner is no longer of this tab, undefined when it is not the row's turn.
   */
  readonly claim: (seq: number, fence: Fence, nowMs: number) => Promise<Row | 'lost' | undefined>;
  /** Notes which request of a row carries its key. */
  readonly note: (seq: number, fence: Fence, primary: string) => Promise<boolean>;
  /**
   * Enters what has become of a row that was claimed.
   *
   * @returns undefined when the owner is no longer of this tab, or a person has discarded it.
   */
  readonly settle: (
    seq: number,
    fence: Fence,
    change: Change,
    nowMs: number,
  ) => Promise<Settled | undefined>;
  /** The places of the rows of an owner that are due: so many at most, the first due first. */
  readonly due: (owner: string, nowMs: number, limit: number) => Promise<readonly number[]>;
  readonly nextDueAt: (owner: string, nowMs: number) => Promise<number | undefined>;
  readonly owners: () => Promise<readonly OwnerRecord[]>;
  /**
   * Takes the rows of an owner that is dead. `from` is the token that it has, where that could change
   * meanwhile.
   *
   * @returns false when it has none, or another was first.
   */
  readonly adopt: (
    fence: Fence,
    lease: { readonly leaseUntil: number | undefined; readonly from: string | undefined },
  ) => Promise<boolean>;
  /** Prolongs a lease. @returns false when another has taken over. */
  readonly renew: (fence: Fence, leaseUntil: number) => Promise<boolean>;
  /** Forgets an owner that has nothing to send. @returns whether it is forgotten. */
  readonly abandon: (fence: Fence) => Promise<boolean>;
  readonly find: (id: string) => Promise<Row | undefined>;
  readonly list: (
    state: RowState | undefined,
    after: number,
    limit: number,
  ) => Promise<readonly Row[]>;
  readonly count: (nowMs: number) => Promise<Counts>;
  /**
   * A person says that a row is to be sent now: one that waits, or a dead one, which this tab then
   * owns.
   *
   * @returns the row as it is now; undefined when it is neither.
   */
  readonly revive: (
    id: string,
    fence: Fence,
    nowMs: number,
    change?: (row: Row) => Row,
  ) => Promise<Row | undefined>;
  /** Those that are dead with this reason, in the order of their places, after one of them. */
  readonly dead: (reason: DeadReason, after: number, limit: number) => Promise<readonly Row[]>;
  /** Forgets a row, whatever it is at. @returns what it was; undefined when there is none. */
  readonly discard: (id: string, nowMs: number) => Promise<(Settled & { row: Row }) | undefined>;
  /** Who submitted it knows its result. */
  readonly acknowledge: (id: string) => Promise<unknown>;
  /** Forgets results that nobody has asked for. */
  readonly sweep: (beforeMs: number) => Promise<unknown>;
  readonly clear: () => Promise<unknown>;
  readonly close: () => void;
}

export function createStore(backend: Backend): OutboxStore {
  const { isDurable, read, write, close } = backend;
  return {
    isDurable,
    close,
    add: (row, fence, leaseUntil) =>
      write('strict', async (tx) => {
        const [known, record] = await Promise.all([tx.rowById(row.id), tx.owner(fence.owner)]);
        if (known) return known;
        if (record && record.token !== fence.token) return undefined;
        if (!record) await tx.putOwner({ ...fence, ...(leaseUntil && { leaseUntil }) });
        return insert(tx, row);
      }),
    claim: (seq, fence, nowMs) =>
      write('relaxed', async (tx) => {
        const [isOwn, row] = await Promise.all([owns(tx, fence), tx.row(seq)]);
        if (!isOwn) return 'lost';
        if (row?.liveOwner !== fence.owner) return undefined;
        if ((row.nextRetryAt ?? Infinity) > nowMs) return undefined;
        if (row.blocks !== undefined && (await tx.headOf(row.blocks))?.seq !== seq) {
          // An older one is before it again. It is not asked for until its turn has come.
          const { nextRetryAt: _, ...behind } = row;
          await tx.put(behind);
          return undefined;
        }
        const isInDoubt = row.isInDoubt || row.state === 'sending';
        const { attempts } = row;
        const claimed: Row = {
          ...row,
          state: 'sending',
          attempts: attempts + 1,
          lastAttemptAt: nowMs,
          isInDoubt,
        };
        await tx.put(claimed);
        return claimed;
      }),
    note: (seq, fence, primary) =>
      write('relaxed', async (tx) => {
        const row = await ownRow(tx, seq, fence);
        if (row) await tx.put({ ...row, primary });
        return !!row;
      }),
    settle: (seq, fence, change, nowMs) =>
      write('strict', async (tx) => {
        const row = await ownRow(tx, seq, fence);
        if (row?.state !== 'sending') return undefined;
        const after = applyChange(row, change, nowMs);
        const isFree = after?.blocks === undefined;
        const [, next] = await Promise.all([
          after ? tx.put(after) : tx.remove(seq),
          isFree ? unblock(tx, row.blocks, nowMs) : undefined,
        ]);
        return { row: after, next };
      }),
    due: (owner, nowMs, limit) => read((tx) => tx.due(owner, nowMs, limit)),
    nextDueAt: (owner, nowMs) => read((tx) => tx.nextDueAt(owner, nowMs)),
    owners: () => read((tx) => tx.owners()),
    adopt: (fence, { leaseUntil, from }) =>
      write('relaxed', async (tx) => {
        const record = await tx.owner(fence.owner);
        if (!record || (from !== undefined && record.token !== from)) return false;
        await tx.putOwner({ ...fence, ...(leaseUntil && { leaseUntil }) });
        return true;
      }),
    renew: (fence, leaseUntil) =>
      write('relaxed', async (tx) => {
        const isOwn = await owns(tx, fence);
        if (isOwn) await tx.putOwner({ ...fence, leaseUntil });
        return isOwn;
      }),
    abandon: (fence) =>
      write('relaxed', async (tx) => {
        if (!(await owns(tx, fence))) return true;
        if (await tx.hasLive(fence.owner)) return false;
        await tx.removeOwner(fence.owner);
        return true;
      }),
    find: (id) => read((tx) => tx.rowById(id)),
    list: (state, after, limit) => read((tx) => tx.list(state, after, limit)),
    count: (nowMs) => read((tx) => countAll(tx, nowMs)),
    revive: (id, fence, nowMs, change) =>
      write('strict', async (tx) => {
        const found = await tx.rowById(id);
        const row = found && change ? change(found) : found;
        if (row?.state === 'pending') {
          const { nextRetryAt } = row;
          const soon =
            nextRetryAt === undefined ? row : { ...row, nextRetryAt: Math.min(nextRetryAt, nowMs) };
          await tx.put(soon);
          return soon;
        }
        if (row?.state !== 'dead') return undefined;
        const record = await tx.owner(fence.owner);
        if (record && record.token !== fence.token) return undefined;
        if (!record) await tx.putOwner(fence);
        return resurrect(tx, row, fence.owner, nowMs);
      }),
    dead: (reason, after, limit) => read((tx) => tx.dead(reason, after, limit)),
    discard: (id, nowMs) =>
      write('strict', async (tx) => {
        const row = await tx.rowById(id);
        if (!row) return undefined;
        await tx.remove(row.seq);
        return { row, next: await unblock(tx, row.blocks, nowMs) };
      }),
    acknowledge: (id) =>
      write('relaxed', async (tx) => {
        const row = await tx.rowById(id);
        if (row?.state === 'done') await tx.remove(row.seq);
      }),
    async sweep(beforeMs) {
      const sweepPage = async (tx: Transaction): Promise<number> => {
        const done = await tx.doneBefore(beforeMs, pageSize);
        for (const seq of done) await tx.remove(seq);
        return done.length;
      };
      while ((await write('relaxed', sweepPage)) === pageSize);
    },
    clear: () => write('strict', (tx) => tx.clear()),
  };
}

async function owns(tx: Transaction, { owner, token }: Fence): Promise<boolean> {
  return (await tx.owner(owner))?.token === token;
}

async function ownRow(tx: Transaction, seq: number, fence: Fence): Promise<Row | undefined> {
  // At once: while one waits for the other, all tabs wait for this transaction.
  const [isOwn, row] = await Promise.all([owns(tx, fence), tx.row(seq)]);
  return isOwn && row?.liveOwner === fence.owner ? row : undefined;
}

async function insert(tx: Transaction, row: NewRow): Promise<Row> {
  const { nextRetryAt: _, ...behind } = row;
  const isBehind = row.blocks !== undefined && !!(await tx.headOf(row.blocks));
  const placed = isBehind ? behind : row;
  return { ...placed, seq: await tx.add(placed) };
}

/** What is left of a row; nothing when nothing is to be kept. */
function applyChange(row: Row, change: Change, nowMs: number): Row | undefined {
  if (change.kind === 'done') {
    if (!change.isKept) return undefined;
    const { liveOwner: _, blocks: __, nextRetryAt: ___, lastError: ____, ...rest } = row;
    return { ...rest, state: 'done', doneAt: nowMs, result: change.result, isInDoubt: false };
  }
  const { error, attempts, isInDoubt, isUnkeyed } = change;
  const tried: Row = {
    ...row,
    attempts,
    isInDoubt,
    ...(error && { lastError: error }),
    ...(isUnkeyed && { isUnkeyed }),
  };
  if (change.kind === 'again')
    return { ...tried, state: 'pending', nextRetryAt: change.nextRetryAt };
  const { liveOwner: _, blocks, nextRetryAt: __, ...rest } = tried;
  const { isBlocking, reason } = change;
  const held = isBlocking && blocks !== undefined ? { blocks } : {};
  return { ...rest, ...held, state: 'dead', deadReason: reason };
}

/** Its turn comes in the order of its place, also when those behind it have gone meanwhile. */
async function resurrect(tx: Transaction, row: Row, owner: string, nowMs: number): Promise<Row> {
  const { deadReason: _, ...rest } = row;
  const { scope } = row;
  const live: Row = {
    ...rest,
    state: 'pending',
    owner,
    liveOwner: owner,
    ...(scope !== undefined && { blocks: scope }),
  };
  await tx.put(live);
  const head = scope === undefined ? live : await tx.headOf(scope);
  if (head?.seq !== row.seq) return live;
  const due: Row = { ...live, nextRetryAt: nowMs };
  await tx.put(due);
  return due;
}

/** The next row of a scope is due once nothing is before it. */
async function unblock(
  tx: Transaction,
  scope: string | undefined,
  nowMs: number,
): Promise<Row | undefined> {
  const head = scope === undefined ? undefined : await tx.headOf(scope);
  if (head?.state !== 'pending') return undefined;
  if (head.nextRetryAt !== undefined) return head;
  const due: Row = { ...head, nextRetryAt: nowMs };
  await tx.put(due);
  return due;
}

async function countAll(tx: Transaction, nowMs: number): Promise<Counts> {
  const owners = await tx.owners();
  const dues = await Promise.all(owners.map(({ owner }) => tx.countDue(owner, nowMs)));
  const [pending, sending, dead] = await Promise.all([
    tx.count('pending'),
    tx.count('sending'),
    tx.count('dead'),
  ]);
  const oldest = await Promise.all(
    (['pending', 'sending', 'dead'] as const).map((state) => tx.list(state, 0, 1)),
  );
  const times = oldest.flat().map(({ createdAt }) => createdAt);
  // What is being sent is due, too.
  const due = Math.max(0, dues.reduce((sum, count) => sum + count, 0) - sending);
  return {
    due,
    waiting: pending - due,
    sending,
    dead,
    oldestAt: times.length > 0 ? Math.min(...times) : undefined,
  };
}
