import 'fake-indexeddb/auto';
import { describe, expect, test, vi } from 'vitest';
import { RowStore } from '../../src/outbox/store/row-store.ts';
import type { Change } from '../../src/outbox/store/transitions.ts';
import type { Backend, Fence } from '../../src/outbox/store/schema.ts';
import type { NewRow, Row } from '../../src/outbox/store/row.ts';
import { openIndexedDb } from '../../src/outbox/store/disk.ts';
import { createMemoryBackend } from './memory-backend.ts';
import { newRow } from './new-row.ts';
import { createVirtualClock } from '../core/origin/virtual-clock.ts';

// The same databases are there where the tests are run once more in one process.
const openIdb = (): Promise<Backend> =>
  openIndexedDb(`store ${crypto.randomUUID()}`, createVirtualClock());

const tabA: Fence = { owner: 'a', token: 'a1' };
const tabB: Fence = { owner: 'b', token: 'b1' };

type WaitingRow = Extract<NewRow, { state: 'pending'; owner: string }>;

const row = (id: string, more: Partial<WaitingRow> = {}): WaitingRow =>
  newRow(id, more) as WaitingRow;
const scoped = (id: string, more: Partial<WaitingRow> = {}): WaitingRow =>
  row(id, { scope: 'cart', blocks: 'cart', ...more });

const again = (nextRetryAt: number, attempts = 1): Change => ({
  kind: 'again',
  nextRetryAt,
  decidedAt: 1000,
  attempts,
  isInDoubt: true,
  error: { name: 'NetworkError', message: 'no answer' },
});
const dead = (isBlocking: boolean): Change => ({
  kind: 'dead',
  reason: 'refused',
  isBlocking,
  attempts: 1,
  isInDoubt: false,
  error: { name: 'HttpError', message: '422', status: 422 },
});
const done: Change = { kind: 'done', result: { id: 7 }, isKept: true };

/** Claims it, or fails the test. */
async function claim(store: RowStore, seq: number, fence = tabA, nowMs = 1000): Promise<Row> {
  const claimed = await store.claim(seq, fence, nowMs);
  if (claimed === 'lost' || !claimed.row) throw new Error(`${seq} was not claimed`);
  return claimed.row;
}
const notNow = { row: undefined, next: undefined };

