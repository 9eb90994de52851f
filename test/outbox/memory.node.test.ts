import { describe, expect, test, vi } from 'vitest';
import {
  inMemory,
  isInPage,
  joinRows,
  noDisk,
  pageFence,
  PageRows,
} from '../../src/outbox/store/memory.ts';
import type { NewRow, Row } from '../../src/outbox/store/row.ts';
import type { Index, Key, Range, Transaction } from '../../src/outbox/store/schema.ts';
import { after } from '../../src/outbox/store/transitions.ts';
import { newRow as row } from './new-row.ts';

const firstPlace = 2 ** 52;

const ids = (rows: readonly Pick<Row, 'id'>[]): readonly string[] => rows.map(({ id }) => id);

/** Rows in memory, whose places begin here. */
async function createRows(firstSeq: number, ...rows: readonly NewRow[]): Promise<Transaction> {
  let last = firstSeq - 1;
  const tx = inMemory(new Map(), new Map(), () => (last += 1));
  for (const one of rows) await tx.add(one);
  return tx;
}

describe('rows in memory', () => {
  test('are in the order of an index, and then of their places', async () => {
    const tx = await createRows(
      1,
      row('a', { nextRetryAt: 3000 }),
      row('b', { nextRetryAt: 2000 }),
      row('c', { nextRetryAt: 3000 }),
      row('d', { owner: 'b', nextRetryAt: 1000 }),
      row('e', { nextRetryAt: undefined }),
      row('f', { nextRetryAt: 20_000 }),
    );
    const all: Range = [['a'], ['a', []]];
    expect(ids(await tx.rows('due', all))).toEqual(['b', 'a', 'c', 'f']);
    expect(ids(await tx.rows('due', all, 2))).toEqual(['b', 'a']);
    expect(await tx.places('due', all)).toEqual([2, 1, 3, 6]);
    expect(await tx.places('due', all, 3)).toEqual([2, 1, 3]);
    expect(await tx.count('due', all)).toBe(4);
    expect(await tx.firstKey('due', all)).toEqual(['a', 2000]);
    expect(await tx.firstKey('due', [['z'], ['z', []]])).toBe(undefined);
    expect(await tx.firstKey('thing', [''])).toBe(undefined);
    expect(await tx.count()).toBe(6);
    expect(await tx.count('due')).toBe(5);
  });

  test.each<[string, Range, readonly string[]]>([
    ['one key', [['a', 2000]], ['b']],
    [
      'two keys, and all between them',
      [
        ['a', 2000],
        ['a', 3000],
      ],
      ['b', 'c'],
    ],
    ['all after a key', after(['a'], 2000), ['c', 'd']],
    ['all after a key, of which there is none', after(['a'], 4000), []],
    ['a list, which comes before all that begin with it', [['a'], ['a', 1000]], ['a']],
    ['a list alone, which none of them is', [['a']], []],
    [
      'texts, which come after numbers',
      [
        ['a', ''],
        ['a', []],
      ],
      [],
    ],
    ['all of an owner', [['a'], ['b']], ['a', 'b', 'c', 'd']],
  ])('are found by %s', async (_, range, found) => {
    const times = [1000, 2000, 3000, 4000];
    const tx = await createRows(
      1,
      ...times.map((nextRetryAt, at) => row('abcd'.charAt(at), { nextRetryAt })),
    );
    expect(ids(await tx.rows('due', range))).toEqual(found);
  });

  test.each<[Index, Key, readonly string[]]>([
    ['parents', 'one', ['a', 'b']],
    ['parents', 'two', ['a']],
    ['parents', 'three', []],
    ['formerIds', 'old', ['b']],
    ['id', 'a', ['a']],
  ])('are found under each key of a list: %s, %s', async (index, key, found) => {
    const tx = await createRows(
      1,
      row('a', { parents: ['one', 'two'] }),
      row('b', { parents: ['one'], formerIds: ['older', 'old'] }),
      row('c'),
    );
    expect(ids(await tx.rows(index, [key]))).toEqual(found);
  });

  test('come a page at a time, of a key or all, after a place', async () => {
    const states = ['pending', 'sending', 'pending', 'pending'] as const;
    const tx = await createRows(1, ...states.map((state, at) => row(`${at + 1}`, { state })));
    expect(ids(await tx.page('state', 'pending', 0, 9))).toEqual(['1', '3', '4']);
    expect(ids(await tx.page('state', 'pending', 1, 1))).toEqual(['3']);
    expect(ids(await tx.page('state', undefined, 1, 2))).toEqual(['2', '3']);
  });
});

