import type { Clock } from '../../lib/clock.ts';
import { ask, complete, walk } from './open-database.ts';
import {
  type Fence,
  type Index,
  laneOf,
  type Range,
  type Row,
  rowSchema,
  type Transaction,
} from './schema.ts';
import { headOf, texts, plan } from './transitions.ts';
import { pagesOf } from './row-store.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isTime: Check = (value) => Number.isFinite(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag: Check = (value) => typeof value === 'boolean';
const isError: Check = (value) => isText(Object(value).name) && isText(Object(value).message);
const states: readonly unknown[] = ['pending', 'sending', 'done', 'dead'];
const orNone =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** Rows that are not on the disk as they were read. */
const mended = new WeakSet<Row>();

/**
 * A row as it may be used, whatever the disk has in its place: every field has its type. What can be made
 * from others or anew is; a row without one of those that cannot is `isGone`, and so a dead letter. What a
 * later version of this package has written is not judged.
 */
export function toWhole(raw: Row): Row {
  if (isTime(raw.schema) && raw.schema > rowSchema) return raw;
  const row: Record<string, unknown> = { ...raw };
  let isWhole = true;
  const expect = (field: keyof Row, check: Check, otherwise: unknown): boolean => {
    const isRight = check(row[field]);
    if (!isRight) {
      isWhole = false;
      if (otherwise === undefined) delete row[field];
      else row[field] = otherwise;
    }
    return isRight;
  };
  const isKnown = [
    expect('id', isText, `unreadable ${raw.seq}`),
    expect('schema', isTime, rowSchema),
    expect('handler', isText, ''),
    expect('version', isTime, 1),
    expect('createdAt', isTime, 0),
    expect('scope', orNone(isText), undefined),
  ].every(Boolean);
  if (!isKnown) row['isGone'] = true;
  // What is done has a time, and nobody is to send it.
  const isDone = isTime(raw.doneAt) || raw.liveOwner === undefined;
  const isState: Check = (state) => states.includes(state) && (state !== 'done' || isDone);
  // Whether it was sent is known only of what says so.
  if (!expect('state', isState, 'pending') || !isKnown) row['isInDoubt'] = true;
  expect('isInDoubt', isFlag, true);
  expect('attempts', isCount, 0);
  expect('submitter', isText, '');
  expect('owner', isText, '');
  expect('liveOwner', orNone(isText), undefined);
  expect('lane', isText, laneOf(row['handler'] as string));
  for (const field of ['lastAttemptAt', 'notBefore', 'noted', 'unsent', 'timeouts'] as const)
    expect(field, orNone(isTime), undefined);
  expect('lastError', orNone(isError), undefined);
  expect('deadReason', orNone(isText), 'unreadable');
  expect('waitsFor', orNone(isText), undefined);
  const { state, scope, waitsFor } = row as Partial<Row>;
  const isLive = (state === 'pending' || state === 'sending') && waitsFor === undefined;
  expect('doneAt', state === 'done' ? isTime : orNone(isTime), state === 'done' ? 0 : undefined);
  // Whoever is to be sent holds its scope up; a dead one does or does not.
  const isBlocking: Check = isLive ? (blocks) => blocks === scope : orNone((it) => it === scope);
  expect('blocks', isBlocking, scope);
  // At some time, or after others.
  const isTimed = isLive && (scope === undefined || state === 'sending');
  const isAtSomeTime = isTimed ? isTime : orNone(isTime);
  expect('nextRetryAt', isAtSomeTime, isLive ? 0 : undefined);
  expect('plannedAt', orNone(isTime), undefined);
  if (isWhole) return raw;
  mended.add(row as unknown as Row);
  return row as unknown as Row;
}

/**
 * Whether there are rows that nobody would look for, or that nobody would come to: what the indexes have
 * does not add up.
 */
