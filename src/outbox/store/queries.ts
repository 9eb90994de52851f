import type { PausedRows } from '../pauses.ts';
import type { Key, Range, Transaction } from './backend.ts';
import type { Counts, RowStore } from './row-store.ts';
import type { Row } from './schema.ts';

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

/** What of an owner is due in each lane, and when the next one is. */
export async function dueInLanes(
  tx: Transaction,
  owner: string,
  nowMs: number,
  limit: number,
): Promise<Awaited<ReturnType<RowStore['due']>>> {
  const found = [];
  for (let from: Key = [owner]; ;) {
    const key = await tx.firstKey('lanes', [from, [owner, []]]);
    if (!key) return found;
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
    found.push({ lane, due, nextAt: (next as [string, string, number] | undefined)?.[2] });
    // Beyond all of its times.
    from = [owner, lane, []];
  }
}

export async function countAll(
  tx: Transaction,
  nowMs: number,
  pauses: PausedRows,
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
