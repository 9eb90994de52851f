import { createIdempotencyKey } from '../../idempotency/key.ts';
import {
  type Backend,
  type Fence,
  type OwnerRecord,
  type Row,
  type Transaction,
  without,
} from './schema.ts';
import { type About, pageSize, type RowStore } from './row-store.ts';
import {
  after,
  countAll,
  dueInLanes,
  headOf,
  rowById,
  applyChange,
  claimedRow,
  endWaits,
  insert,
  isOurs,
  isScopeBusy,
  owns,
  place,
  plan,
  shift,
  unblock,
  unplan,
} from './transitions.ts';
import { adoptStrays, hasStrays } from './damage.ts';

/** No owner, but which database it is, and which clears were done last. */
const about = 'about';
/** How many clears are remembered. */
const mostClears = 10;
const isOwner = ({ owner }: OwnerRecord): boolean => owner !== about;

async function readAbout(tx: Transaction): Promise<About | undefined> {
  const [generation, ...clears] = (await tx.owner(about))?.token.split(' ') ?? [];
  return generation ? { generation, clears } : undefined;
}

async function writeAbout(tx: Transaction, { generation, clears }: About): Promise<About> {
  const token = [generation, ...clears.slice(-mostClears)].join(' ');
  await tx.putOwner({ owner: about, token, signedAt: 0 });
  return { generation, clears };
}

const newAbout = (): About => ({ generation: createIdempotencyKey(), clears: [] });

/** What another store knows of a scope: rows of it may be on the disk, and in this page alone. */
export interface OtherStore {
  /** A row of it is older than all in this store. @default false */
  readonly isBlocked?: (scope: string) => Promise<boolean>;
  /** A row of it is being sent. @default false */
  readonly isSending?: (scope: string) => boolean;
}

/**
 * A row that waits for its scope in another store looks again after so long; one on the disk sooner, so
 * that of two that wait for each other it goes first.
 */
const lookAgainMs = { onDisk: 300, inMemory: 1000 } as const;

/** No row is claimed, and no other one has its turn by that. */
const none = { row: undefined, next: undefined };

