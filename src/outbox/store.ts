import type { Backend, Transaction } from './backend.ts';
import type { DeadReason, Fence, NewRow, OwnerRecord, Row, RowError, RowState } from './row.ts';

/** What an attempt has come to. */
export type Change =
  /** Once more, at that time. */
  | (Tried & { readonly kind: 'again' } & Required<Pick<Row, 'nextRetryAt' | 'plannedAt'>>)
  /** Delivered. Nothing is kept where whoever submitted it knows already. */
  | { readonly kind: 'done'; readonly result: unknown; readonly isKept: boolean }
  | (Tried & {
      readonly kind: 'dead';
      readonly reason: DeadReason;
      /** Those of its scope wait until a person has decided. */
      readonly isBlocking: boolean;
    });

/** What is known after an attempt that was not good. */
interface Tried {
  readonly error: RowError | undefined;
  /** Those that were really made. */
  readonly attempts: number;
  readonly isInDoubt: boolean;
  readonly steps?: unknown;
}

/** A row that is sent now, or which other one of its scope comes first. */
interface Claim {
  readonly row: Row | undefined;
  /** Its turn has come instead. */
  readonly next: Row | undefined;
}

/** What must be known of a row before a request of it goes. */
type SentNote = Pick<Row, 'primary' | 'steps' | 'isUnkeyed'>;

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
   * @returns `lost` when the owner is no longer of this tab; no row when it is not its turn.
   */
  readonly claim: (seq: number, fence: Fence, nowMs: number) => Promise<Claim | 'lost'>;
  /**
   * Notes of a row that was claimed what a request of it is, before that goes.
   *
   * @returns false when it may not go: the row is no longer of this tab.
   */
  readonly note: (claimed: Row, fence: Fence, note: SentNote) => Promise<boolean>;
  /**
   * Enters what has become of a row that was claimed.
   *
   * @returns undefined when it is no longer of this tab, or a person has discarded it.
   */
  readonly settle: (
    claimed: Row,
    fence: Fence,
    change: Change,
    nowMs: number,
  ) => Promise<Settled | undefined>;
  /** The places of the rows of an owner that are due: so many at most, the first due first. */
  readonly due: (owner: string, nowMs: number, limit: number) => Promise<readonly number[]>;
  /**
   * When the next one is due. Of a row that was written in what is now the future, because the clock
   * was set back meanwhile, the wait begins anew.
   */
  readonly nextDueAt: (fence: Fence, nowMs: number) => Promise<number | undefined>;
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
    leaseUntil?: number,
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
        const known = await tx.rowById(row.id);
        if (known) return known;
        return (await isOurs(tx, fence, leaseUntil)) ? insert(tx, row) : undefined;
      }),
    claim: (seq, fence, nowMs) =>
      write('relaxed', async (tx) => {
        const [isOwn, row] = await Promise.all([owns(tx, fence), tx.row(seq)]);
        if (!isOwn) return 'lost';
        if (row?.liveOwner !== fence.owner || (row.nextRetryAt ?? Infinity) > nowMs)
          return { row: undefined, next: undefined };
        const isStranded = row.state === 'sending';
        const isInDoubt = row.isInDoubt || isStranded;
        if (row.blocks !== undefined && (await tx.headOf(row.blocks))?.seq !== seq) {
          // An older one has come back: this one waits behind it, and holds it up no longer.
          const { nextRetryAt: _, ...behind } = row;
          await tx.put({ ...behind, state: 'pending', isInDoubt });
          return { row: undefined, next: await unblock(tx, row.blocks, nowMs) };
        }
        // A younger one that went while this one was dead ends first, and tells.
        if (await isScopeBusy(tx, row)) return { row: undefined, next: undefined };
        const claimed: Row = {
          ...row,
          state: 'sending',
          attempts: row.attempts + 1,
          lastAttemptAt: nowMs,
          isInDoubt,
        };
        await tx.put(claimed);
        return { row: claimed, next: undefined };
      }),
    note: (claimed, fence, note) =>
      // Where nobody knows its key, this note alone keeps it from being sent twice.
      write(note.isUnkeyed ? 'strict' : 'relaxed', async (tx) => {
        const row = await claimedRow(tx, claimed, fence);
        if (row) await tx.put({ ...row, ...note });
        return !!row;
      }),
    settle: (claimed, fence, change, nowMs) =>
      write('strict', async (tx) => {
        const row = await claimedRow(tx, claimed, fence);
        if (!row) return undefined;
        const { seq } = row;
        const after = applyChange(row, change, nowMs);
        const [, head] = await Promise.all([
          after ? tx.put(after) : tx.remove(seq),
          unblock(tx, row.blocks, nowMs),
        ]);
        return { row: after, next: head?.seq === seq ? undefined : head };
      }),
    due: (owner, nowMs, limit) => read((tx) => tx.due(owner, nowMs, limit)),
    async nextDueAt(fence, nowMs) {
      const next = await read((tx) => tx.nextDue(fence.owner, nowMs));
      if (!next || !isPlannedLater(next, nowMs)) return next?.nextRetryAt;
      return write('relaxed', async (tx) =>
        (await owns(tx, fence)) ? beginWaitsAnew(tx, fence.owner, nowMs) : undefined,
      );
    },
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
    revive: (id, fence, nowMs, change, leaseUntil) =>
      write('strict', async (tx) => {
        const found = await tx.rowById(id);
        const row = found && change ? change(found) : found;
        if (row?.state === 'pending') {
          const { nextRetryAt } = row;
          const soon =
            nextRetryAt === undefined ? row : plan(row, Math.min(nextRetryAt, nowMs), nowMs);
          await tx.put(soon);
          return soon;
        }
        if (row?.state !== 'dead') return undefined;
        if (!(await isOurs(tx, fence, leaseUntil))) return undefined;
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

/** A row as this tab has claimed it: nobody has claimed it since. */
async function claimedRow(
  tx: Transaction,
  { seq, attempts }: Row,
  fence: Fence,
): Promise<Row | undefined> {
  const row = await ownRow(tx, seq, fence);
  return row?.state === 'sending' && row.attempts === attempts ? row : undefined;
}

/** Whether the owner is of this tab; one that is new becomes so. */
async function isOurs(
  tx: Transaction,
  fence: Fence,
  leaseUntil: number | undefined,
): Promise<boolean> {
  const record = await tx.owner(fence.owner);
  if (!record) await tx.putOwner({ ...fence, ...(leaseUntil && { leaseUntil }) });
  return !record || record.token === fence.token;
}

/** Whether another row of its scope is being sent, or was when its tab died. */
async function isScopeBusy(tx: Transaction, { seq, blocks }: Row): Promise<boolean> {
  if (blocks === undefined) return false;
  const sending = await tx.list('sending', 0, Infinity);
  return sending.some((other) => other.blocks === blocks && other.seq !== seq);
}

/** To be sent at that time. */
const plan = (row: Row, nextRetryAt: number, nowMs: number): Row => ({
  ...row,
  nextRetryAt,
  plannedAt: nowMs,
});

/** The clock was set back since. */
const isPlannedLater = ({ plannedAt = 0 }: Row, nowMs: number): boolean => plannedAt > nowMs;

/** @returns when the next one of this owner is due. */
async function beginWaitsAnew(
  tx: Transaction,
  owner: string,
  nowMs: number,
): Promise<number | undefined> {
  for (;;) {
    const row = await tx.nextDue(owner, nowMs);
    if (!row || !isPlannedLater(row, nowMs)) {
      const [due] = await tx.due(owner, nowMs, 1);
      return due === undefined ? row?.nextRetryAt : nowMs;
    }
    const { nextRetryAt = 0, plannedAt = 0 } = row;
    await tx.put(plan(row, nowMs + nextRetryAt - plannedAt, nowMs));
  }
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
    const {
      liveOwner: _,
      blocks: __,
      nextRetryAt: ___,
      lastError: ____,
      steps: _____,
      ...rest
    } = row;
    return { ...rest, state: 'done', doneAt: nowMs, result: change.result, isInDoubt: false };
  }
  const { error, attempts, isInDoubt, steps = row.steps } = change;
  const { isUnkeyed: _, ...known } = row;
  const tried: Row = {
    ...known,
    attempts,
    isInDoubt,
    ...(error && { lastError: error }),
    ...(steps !== undefined && { steps }),
  };
  if (change.kind === 'again')
    return plan({ ...tried, state: 'pending' }, change.nextRetryAt, change.plannedAt);
  const { liveOwner: __, blocks, nextRetryAt: ___, ...rest } = tried;
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
  const due = plan(live, nowMs, nowMs);
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
  const due = plan(head, nowMs, nowMs);
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
