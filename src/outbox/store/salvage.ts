import { createIdempotencyKey } from '../../idempotency/key.ts';
import type { Clock } from '../../lib/clock.ts';
import { ask, complete, walk } from './requests.ts';
import { type Row, rowSchema } from './schema.ts';

/** What fails for a reason that may pass is tried for so long. */
const patienceMs = 60_000;
/** All rows are read one by one no more often. */
const gapMs = 10_000;
/** Failures that lie so far apart are not one. */
const apartMs = 600_000;

/**
 * Takes an error of the database. Where rows have caused it that the browser cannot read any more, they are
 * replaced by what their indexes know of them; all else of them is gone. @returns whether there were any.
 */
export type Salvage = (error: unknown) => Promise<boolean>;

export function createSalvage(database: IDBDatabase, clock: Clock): Salvage {
  const failingSince = new Map<number, number>();
  let triedAt = -Infinity;

  const isGone = async (seq: number): Promise<boolean> => {
    try {
      await ask(database.transaction('rows').objectStore('rows').get(seq));
      failingSince.delete(seq);
      return false;
    } catch (error) {
      if (isSure(error)) return true;
      if (mayPass(error)) return false;
      const since = failingSince.get(seq) ?? clock.now();
      failingSince.set(seq, since);
      return clock.now() - since >= patienceMs;
    }
  };

  return async (error) => {
    const agoMs = clock.now() - triedAt;
    const isEarly = agoMs >= 0 && agoMs < gapMs;
    if (!isSure(error) && (nameOf(error) !== 'UnknownError' || mayPass(error) || isEarly))
      return false;
    triedAt = clock.now();
    if (agoMs < 0 || agoMs > apartMs) failingSince.clear();
    let isAny = false;
    const all = ask(database.transaction('rows').objectStore('rows').getAllKeys());
    for (const seq of (await all) as number[]) {
      if (!(await isGone(seq))) continue;
      await replace(database, seq, clock.now());
      isAny = true;
    }
    return isAny;
  };
}

const nameOf = (error: unknown): string => String(Object(error).name);
/** The standard's name for a record that is there and whose file is gone. */
const isSure = (error: unknown): boolean => nameOf(error) === 'NotReadableError';
/** Chromium says so where only its memory is short; of other browsers it is not known. */
const mayPass = (error: unknown): boolean =>
  String(Object(error).message).includes('Failed to read large IndexedDB value');

async function replace(database: IDBDatabase, seq: number, nowMs: number): Promise<void> {
  const transaction = database.transaction('rows', 'readwrite', { durability: 'strict' });
  const store = transaction.objectStore('rows');
  const known: Record<string, unknown> = {};
  for (const name of store.indexNames) {
    const index = store.index(name);
    const paths = [index.keyPath].flat();
    await walk(index.openKeyCursor(), (cursor) => {
      if (cursor.primaryKey !== seq) {
        cursor.continue();
        return false;
      }
      for (const [place, key] of [cursor.key].flat().entries()) known[paths[place] ?? ''] = key;
      return true;
    });
  }
  const { plannedAt, blocks, liveOwner } = known as Partial<Row>;
  const row: Row = {
    id: createIdempotencyKey(),
    schema: rowSchema,
    handler: '',
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
  store.put(row);
  await complete(transaction);
}