/** Each operation on the rows is one transaction. */
export function createRowStore(backend: Backend, other: OtherStore = {}): RowStore {
  const { isDurable, isSending = () => false, read, write, close } = backend;
  const ifOwned = <T>(
    fence: Fence,
    otherwise: T,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> => write('relaxed', async (tx) => ((await owns(tx, fence)) ? work(tx) : otherwise));
  return {
    isDurable,
    isSending,
    close,
    add: (row, fence, nowMs, known) =>
      write('strict', async (tx) => {
        const found = await rowById(tx, row.id);
        if (found) return found;
        const { clears = [] } = (known && (await readAbout(tx))) ?? {};
        if (clears.some((clear) => !known?.has(clear))) return 'cleared';
        return (await isOurs(tx, fence, nowMs)) ? insert(tx, row, nowMs) : 'lost';
      }),
    takeOut: (id) =>
      write('strict', async (tx) => {
        const row = await rowById(tx, id);
        if (row?.state !== 'pending' && row?.state !== 'dead') return undefined;
        await tx.remove(row.seq);
        return row;
      }),
    identify: () =>
      write('relaxed', async (tx) => (await readAbout(tx)) ?? writeAbout(tx, newAbout())),
    async claim(seq, fence, nowMs) {
      let before: Row | undefined;
      const claim = await write('relaxed', async (tx) => {
        const [isOwn, row] = await Promise.all([owns(tx, fence), tx.row(seq)]);
        if (!isOwn) return 'lost';
        if (row?.liveOwner !== fence.owner || (row.nextRetryAt ?? Infinity) > nowMs) return none;
        const isStranded = row.state === 'sending';
        const isInDoubt = row.isInDoubt || isStranded;
        if (row.blocks !== undefined && (await headOf(tx, row.blocks))?.seq !== seq) {
          // An older one has come back: this one waits behind it, and holds it up no longer.
          await tx.put({ ...unplan(row), state: 'pending', isInDoubt });
          return { row: undefined, next: await unblock(tx, row.blocks, nowMs) };
        }
        if (row.blocks !== undefined && other.isSending?.(row.blocks)) {
          const delayed = plan({ ...row, isInDoubt }, nowMs + lookAgainMs.onDisk, nowMs);
          await tx.put(delayed);
          return { row: undefined, next: delayed };
        }
        // A younger one that went while this one was dead ends first, and tells.
        if (await isScopeBusy(tx, row)) return none;
        const isUnsent = isStranded && row.noted !== row.attempts;
        before = { ...row, isInDoubt, ...(isUnsent && { unsent: (row.unsent ?? 0) + 1 }) };
        // The time that the server has said has come, also where the clock is set back meanwhile.
        const claimed: Row = {
          ...without(before, 'notBefore'),
          state: 'sending',
          attempts: row.attempts + 1,
          lastAttemptAt: nowMs,
        };
        await tx.put(claimed);
        return { row: claimed, next: undefined };
      });
      const scope = claim === 'lost' ? undefined : claim.row?.blocks;
      // From here on, a row on the disk waits for this one, should it come back to life meanwhile.
      if (claim === 'lost' || scope === undefined || !(await other.isBlocked?.(scope)))
        return claim;
      return write('relaxed', async (tx) => {
        const isStill = claim.row && (await claimedRow(tx, claim.row, fence));
        const delayed = isStill && before && plan(before, nowMs + lookAgainMs.inMemory, nowMs);
        if (delayed) await tx.put(delayed);
        return { row: undefined, next: delayed };
      });
    },
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
        const changed = applyChange(row, change, nowMs);
        const [, head] = await Promise.all([
          changed ? tx.put(changed) : tx.remove(seq),
          unblock(tx, row.blocks, nowMs),
        ]);
        return { row: changed, next: head?.seq === seq ? undefined : head };
      }),
    async due(fence, nowMs, limit) {
      const { owner } = fence;
      const [postdated] = await read((tx) => tx.rows('planned', after([owner], nowMs), 1));
      if (postdated) await ifOwned(fence, undefined, (tx) => endWaits(tx, owner, nowMs));
      return read((tx) => dueInLanes(tx, owner, nowMs, limit));
    },
    async wake(fence, lane, nowMs, mostMs, delayMs) {
      // What goes by then anyway stays as it is planned.
      let from = nowMs + mostMs;
      const wakePage = async (tx: Transaction): Promise<boolean> => {
        const page = await tx.rows('lanes', after([fence.owner, lane], from), pageSize);
        let isAnyMoved = false;
        for (const row of page) {
          const at = Math.max(row.notBefore ?? 0, nowMs + delayMs());
          if (at >= (row.nextRetryAt ?? 0)) continue;
          await tx.put(plan(row, at, nowMs));
          isAnyMoved ||= at <= from;
        }
        // Those that were moved are no longer in the range.
        if (!isAnyMoved) from = page.at(-1)?.nextRetryAt ?? Infinity;
        return page.length === pageSize;
      };
      while (await ifOwned(fence, false, wakePage));
    },
    setBack: (fence, nowMs, byMs) =>
      ifOwned(fence, undefined, async (tx) => {
        for (const row of await tx.rows('due', after([fence.owner], nowMs)))
          await tx.put(shift(row, -byMs));
      }),
    hasStrays: () => read(hasStrays),
    adoptStrays: (fence, nowMs) =>
      write(
        'strict',
        async (tx) => (await isOurs(tx, fence, nowMs)) && adoptStrays(tx, fence, nowMs),
      ),
    owners: async () => (await read((tx) => tx.owners())).filter(isOwner),
    adopt: (fence, from, nowMs) =>
      write('relaxed', async (tx) => {
        if ((await tx.owner(fence.owner))?.token !== from) return false;
        await tx.putOwner({ ...fence, signedAt: nowMs });
        return true;
      }),
    sign: (fence, signedAt) =>
      ifOwned(fence, false, async (tx) => {
        await tx.putOwner({ ...fence, signedAt });
        return true;
      }),
    abandon: (fence) =>
      ifOwned(fence, true, async (tx) => {
        if (await tx.firstKey('liveOwner', [fence.owner])) return false;
        await tx.removeOwner(fence.owner);
        return true;
      }),
    isBlocked: async (scope) => !!(await read((tx) => headOf(tx, scope))),
    find: (id) => read((tx) => rowById(tx, id)),
    list: (key, from, limit, index = 'state') => read((tx) => tx.page(index, key, from, limit)),
    count: (nowMs, pauses) => read((tx) => countAll(tx, nowMs, pauses)),
    revive: (id, fence, nowMs, change) =>
      write('strict', async (tx) => {
        const found = await rowById(tx, id);
        if (!found || !(found.state === 'dead' || found.state === 'pending')) return undefined;
        if (!(await isOurs(tx, fence, nowMs))) return 'lost';
        const { owner } = fence;
        const free = without(change ? change(found) : found, 'deadReason', 'waitsFor');
        const live: Row = { ...free, owner, liveOwner: owner, state: 'pending' };
        const row = await place(tx, live, nowMs);
        // Behind it in the scope that it has left.
        const isMoved = row.scope !== found.scope;
        return { row, next: isMoved ? await unblock(tx, found.blocks, nowMs) : undefined };
      }),
    discard: (id, nowMs) =>
      write('strict', async (tx) => {
        const row = await rowById(tx, id);
        if (!row) return undefined;
        await tx.remove(row.seq);
        return { row, next: await unblock(tx, row.blocks, nowMs) };
      }),
    acknowledge: (id) =>
      write('relaxed', async (tx) => {
        const row = await rowById(tx, id);
        if (row?.state === 'done') await tx.remove(row.seq);
      }),
    async sweep(beforeMs) {
      const sweepPage = async (tx: Transaction): Promise<number> => {
        const done = await tx.places('doneAt', [0, beforeMs - 1], pageSize);
        for (const seq of done) await tx.remove(seq);
        return done.length;
      };
      while ((await write('relaxed', sweepPage)) === pageSize);
      return (await read((tx) => tx.count('doneAt'))) > 0;
    },
    clear: (token) =>
      write('strict', async (tx) => {
        const { generation, clears } = (await readAbout(tx)) ?? newAbout();
        if (clears.includes(token)) return;
        await tx.clear();
        await writeAbout(tx, { generation, clears: [...clears, token] });
      }),
  };
}