describe.each([
  ['in memory', async () => createMemoryBackend()],
  ['in IndexedDB', openIdb],
])('%s', (_, open) => {
  const start = async (): Promise<RowStore> => new RowStore(await open());

  test('a row is kept once, and has a place after those before it', async () => {
    const store = await start();
    expect(await store.add(row('1'), tabA, 1000)).toEqual({ ...row('1'), seq: 1 });
    expect(await store.add(row('2'), tabA, 1000)).toMatchObject({ seq: 2 });
    const known = await store.add(row('1', { variables: 'others' }), tabA, 1000);
    expect(known).toEqual({ ...row('1'), seq: 1 });
    expect(await store.list(undefined, 0, 10)).toHaveLength(2);
    expect(await store.owners()).toEqual([{ ...tabA, signedAt: 1000 }]);
  });

  test('what is read is a copy: to change it changes nothing', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const claimed = await claim(store, 1);
    Object.assign(claimed.variables as object, { sku: 'changed' });
    expect((await store.find('1'))?.variables).toEqual({ sku: '1' });
    const found = await store.find('1');
    Object.assign(found?.variables as object, { sku: 'changed' });
    expect((await store.list('sending', 0, 1))[0]?.variables).toEqual({ sku: '1' });
  });

  test('a row is taken by its owner alone, and only when it is due', async () => {
    const store = await start();
    await store.add(row('1', { nextRetryAt: 2000 }), tabA, 1000);
    expect(await store.claim(1, tabA, 1999)).toEqual(notNow);
    expect(await store.claim(1, { owner: 'a', token: 'a0' }, 2000)).toBe('lost');
    expect(await store.claim(1, tabB, 2000)).toBe('lost');
    expect(await store.claim(9, tabA, 2000)).toEqual(notNow);
    expect(await claim(store, 1, tabA, 2000)).toEqual({
      ...row('1'),
      seq: 1,
      state: 'sending',
      nextRetryAt: 2000,
      claims: 1,
      lastAttemptAt: 2000,
    });
  });

  test('one that was being sent when its tab died may have been done', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    await claim(store, 1);
    const next = { owner: 'a', token: 'a2' };
    expect(await store.adopt(next, 'a1', 1000)).toBe(true);
    expect(await store.claim(1, tabA, 1000)).toBe('lost');
    expect(await claim(store, 1, next)).toMatchObject({ claims: 2, isInDoubt: true });
  });

  test('an end is entered once, by whoever has claimed it last', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const first = await claim(store, 1);
    const next = { owner: 'a', token: 'a2' };
    await store.adopt(next, 'a1', 1000);
    const second = await claim(store, 1, next);
    // The first has lost it; and the second claim is not the first one's, even under its token.
    expect(await store.recordEnd(first, tabA, done, 1000)).toBeUndefined();
    expect(await store.recordEnd(first, next, done, 1000)).toBeUndefined();
    const settled = await store.recordEnd(second, next, done, 1000);
    expect(settled?.row).toMatchObject({ state: 'done', result: { id: 7 }, doneAt: 1000 });
    expect(await store.recordEnd(second, next, again(2000), 1000)).toBeUndefined();
  });

  test('a tab that has slept and owns its rows again enters what it has claimed before', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const claimed = await claim(store, 1);
    const next = { owner: 'a', token: 'a2' };
    await store.adopt(next, 'a1', 1000);
    expect(await store.recordEnd(claimed, next, done, 1000)).toMatchObject({
      row: { state: 'done' },
    });
  });

  test('what is known before a request goes is noted by whoever owns the row, and gone with its end', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const claimed = await claim(store, 1);
    const note = { steps: [1], isUnkeyed: true, attempts: 1 };
    expect(await store.recordRequest(claimed, tabB, note)).toBe(false);
    expect(await store.recordRequest({ ...claimed, claims: 2 }, tabA, note)).toBe(false);
    expect(await store.find('1')).toMatchObject({ steps: undefined });
    expect(await store.recordRequest(claimed, tabA, note)).toBe(true);
    expect(await store.find('1')).toMatchObject(note);
    const { row: after } = (await store.recordEnd(claimed, tabA, again(2000), 1000)) ?? {};
    expect(after).toMatchObject({ steps: [1] });
    expect(after).toMatchObject({ isUnkeyed: false });
    const { row: end } =
      (await store.recordEnd(await claim(store, 1, tabA, 2000), tabA, done, 1)) ?? {};
    expect(end).toMatchObject({ steps: undefined });
  });

  test('what is not good is sent again at its time, with what is known of it', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const settled = await store.recordEnd(await claim(store, 1), tabA, again(5000), 1000);
    expect(settled).toEqual({
      row: {
        ...row('1'),
        seq: 1,
        attempts: 1,
        claims: 1,
        lastAttemptAt: 1000,
        nextRetryAt: 5000,

        isInDoubt: true,
        lastError: { name: 'NetworkError', message: 'no answer' },
      },
      next: undefined,
    });
    expect(await store.due(tabA, 4999, 100)).toEqual([{ lane: 'order', due: [], nextAt: 5000 }]);
    expect(await store.due(tabA, 5000, 100)).toEqual([
      { lane: 'order', due: [1], nextAt: undefined },
    ]);
  });

  test('nothing is kept of a row whose submitter knows its result', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const change: Change = { kind: 'done', result: undefined, isKept: false };
    const settled = await store.recordEnd(await claim(store, 1), tabA, change, 1000);
    expect(settled).toEqual({ row: undefined, next: undefined });
    expect(await store.find('1')).toBeUndefined();
  });

  test('a result stays until it is acknowledged, or old', async () => {
    const store = await start();
    for (const id of ['1', '2', '3']) await store.add(row(id), tabA, 1000);
    for (const seq of [1, 2, 3])
      await store.recordEnd(await claim(store, seq), tabA, done, seq * 1000);
    await store.acknowledge('1');
    expect((await store.list('done', 0, 10)).map(({ id }) => id)).toEqual(['2', '3']);
    await store.sweep(602_000);
    expect((await store.list('done', 0, 10)).map(({ id }) => id)).toEqual(['2', '3']);
    await store.sweep(602_001);
    expect((await store.list('done', 0, 10)).map(({ id }) => id)).toEqual(['3']);
  });

  test('only what is done is acknowledged', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    await store.acknowledge('1');
    expect(await store.find('1')).toMatchObject({ state: 'pending' });
  });

  test('of a scope, one at a time goes, the oldest first', async () => {
    const store = await start();
    await store.add(scoped('1'), tabA, 1000);
    const second = await store.add(scoped('2'), tabA, 1000);
    expect(second).toMatchObject({ nextRetryAt: undefined });
    expect(await store.claim(2, tabA, 1000)).toEqual(notNow);
    const first = await claim(store, 1);
    expect(await store.claim(2, tabA, 1000)).toEqual(notNow);
    expect((await store.recordEnd(first, tabA, again(5000), 1000))?.next).toBeUndefined();
    const settled = await store.recordEnd(await claim(store, 1, tabA, 5000), tabA, done, 6000);
    expect(settled?.next).toMatchObject({ id: '2', nextRetryAt: 6000 });
    expect(await claim(store, 2, tabA, 6000)).toMatchObject({ id: '2' });
  });

  test.each([
    ['holds its scope up', true, undefined],
    ['lets its scope pass', false, { id: '2', nextRetryAt: 1000 }],
  ])('a dead one %s', async (_text, isBlocking, next) => {
    const store = await start();
    await store.add(scoped('1'), tabA, 1000);
    await store.add(scoped('2'), tabA, 1000);
    const settled = await store.recordEnd(await claim(store, 1), tabA, dead(isBlocking), 1000);
    expect(settled?.row).toMatchObject({ state: 'dead', deadReason: 'refused' });
    expect(settled?.row).toMatchObject({ owner: undefined });
    const { id, nextRetryAt } = settled?.next ?? {};
    expect(id === undefined ? undefined : { id, nextRetryAt }).toEqual(next);
  });

  test('one that comes back to its scope goes before those that have passed it, and beside none', async () => {
    const store = await start();
    for (const id of ['1', '2', '3']) await store.add(scoped(id), tabA, 1000);
    await store.recordEnd(await claim(store, 1), tabA, dead(false), 1000);
    const second = await claim(store, 2);
    expect(await store.revive('1', tabA, 1500)).toMatchObject({ row: { nextRetryAt: 1500 } });
    // The second is still being sent.
    expect(await store.claim(1, tabA, 1500)).toEqual(notNow);
    const settled = await store.recordEnd(second, tabA, again(2000), 1600);
    expect(settled?.next).toMatchObject({ id: '1' });
    expect(await claim(store, 1, tabA, 1600)).toMatchObject({ id: '1' });
    expect(await store.claim(2, tabA, 2000)).toMatchObject({ row: undefined, next: { id: '1' } });
  });

  test('one that was being sent when its tab died goes behind an older one that has come back', async () => {
    const store = await start();
    await store.add(scoped('1'), tabA, 1000);
    await store.add(scoped('2', { owner: 'b' }), tabB, 1000);
    await store.recordEnd(await claim(store, 1), tabA, dead(false), 1000);
    await claim(store, 2, tabB);
    await store.revive('1', tabA, 1000);
    const next = { owner: 'b', token: 'b2' };
    await store.adopt(next, 'b1', 1000);
    expect(await store.claim(2, next, 1000)).toMatchObject({ row: undefined, next: { id: '1' } });
    expect(await store.find('2')).toMatchObject({ state: 'pending', isInDoubt: true });
    const settled = await store.recordEnd(await claim(store, 1), tabA, done, 1000);
    expect(settled?.next).toMatchObject({ id: '2' });
    expect(await claim(store, 2, next)).toMatchObject({ isInDoubt: true });
  });

  test('of two that were being sent when their tab died, the older goes once the younger is behind it', async () => {
    const store = await start();
    await store.add(scoped('1'), tabA, 1000);
    await store.add(scoped('2', { owner: 'b' }), tabB, 1000);
    await store.recordEnd(await claim(store, 1), tabA, dead(false), 1000);
    const younger = await claim(store, 2, tabB);
    await store.revive('1', tabA, 1000);
    await store.recordEnd(younger, tabB, again(1000), 1000);
    await claim(store, 1);
    // The tab of the second one claims it before that of the first one has taken its own.
    const rows = await store.list('sending', 0, 10);
    expect(rows.map(({ id }) => id)).toEqual(['1']);
    const next = { owner: 'b', token: 'b2' };
    await store.adopt(next, 'b1', 1000);
    expect(await store.claim(2, next, 1000)).toMatchObject({ row: undefined, next: { id: '1' } });
    expect(await claim(store, 1)).toMatchObject({ id: '1', isInDoubt: true });
  });

  test('a user sends a dead one again, as this tab’s own, or what waits at once', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    await store.recordEnd(await claim(store, 1), tabA, dead(true), 1000);
    expect(await store.revive('1', tabB, 3000)).toMatchObject({
      row: { state: 'pending', owner: 'b', nextRetryAt: 3000, lastError: { status: 422 } },
      next: undefined,
    });
    expect(await store.owners()).toEqual([
      { ...tabA, signedAt: 1000 },
      { ...tabB, signedAt: 3000 },
    ]);
    expect(await store.find('1')).toMatchObject({ deadReason: undefined });
    await store.recordEnd(await claim(store, 1, tabB, 3000), tabB, again(90_000, 2), 3000);
    expect(await store.revive('1', tabA, 4000)).toMatchObject({
      row: { nextRetryAt: 4000, owner: 'a' },
    });
    expect(await store.claim(1, tabB, 4000)).toEqual(notNow);
    expect(await store.revive('1', { owner: 'a', token: 'a0' }, 4000)).toBe('lost');
    await claim(store, 1, tabA, 4000);
    expect(await store.revive('1', tabA, 4000)).toBeUndefined();
    expect(await store.revive('9', tabA, 4000)).toBeUndefined();
  });

  test('what is revived may be another: it has another id', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const revived = await store.revive('1', tabA, 1000, (known) => ({ ...known, id: '1b' }));
    expect(revived).toMatchObject({ row: { id: '1b', seq: 1 } });
    expect(await store.find('1')).toBeUndefined();
  });

  test('what becomes of another scope takes its place there, and the next of its old one goes', async () => {
    const store = await start();
    for (const [id, scope] of [
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'a'],
      ['4', 'b'],
    ] as const)
      await store.add(row(id, { scope, blocks: scope }), tabA, 1000);
    const toScope = (scope: string | undefined) => (known: Row) => ({ ...known, scope });
    const revive = async (id: string, scope: string | undefined) => {
      const revived = await store.revive(id, tabA, 1500, toScope(scope));
      return revived === 'lost' ? undefined : revived;
    };
    const first = await revive('1', 'b');
    // The oldest of all: it goes first there, and what was first waits behind it.
    expect(first).toMatchObject({
      row: { id: '1', blocks: 'b', nextRetryAt: 1500 },
      next: { id: '3', nextRetryAt: 1500 },
    });
    const fourth = await revive('4', 'a');
    expect(fourth?.row).toMatchObject({ blocks: 'a' });
    expect(fourth?.row).toMatchObject({ nextRetryAt: undefined });
    expect(fourth?.next).toMatchObject({ id: '1' });
    const second = await revive('2', undefined);
    expect(second?.row).toMatchObject({ nextRetryAt: 1500 });
    expect(second?.row).toMatchObject({ blocks: undefined });
  });

  test('what is discarded is gone, and the next of its scope goes', async () => {
    const store = await start();
    await store.add(scoped('1'), tabA, 1000);
    await store.add(scoped('2'), tabA, 1000);
    const claimed = await claim(store, 1);
    expect(await store.discard('1', 1200)).toMatchObject({
      row: { id: '1', state: 'sending' },
      next: { id: '2', nextRetryAt: 1200 },
    });
    expect(await store.discard('1', 1200)).toBeUndefined();
    expect(await store.recordEnd(claimed, tabA, done, 1300)).toBeUndefined();
  });

  test('an owner is forgotten when it has nothing to send, by itself alone', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    expect(await store.abandon(tabA)).toBe(false);
    await store.recordEnd(await claim(store, 1), tabA, dead(true), 1000);
    expect(await store.abandon(tabB)).toBe(true);
    expect(await store.owners()).toEqual([{ ...tabA, signedAt: 1000 }]);
    expect(await store.abandon(tabA)).toBe(true);
    expect(await store.owners()).toEqual([]);
  });

  test('of two that take over, the second finds out', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 5000);
    const b = { owner: 'a', token: 'b' };
    const c = { owner: 'a', token: 'c' };
    expect(await store.adopt(b, 'a1', 9000)).toBe(true);
    expect(await store.adopt(c, 'a1', 9000)).toBe(false);
    expect(await store.owners()).toEqual([{ ...b, signedAt: 9000 }]);
    expect(await store.sign(b, 9500)).toBe(true);
    expect(await store.sign(tabA, 9600)).toBe(false);
    expect(await store.owners()).toEqual([{ ...b, signedAt: 9500 }]);
    expect(await store.adopt({ owner: 'x', token: 'c' }, 'a1', 9000)).toBe(false);
  });

  test('nothing new is added for an owner that another has taken over', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    await store.adopt({ owner: 'a', token: 'a2' }, 'a1', 1000);
    expect(await store.add(row('2'), tabA, 1000)).toBe('lost');
    expect(await store.find('2')).toBeUndefined();
  });

  test('of what is due, each lane has a page of its own, and its own next time', async () => {
    const store = await start();
    for (const [id, lane, nextRetryAt] of [
      ['1', 'order', 1000],
      ['2', 'order', 1000],
      ['3', 'order', 9000],
      ['4', 'order', 5000],
      ['5', 'note', 1000],
      ['6', 'note 2', 7000],
    ] as const)
      await store.add(row(id, { lane, nextRetryAt }), tabA, 1000);
    await store.add(row('7', { lane: 'other', owner: 'b' }), tabB, 1000);
    const lanes = await store.due(tabA, 1000, 1);
    expect(lanes.toSorted((a, b) => a.lane.localeCompare(b.lane))).toEqual([
      { lane: 'note', due: [5], nextAt: undefined },
      { lane: 'note 2', due: [], nextAt: 7000 },
      { lane: 'order', due: [1], nextAt: 5000 },
    ]);
  });

  test('where the clock was set back while nobody looked, what waits is due, but for what the server has said', async () => {
    const store = await start();
    const times = { nextRetryAt: 960_000, createdAt: 800_000, lastAttemptAt: 900_000 };
    await store.add(row('1', times), tabA, 900_000);
    await store.add(row('2', { ...times, notBefore: 950_000 }), tabA, 900_000);
    await store.add(row('3', { nextRetryAt: 960_000, createdAt: 900_000 }), tabA, 900_000);
    await store.add(row('4', { nextRetryAt: 5000, lastAttemptAt: 900 }), tabA, 900_000);
    const next = { owner: 'a', token: 'a2' };
    expect(await store.adopt(next, 'a1', 1000)).toBe(true);
    expect(await store.due(next, 1000, 100)).toEqual([
      { lane: 'order', due: [1, 3], nextAt: 5000 },
    ]);
    expect(await store.find('2')).toMatchObject({ nextRetryAt: 61_000, notBefore: 51_000 });
  });

  test('a wait begins with the end of an attempt: the clock may have been ahead for as long as that lasted', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const told = { ...again(3_660_000), decidedAt: 3_600_000, notBefore: 3_660_000 };
    await store.recordEnd(await claim(store, 1), tabA, told, 3_600_000);
    // The clock is right again, and the tab is gone.
    const next = { owner: 'a', token: 'a2' };
    await store.adopt(next, 'a1', 100_000);
    expect(await store.find('1')).toMatchObject({ nextRetryAt: 160_000, notBefore: 160_000 });
  });

  test('what is kept only after the clock was set back is due', async () => {
    const store = await start();
    const late = { nextRetryAt: 960_000, createdAt: 900_000 };
    expect(await store.add(row('1', late), tabA, 1000)).toMatchObject({ nextRetryAt: 1000 });
  });

  test('an end that is written only after the clock was set back waits as long as it was decided', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const change = { ...again(960_000), decidedAt: 900_000, notBefore: 950_000 };
    const settled = await store.recordEnd(await claim(store, 1), tabA, change, 1000);
    expect(settled?.row).toMatchObject({ nextRetryAt: 61_000, notBefore: 51_000 });
  });

  test('what waits in a lane is drawn nearer, and no nearer than the server has said', async () => {
    const store = await start();
    const times = { nextRetryAt: 300_000 };
    await store.add(row('1', times), tabA, 1000);
    await store.add(row('2', { ...times, notBefore: 200_000 }), tabA, 1000);
    await store.add(row('3', { ...times, nextRetryAt: 3000 }), tabA, 1000);
    await store.add(row('4', { ...times, lane: 'note' }), tabA, 1000);
    await store.wake({ owner: 'a', token: 'of nobody' }, 'order', 1000, 4000, () => 0);
    expect(await store.find('1')).toMatchObject(times);
    await store.wake(tabA, 'order', 1000, 4000, () => 4000);
    const rows = await store.list(undefined, 0, 9);
    expect(rows.map(({ nextRetryAt }) => nextRetryAt)).toEqual([5000, 200_000, 3000, 300_000]);
  });

  test('all that waits in a lane is drawn nearer, however much it is and whatever the server keeps back', async () => {
    const store = await start();
    for (let n = 0; n < 330; n += 1) {
      const times = { nextRetryAt: 200_000 + 100 * n };
      const isKeptBack = n % 3 < 2;
      await store.add(
        row(`${n}`, { ...times, ...(isKeptBack && { notBefore: times.nextRetryAt }) }),
        tabA,
        1000,
      );
    }
    await store.wake(tabA, 'order', 1000, 4000, () => 4000);
    const rows = await store.list(undefined, 0, 1000);
    expect(rows.filter(({ notBefore }) => notBefore !== undefined)).toHaveLength(220);
    expect(
      rows.filter(({ notBefore, nextRetryAt }) => notBefore === undefined && nextRetryAt !== 5000),
    ).toEqual([]);
  });

  test('where the clock is set back, all that waits comes as soon as before', async () => {
    const store = await start();
    await store.add(row('1', { nextRetryAt: 50_000 }), tabA, 1000);
    await store.add(row('2', { nextRetryAt: 90_000, notBefore: 80_000 }), tabA, 1000);
    // It was 40 s, and is 10 s.
    await store.setBack({ owner: 'a', token: 'of nobody' }, 10_000, 30_000);
    expect(await store.find('1')).toMatchObject({ nextRetryAt: 50_000 });
    await store.setBack(tabA, 10_000, 30_000);
    expect(await store.find('1')).toMatchObject({ nextRetryAt: 20_000 });
    expect(await store.find('2')).toMatchObject({ nextRetryAt: 60_000, notBefore: 50_000 });
  });

  test('rows are counted by what becomes of them', async () => {
    const store = await start();
    await store.add(row('1', { createdAt: 500 }), tabA, 1000);
    await store.add(row('2'), tabA, 1000);
    await store.add(row('3', { nextRetryAt: 9000 }), tabA, 1000);
    await store.add(scoped('4'), tabA, 1000);
    await store.add(scoped('5'), tabA, 1000);
    await store.add(row('6'), tabA, 1000);
    await claim(store, 1);
    await store.recordEnd(await claim(store, 6), tabA, dead(true), 1000);
    // What is paused is being sent, as far as the store knows.
    const held = { reason: 'server-down', retryAt: undefined } as const;
    const holds = {
      ids: () => new Set(['1', '2', 'gone']),
      of: ({ id, state }: Pick<Row, 'id' | 'state'>) =>
        id === '1' && state === 'sending' ? held : undefined,
    };
    expect(await store.count(1000, { ids: () => new Set(), of: () => undefined })).toMatchObject({
      sending: 1,
      paused: 0,
    });
    expect(await store.count(1000, holds)).toEqual({
      due: 2,
      waiting: 2,
      sending: 0,
      paused: 1,
      dead: 1,
      oldestAt: 500,
    });
  });

  test('rows are listed a page at a time, of a state or of all', async () => {
    const store = await start();
    for (let id = 1; id <= 5; id += 1) await store.add(row(`${id}`), tabA, 1000);
    await claim(store, 3);
    const ids = async (...args: Parameters<RowStore['list']>): Promise<string[]> =>
      (await store.list(...args)).map(({ id }) => id);
    expect(await ids(undefined, 0, 2)).toEqual(['1', '2']);
    expect(await ids(undefined, 2, 9)).toEqual(['3', '4', '5']);
    expect(await ids('pending', 0, 3)).toEqual(['1', '2', '4']);
    expect(await ids('pending', 3, 3)).toEqual(['4', '5']);
    expect(await ids('sending', 0, 3)).toEqual(['3']);
    expect(await ids('done', 0, 3)).toEqual([]);
  });

  test('after a clear there is nothing, and nothing of before is written', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    const claimed = await claim(store, 1);
    await store.clear('one');
    expect(await store.list(undefined, 0, 9)).toEqual([]);
    expect(await store.owners()).toEqual([]);
    expect(await store.recordEnd(claimed, tabA, done, 1000)).toBeUndefined();
    expect(await store.recordRequest(claimed, tabA, { isUnkeyed: true })).toBe(false);
    expect(await store.claim(1, tabA, 1000)).toBe('lost');
  });

  test('a clear is done once, also when several tabs do it: what was added since stays', async () => {
    const store = await start();
    await store.add(row('1'), tabA, 1000);
    await store.clear('one');
    await store.add(row('2'), tabA, 1000);
    await store.clear('one');
    expect((await store.list(undefined, 0, 9)).map(({ id }) => id)).toEqual(['2']);
    await store.clear('two');
    expect(await store.list(undefined, 0, 9)).toEqual([]);
  });

  test('what cannot be stored is refused, and nothing is half there', async () => {
    const store = await start();
    await expect(store.add(row('1', { variables: () => {} }), tabA, 1000)).rejects.toThrow(
      'could not be cloned',
    );
    expect(await store.list(undefined, 0, 9)).toEqual([]);
  });
});