export async function hasStrays(tx: Transaction): Promise<boolean> {
  const owners = await tx.owners();
  const sum = async (index: Index, rangeOf: (owner: string) => Range): Promise<number> => {
    const counts = owners.map(({ owner }) => tx.count(index, rangeOf(owner)));
    return (await Promise.all(counts)).reduce((total, count) => total + count, 0);
  };
  const count = (state: string): Promise<number> => tx.count('state', [state]);
  const [all, ids, waiting, live, scopes, inText, ...ofStates] = await Promise.all([
    tx.count(),
    tx.count('id', texts),
    tx.count('waitsFor'),
    tx.count('liveOwner'),
    tx.count('blocks'),
    tx.count('blocks', texts),
    ...['done', 'dead', 'pending', 'sending'].map(count),
  ]);
  const [done = 0, dead = 0, pending = 0, sending = 0] = ofStates;
  const [owned, timed, inLanes] = await Promise.all([
    sum('liveOwner', (owner) => [owner]),
    sum('due', (owner) => [[owner], [owner, Infinity]]),
    sum('lanes', (owner) => [
      [owner, texts[0]],
      [owner, texts[1]],
    ]),
  ]);
  const isAllFound =
    all === done + dead + pending + sending &&
    all === ids &&
    scopes === inText &&
    pending + sending === live + waiting &&
    live === owned &&
    timed === inLanes;
  return !isAllFound || (timed < live && (await isAnyStuck(tx)));
}

/** Whether a row has no time although nothing is before it. */
async function isAnyStuck(tx: Transaction): Promise<boolean> {
  const [live, timed, blocking] = await Promise.all(
    (['liveOwner', 'due', 'blocks'] as const).map((index) => tx.places(index, [-Infinity, [[]]])),
  );
  const found = new Set([...(timed ?? []), ...(blocking ?? [])]);
  if (live?.some((seq) => !found.has(seq))) return true;
  for (let scope: string | undefined; ;) {
    const range = scope === undefined ? texts : ([scope, [], true] as const);
    scope = (await tx.firstKey('blocks', range)) as string | undefined;
    if (scope === undefined) return false;
    const head = await headOf(tx, scope);
    if (head && (isWithoutTime(head) || mended.has(head))) return true;
  }
}

const isWithoutTime = ({ state, waitsFor, nextRetryAt }: Row): boolean =>
  state === 'pending' && !waitsFor && nextRetryAt === undefined;

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
  const heads = new Map<string, number | undefined>();
  let isAny = false;
  for await (const row of pagesOf((after, limit) => tx.page('state', undefined, after, limit))) {
    const { state, schema, waitsFor, liveOwner = '', blocks } = row;
    if (schema > rowSchema) continue;
    const isLive = (state === 'pending' || state === 'sending') && !waitsFor;
    const isLost = isLive && !owners.has(liveOwner);
    if (mended.has(row) || isLost) {
      await tx.put(isLost ? plan({ ...row, owner, liveOwner: owner }, nowMs, nowMs) : row);
      isAny = true;
    }
    if (!isLive || blocks === undefined || !isWithoutTime(row)) continue;
    if (!heads.has(blocks)) heads.set(blocks, (await headOf(tx, blocks))?.seq);
    if (heads.get(blocks) !== row.seq) continue;
    await tx.put(plan({ ...row, ...(isLost && { owner, liveOwner: owner }) }, nowMs, nowMs));
    isAny = true;
  }
  return isAny;
}

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
      await ask(() => database.transaction('rows').objectStore('rows').get(seq));
      failingSince.delete(seq);
      return false;
    } catch (thrown) {
      const { cause: error } = thrown as Error;
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
    if (!isSure(error) && (mayPass(error) || isEarly)) return false;
    triedAt = clock.now();
    if (agoMs < 0 || agoMs > apartMs) failingSince.clear();
    let isAny = false;
    const all = ask(() => database.transaction('rows').objectStore('rows').getAllKeys());
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
    await walk(
      () => index.openKeyCursor(),
      (cursor) => {
        if (cursor.primaryKey !== seq) {
          cursor.continue();
          return false;
        }
        for (const [place, key] of [cursor.key].flat().entries()) known[paths[place] ?? ''] = key;
        return true;
      },
    );
  }
  const { plannedAt, blocks } = known as Partial<Row>;
  // Whoever reads it makes it whole.
  store.put({
    createdAt: plannedAt ?? nowMs,
    ...(blocks !== undefined && { scope: blocks }),
    ...known,
    // Nobody knows any more.
    isInDoubt: true,
    isGone: true,
    seq,
  });
  await complete(transaction);
}
