import { laneOf } from '../due.ts';
import { pagesOf } from './row-store.ts';
import type { Transaction } from './backend.ts';
import { type Fence, type Row, rowSchema } from './schema.ts';
import { plan } from './transitions.ts';

/** Whether there are rows that nobody would look for: the numbers of the others do not add up. */
export async function hasStrays(tx: Transaction): Promise<boolean> {
  const owners = await tx.owners();
  const states = ['done', 'dead', 'pending', 'sending'] as const;
  const [all, waiting, timed, inLanes, owned, ...others] = await Promise.all([
    tx.count(),
    tx.count('waitsFor'),
    tx.count('due'),
    tx.count('lanes'),
    tx.count('liveOwner'),
    ...states.map((state) => tx.count('state', [state])),
    ...owners.map(({ owner }) => tx.count('liveOwner', [owner])),
  ]);
  const [done = 0, dead = 0, pending = 0, sending = 0, ...ofOwners] = others;
  const isAllFound =
    all === done + dead + pending + sending &&
    pending + sending === owned + waiting &&
    timed === inLanes &&
    owned === ofOwners.reduce((sum, count) => sum + count, 0);
  return !isAllFound;
}

/**
 * Gives this owner the rows that nobody would look for, because something that they are found by is
 * missing: they are damaged. An attempt finds out what else is. @returns whether there were any.
 */
export async function adoptStrays(
  tx: Transaction,
  { owner }: Fence,
  nowMs: number,
): Promise<boolean> {
  const owners = new Set((await tx.owners()).map((record) => record.owner));
  let isAny = false;
  for await (const row of pagesOf((after, limit) => tx.page('state', undefined, after, limit))) {
    if (isFound(row, owners)) continue;
    await tx.put(plan(mend(row, owner), nowMs, nowMs));
    isAny = true;
  }
  return isAny;
}

function isFound(row: Row, owners: ReadonlySet<string>): boolean {
  const { state, waitsFor, liveOwner = '', lane } = row;
  if (row.schema > rowSchema || state === 'dead' || state === 'done' || waitsFor) return true;
  const isToBeSent = state === 'pending' || state === 'sending';
  return isToBeSent && owners.has(liveOwner) && typeof lane === 'string';
}

function mend(row: Row, owner: string): Row {
  const { scope, handler, attempts, state, isInDoubt } = row;
  return {
    ...row,
    state: state === 'sending' ? state : 'pending',
    // Whether it was sent is known only of what says so.
    isInDoubt: isInDoubt || state !== 'pending',
    attempts: attempts || 0,
    lane: typeof handler === 'string' ? laneOf(handler) : '',
    owner,
    liveOwner: owner,
    ...(scope !== undefined && { blocks: scope }),
  };
}