test('a row of a scope is taken with as few reads, however many older ones are being sent', async () => {
  const readsWith = async (older: number): Promise<readonly number[]> => {
    const store = new RowStore(await openIdb());
    for (let seq = 1; seq <= older; seq += 1) {
      const scope = `${seq}`;
      await store.add(row(`${seq}`, { scope, blocks: scope }), tabA, 1000);
      await claim(store, seq);
    }
    await store.add(scoped('last'), tabA, 1000);
    const spies = [
      vi.spyOn(IDBObjectStore.prototype, 'get'),
      vi.spyOn(IDBIndex.prototype, 'getAll'),
      vi.spyOn(IDBIndex.prototype, 'openCursor'),
      vi.spyOn(IDBCursor.prototype, 'continuePrimaryKey'),
      vi.spyOn(IDBCursor.prototype, 'continue'),
    ];
    await claim(store, older + 1);
    const reads = spies.map((spy) => spy.mock.calls.length);
    for (const spy of spies) spy.mockRestore();
    return reads;
  };
  // The owner and the row; the head of its scope; the first that is being sent, and on to the younger.
  expect(await readsWith(1)).toEqual([2, 1, 1, 1, 0]);
  expect(await readsWith(60)).toEqual([2, 1, 1, 1, 0]);
});

test('a transaction that is aborted says why, and leaves nothing', async () => {
  const backend = await openIdb();
  const store = new RowStore(backend);
  await store.add(row('1'), tabA, 1000);
  await expect(
    backend.write('strict', async (tx) => {
      await tx.remove(1);
      throw new RangeError('no');
    }),
  ).rejects.toEqual(new RangeError('no'));
  expect(await store.find('1')).toMatchObject({ id: '1' });
});