describe('the rows of a page', () => {
  test('change once their transaction is complete, and have places after those on a disk', async () => {
    const rows = new PageRows();
    expect(rows.isEmpty()).toBe(true);
    const { tx, complete } = rows.begin();
    expect(await tx.add(row('a'))).toBe(firstPlace);
    expect(await tx.add(row('b'))).toBe(firstPlace + 1);
    expect(rows.list()).toEqual([]);
    complete();
    expect(ids(rows.list())).toEqual(['a', 'b']);
    expect(rows.isEmpty()).toBe(false);
    expect(rows.list().map(isInPage)).toEqual([true, true]);
    expect(isInPage({ seq: firstPlace - 1 })).toBe(false);
    const next = rows.begin();
    expect(await next.tx.add(row('c'))).toBe(firstPlace + 2);
    await next.tx.remove(firstPlace);
    next.complete();
    expect(ids(rows.list())).toEqual(['b', 'c']);
    rows.clear();
    expect(rows.isEmpty()).toBe(true);
  });

  test('that two transactions change at once are those that each has changed', async () => {
    const rows = new PageRows();
    const first = rows.begin();
    await first.tx.add(row('a'));
    await first.tx.add(row('b'));
    first.complete();
    const [one, other] = [rows.begin(), rows.begin()];
    const [a, b] = rows.list() as [Row, Row];
    await one.tx.put({ ...a, lane: 'one' });
    await other.tx.put({ ...b, lane: 'other' });
    await other.tx.add(row('c'));
    one.complete();
    other.complete();
    expect(rows.list().map(({ lane }) => lane)).toEqual(['one', 'other', 'order']);
  });

  test('are in the order of their places, also where the later transaction is complete first', async () => {
    const rows = new PageRows();
    const [one, other] = [rows.begin(), rows.begin()];
    await one.tx.add(row('a'));
    await other.tx.add(row('b'));
    other.complete();
    one.complete();
    expect(ids(await rows.begin().tx.rows('handler', ['order']))).toEqual(['a', 'b']);
  });

  test('that were cleared meanwhile do not come back, and new ones do', async () => {
    const rows = new PageRows();
    const first = rows.begin();
    await first.tx.add(row('a'));
    first.complete();
    const { tx, complete } = rows.begin();
    await tx.put({ ...(rows.list()[0] as Row), lane: 'late' });
    await tx.add(row('b'));
    rows.clear();
    complete();
    expect(ids(rows.list())).toEqual(['b']);
  });
});

test.each<[string, (disk: Transaction) => Promise<unknown>, unknown, boolean]>([
  ['rows', (disk) => disk.rows('due', [['a']]), [], false],
  ['places', (disk) => disk.places('due', [['a']]), [], false],
  ['a page', (disk) => disk.page('state', undefined, 0, 9), [], false],
  ['owners', (disk) => disk.owners(), [], false],
  ['a count', (disk) => disk.count('due', [['a']]), 0, false],
  ['a key', (disk) => disk.firstKey('due', [['a']]), undefined, false],
  ['a row by its id', (disk) => disk.rows('id', ['1']), [], true],
  ['a row by its place', (disk) => disk.row(1), undefined, true],
  ['an owner', (disk) => disk.owner('a'), undefined, true],
  ['a write', (disk) => disk.put({ ...row('1'), seq: 1 }), undefined, true],
])('a disk that is not open has none where it is asked for %s', async (_, ask, said, isRefused) => {
  const refuse = vi.fn<() => void>();
  expect(await ask(noDisk(refuse))).toEqual(said);
  expect(refuse).toHaveBeenCalledTimes(isRefused ? 1 : 0);
});

