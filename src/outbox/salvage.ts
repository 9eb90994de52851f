import type { Clock } from '../lib/clock.ts';
import { createIdempotencyKey } from '../idempotency/key.ts';
import type { OutboxDatabase } from './database-layout.ts';
import { handlerOfLane } from './lanes.ts';
import { type Row, rowSchema } from './row.ts';

/** What fails for another reason than a file that is gone is tried for so long. */
const patienceMs = 60_000;
/** All rows are read one by one no more often. */
const gapMs = 10_000;

/**
 * Takes an error of the database. Where rows have caused it that the browser cannot read any more, they are
 * replaced by what their indexes know of them; all else of them is gone. @returns whether there were any.
 */
export type Salvage = (error: unknown) => Promise<boolean>;

export function createSalvage(database: OutboxDatabase, clock: Clock): Salvage {
  const failingSince = new Map<number, number>();
  let triedAt = -Infinity;

  const isGone = async (seq: number): Promise<boolean> => {
    const { store, done } = database.transaction('rows');
    // Its request says so, too.
    done.catch(() => {});
    try {
      await store.get(seq);
      failingSince.delete(seq);
      return false;
    } catch (error) {
      // Chromium and the standard say which failures pass; other browsers do not.
      if (nameOf(error) === 'NotReadableError') return true;
      const since = failingSince.get(seq) ?? clock.now();
      failingSince.set(seq, since);
      return clock.now() - since >= patienceMs;
    }
  };

  return async (error) => {
    if (!/NotReadable|Unknown|Data/.test(nameOf(error))) return false;
    if (nameOf(error) !== 'NotReadableError' && clock.now() - triedAt < gapMs) return false;
    triedAt = clock.now();
    let isAny = false;
    for (const seq of await database.getAllKeys('rows')) {
      if (!(await isGone(seq))) continue;
      await replace(database, seq, clock.now());
      isAny = true;
    }
    return isAny;
  };
}

const nameOf = (error: unknown): string => String(Object(error).name);

async function replace(database: OutboxDatabase, seq: number, nowMs: number): Promise<void> {
  const transaction = database.transaction('rows', 'readwrite', { durability: 'strict' });
  const { store } = transaction;
  const known: Record<string, unknown> = {};
  for (const name of store.indexNames) {
    const index = store.index(name);
    let cursor = await index.openKeyCursor();
    while (cursor && cursor.primaryKey !== seq) cursor = await cursor.continue();
    if (!cursor) continue;
    const paths = [index.keyPath].flat();
    for (const [place, key] of [cursor.key].flat().entries()) known[paths[place] ?? ''] = key;
  }
  const { lane, plannedAt, blocks, liveOwner } = known as Partial<Row>;
  const row: Row = {
    id: createIdempotencyKey(),
    schema: rowSchema,
    handler: handlerOfLane(lane ?? ''),
    version: 1,
    variables: undefined,
    createdAt: plannedAt ?? nowMs,
    submitter: '',
    state: 'pending',
    owner: liveOwner ?? '',
    lane: '',
    attempts: 0,
    ...(blocks !== undefined && { scope: blocks }),
    ...known,
    // Nobody knows any more.
    isInDoubt: true,
    isGone: true,
    seq,
  };
  await store.put(row);
  await transaction.done;
}
