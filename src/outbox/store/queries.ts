import type { PausedRows } from '../pauses.ts';
import type { Key, Range, Transaction } from './backend.ts';
import type { Counts, RowStore } from './row-store.ts';
import type { Index, Row } from './schema.ts';

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

/** A list that comes after all numbers, texts and dates, and after lists of them. */
const beyond: Key = [[]];

/** What of an owner is due in each lane, and where there are rows whose lane is no text, or whose time no number. */
interface Due {
  readonly lanes: Awaited<ReturnType<RowStore['due']>>;
  readonly damaged: readonly (readonly [index: Index, range: Range])[];
}

export async function dueInLanes(
  tx: Transaction,
  owner: string,
  nowMs: number,
  limit: number,
): Promise<Due> {
  const lanes: Due['lanes'][number][] = [];
  const damaged: Due['damaged'][number][] = [];
  // Dates, texts and the like come after all numbers.
  const noTime: Range = [[owner, Number.MAX_VALUE], [owner, beyond], true];
  if (await tx.firstKey('due', noTime)) damaged.push(['due', noTime]);
  for (let from: Key = [owner]; ;) {
    const key = await tx.firstKey('lanes', [from, [owner, []]]);
    if (!key) return { lanes, damaged };
    const [, lane] = key as [string, string];
    if (typeof lane !== 'string') {
      from = [owner, lane, beyond];
      damaged.push(['lanes', [[owner, lane], from]]);
      continue;
    }
    // The next text there is: beyond all of its times, whatever they are.
    from = [owner, `${lane}\0`];
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