describe('the rows on the disk and those of the page together', () => {
  const inPage = { owner: pageFence.owner };

  async function join({ isOfPage = false } = {}) {
    const disk = await createRows(
      1,
      row('d1', { nextRetryAt: 3000, thing: 'cart' }),
      row('d2', { nextRetryAt: 1000 }),
    );
    const page = await createRows(
      firstPlace,
      row('p1', { ...inPage, nextRetryAt: 2000, thing: 'cart' }),
      row('p2', { ...inPage, nextRetryAt: 4000 }),
    );
    return { disk, page, tx: joinRows(disk, page, isOfPage) };
  }

  test('are one list by their places, a page at a time', async () => {
    const { tx } = await join();
    expect([(await tx.row(1))?.id, (await tx.row(firstPlace))?.id]).toEqual(['d1', 'p1']);
    expect(ids(await tx.page('state', undefined, 0, 9))).toEqual(['d1', 'd2', 'p1', 'p2']);
    expect(ids(await tx.page('state', undefined, 1, 2))).toEqual(['d2', 'p1']);
    expect(ids(await tx.page('state', 'pending', firstPlace, 9))).toEqual(['p2']);
    expect(await tx.count()).toBe(4);
  });

  test('are in the order of an index, and then of their places', async () => {
    const { tx } = await join();
    const all: Range = [[''], [[]]];
    expect(ids(await tx.rows('due', all))).toEqual(['d2', 'd1', 'p1', 'p2']);
    expect(ids(await tx.rows('thing', ['cart'], 1))).toEqual(['d1']);
    expect(ids(await tx.rows('handler', ['order'], 3))).toEqual(['d1', 'd2', 'p1']);
    expect(await tx.places('thing', ['cart'])).toEqual([1, firstPlace]);
    expect(await tx.count('thing', ['cart'])).toBe(2);
  });

  test.each<[Range, Key | undefined]>([
    [
      [['a'], ['a', []]],
      ['a', 1000],
    ],
    [
      [[inPage.owner], [inPage.owner, []]],
      [inPage.owner, 2000],
    ],
    [
      [[''], [[]]],
      ['a', 1000],
    ],
    [[['z'], ['z', []]], undefined],
  ])('have a first key: of %j it is %j', async (range, key) => {
    const { disk, page, tx } = await join();
    expect(await tx.firstKey('due', range)).toEqual(key);
    expect(await joinRows(page, disk, false).firstKey('due', range)).toEqual(key);
  });

  test('need no disk for a row of the page that is known by its id', async () => {
    const { page } = await join();
    const refuse = vi.fn<() => void>();
    const tx = joinRows(noDisk(refuse), page, false);
    expect(ids(await tx.rows('id', ['p1'], 1))).toEqual(['p1']);
    expect(ids(await tx.page('state', undefined, firstPlace - 1, 9))).toEqual(['p1', 'p2']);
    expect(refuse).not.toHaveBeenCalled();
    expect(await tx.rows('id', ['d1'], 1)).toEqual([]);
    expect(refuse).toHaveBeenCalledTimes(1);
  });

  test('are written where they are, and new ones where their owner is', async () => {
    const { disk, page, tx } = await join();
    for (const seq of [1, firstPlace]) await tx.put({ ...((await tx.row(seq)) as Row), lane: 'b' });
    expect([(await disk.row(1))?.lane, (await page.row(firstPlace))?.lane]).toEqual(['b', 'b']);
    expect(await tx.add(row('d3'))).toBe(3);
    expect(await tx.add(row('p3', inPage))).toBe(firstPlace + 2);
    for (const seq of [2, firstPlace + 1]) await tx.remove(seq);
    expect(ids(await disk.page('state', undefined, 0, 9))).toEqual(['d1', 'd3']);
    expect(ids(await page.page('state', undefined, 0, 9))).toEqual(['p1', 'p3']);
  });

  test('in a transaction of the page, those on the disk do not change', async () => {
    const { disk, page, tx } = await join({ isOfPage: true });
    for (const seq of [1, firstPlace]) await tx.put({ ...((await tx.row(seq)) as Row), lane: 'b' });
    expect([(await disk.row(1))?.lane, (await page.row(firstPlace))?.lane]).toEqual(['order', 'b']);
  });

  test('have the owners on the disk, and the page, which never signs', async () => {
    const { disk, tx } = await join();
    const [a, b] = ['a', 'b'].map((owner) => ({ owner, token: owner, signedAt: 7 }));
    if (!a || !b) throw new Error('none');
    await tx.putOwner(a);
    await tx.putOwner(b);
    await tx.removeOwner('b');
    const own = { owner: 'this page', token: 'this page', signedAt: 0 };
    expect(await tx.owners()).toEqual([a, own]);
    expect([await tx.owner('a'), await tx.owner('this page')]).toEqual([a, own]);
    expect(await disk.owners()).toEqual([a]);
    await tx.clear();
    expect(ids(await tx.page('state', undefined, 0, 9))).toEqual(['p1', 'p2']);
    expect(await disk.owners()).toEqual([]);
  });
});
