import type { Backend, Transaction } from './backend.ts';
import {
  applyChange,
  endWaits,
  claimedRow,
  countAll,
  insert,
  isOurs,
  isScopeBusy,
  owns,
  plan,
  resurrect,
  shift,
  unblock,
  unplan,
} from './row-changes.ts';
import type { OwnerRecord, Row } from './row.ts';
import { adoptStrays } from './strays.ts';
import { type OutboxStore, pageSize } from './store.ts';

/** No owner, but which clear was done last: what was added since is not of it. */
const clearedBy = 'cleared';
const isOwner = ({ owner }: OwnerRecord): boolean => owner !== clearedBy;

/** A row that waits for its scope in another store looks again after so long. */
const lookAgainMs = 1000;

/**
 * Each operation on the rows is one transaction. `isBlockedElsewhere`: whether an older row of a scope is
 * in another store.
 */
export function createStore(
  backend: Backend,
  isBlockedElsewhere: (scope: string) => Promise<boolean> = async () => false,
): OutboxStore {
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
          await tx.put({ ...unplan(row), state: 'pending', isInDoubt });
          return { row: undefined, next: await unblock(tx, row.blocks, nowMs) };
        }
        if (row.blocks !== undefined && (await isBlockedElsewhere(row.blocks))) {
          const later = plan({ ...row, isInDoubt }, nowMs + lookAgainMs, nowMs);
          await tx.put(later);
          return { row: undefined, next: later };
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
    async due(fence, nowMs, limit) {
      const { owner } = fence;
      const [postdated] = await read((tx) => tx.postdated(owner, nowMs, 1));
      if (postdated)
        await write('relaxed', async (tx) => {
          if (await owns(tx, fence)) await endWaits(tx, owner, nowMs);
        });
      return read(async (tx) => {
        const lanes = await tx.lanes(owner);
        return Promise.all(
          lanes.map(async (lane) => {
            const [due, nextAt] = await Promise.all([
              tx.due(owner, lane, nowMs, limit),
              tx.nextDueAt(owner, lane, nowMs),
            ]);
            return { lane, due, nextAt };
          }),
        );
      });
    },
    wake: (fence, lane, nowMs, delayMs) =>
      write('relaxed', async (tx) => {
        if (!(await owns(tx, fence))) return;
        for (const row of await tx.planned(fence.owner, lane, nowMs, pageSize)) {
          const at = Math.max(row.notBefore ?? 0, nowMs + delayMs());
          if (at < (row.nextRetryAt ?? 0)) await tx.put(plan(row, at, nowMs));
        }
      }),
    setBack: (fence, nowMs, byMs) =>
      write('relaxed', async (tx) => {
        if (!(await owns(tx, fence))) return;
        for (const row of await tx.planned(fence.owner, undefined, nowMs))
          await tx.put(shift(row, -byMs));
      }),
    hasStrays: () => read((tx) => tx.hasStrays()),
    adoptStrays: (fence, nowMs, leaseUntil) =>
      write(
        'strict',
        async (tx) => (await isOurs(tx, fence, leaseUntil)) && adoptStrays(tx, fence, nowMs),
      ),
    owners: async () => (await read((tx) => tx.owners())).filter(isOwner),
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
    isBlocked: async (scope) => !!(await read((tx) => tx.headOf(scope))),
    find: (id) => read((tx) => tx.rowById(id)),
    list: (state, after, limit) => read((tx) => tx.list(state, after, limit)),
    count: (nowMs, pauses) => read((tx) => countAll(tx, nowMs, pauses)),
    revive: (id, fence, nowMs, change, leaseUntil) =>
      write('strict', async (tx) => {
        const found = await tx.rowById(id);
        const row = found && change ? change(found) : found;
        if (row?.state === 'pending' && !row.waitsFor) {
          const { nextRetryAt } = row;
          const soon =
            nextRetryAt === undefined ? row : plan(row, Math.min(nextRetryAt, nowMs), nowMs);
          await tx.put(soon);
          return soon;
        }
        if (row?.state !== 'dead' && !row?.waitsFor) return undefined;
        if (!(await isOurs(tx, fence, leaseUntil))) return undefined;
        return resurrect(tx, row, fence.owner, nowMs);
      }),
    tooNew: (after, limit) => read((tx) => tx.tooNew(after, limit)),
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
      return (await read((tx) => tx.doneBefore(Infinity, 1))).length > 0;
    },
    clear: (token) =>
      write('strict', async (tx) => {
        if ((await tx.owner(clearedBy))?.token === token) return;
        await tx.clear();
        await tx.putOwner({ owner: clearedBy, token });
      }),
  };
}
