import { describe, expect, test, vi } from 'vitest';
import {
  keepResultMs,
  keysOf,
  noLinks,
  refersTo,
  type RowLinks,
} from '../../src/outbox/store/linked.ts';
import { inMemory, joinRows, pageFence, PageRows } from '../../src/outbox/store/memory.ts';
import {
  laneOf,
  lacksAnswer,
  type NewRow,
  originOfLane,
  type Row,
  type SendingRow,
  setAside,
  splitLane,
  stateless,
  type Unplaced,
  unplace,
  untried,
} from '../../src/outbox/store/row.ts';
import { alsoChanged, RowStore } from '../../src/outbox/store/row-store.ts';
import type { Backend, Fence } from '../../src/outbox/store/schema.ts';
import { applyChange, type Change, replan, shift } from '../../src/outbox/store/transitions.ts';
import { newRow as row } from './new-row.ts';

const firstPlace = 2 ** 52;
const tabA: Fence = { owner: 'a', token: 'a1' };

const ofPage = (id: string, more: Partial<NewRow> = {}): Unplaced =>
  row(id, { owner: undefined, nextRetryAt: undefined, ...more } as Partial<NewRow>);
const scoped = { scope: 'cart', blocks: 'cart' };

/** A store of rows on a disk and in its page, which are one transaction. */
function createStore(links: RowLinks = noLinks) {
  const durabilities: string[] = [];
  let last = 0;
  const disk = inMemory(new Map(), new Map(), () => (last += 1));
  const page = new PageRows();
  const backend: Backend = {
    read: (work) => work(joinRows(disk, page.begin().tx, false)),
    async write(durability, work) {
      durabilities.push(durability);
      const { tx, complete } = page.begin();
      const result = await work(joinRows(disk, tx, durability === 'page'));
      complete();
      return result;
    },
  };
  return { store: new RowStore(backend, links), page, disk, durabilities };
}
type World = ReturnType<typeof createStore>;

async function claim({ store }: World, seq: number, fence: Fence, nowMs = 1000): Promise<Row> {
  const claimed = await store.claim(seq, fence, nowMs);
  if (claimed === 'lost' || !claimed.row) throw new Error(`${seq} was not claimed`);
  return claimed.row;
}

describe('a row of the page', () => {
  test('goes at once, or at its time, and behind those of its scope in the page', async () => {
    const { store } = createStore();
    const first = await store.addToPage(ofPage('1', scoped), 1000);
    expect(first).toMatchObject({ seq: firstPlace, owner: 'this page', nextRetryAt: 1000 });
    expect(await store.addToPage(ofPage('2', scoped), 1000)).toMatchObject({
      nextRetryAt: undefined,
    });
    expect(await store.addToPage(ofPage('3', { nextRetryAt: 5000 }), 1000)).toMatchObject({
      nextRetryAt: 5000,
    });
  });

  test('finds out each second whether one of its scope on the disk is through', async () => {
    const world = createStore();
    const { store } = world;
    await store.add(row('1', scoped), tabA, 1000);
    const behind = await store.addToPage(ofPage('2', scoped), 1000);
    expect(behind).toMatchObject({ nextRetryAt: 1000 });
    expect(await store.claim(behind.seq, pageFence, 1000)).toEqual({
      row: undefined,
      next: { ...behind, nextRetryAt: 2000, isInDoubt: false },
    });
    const done: Change = { kind: 'done', result: 1, isKept: false };
    await store.recordEnd(await claim(world, 1, tabA), tabA, done, 1500);
    expect(await claim(world, behind.seq, pageFence, 2000)).toMatchObject({ id: '2' });
  });

  test('is sent again by its page, and is no owner on the disk', async () => {
    const { store } = createStore();
    const { id } = await store.addToPage(ofPage('1', { nextRetryAt: 9000 }), 1000);
    expect(await store.revive(id, tabA, 2000)).toMatchObject({
      row: { owner: 'this page', nextRetryAt: 2000 },
    });
    expect(await store.owners()).toEqual([]);
    await store.clear('one');
    expect(await store.owners()).toEqual([]);
  });

  test('is drawn nearer, and moved where the clock is set back, without the disk', async () => {
    const { store, page, disk } = createStore();
    const onDisk = await store.add(row('0', { nextRetryAt: 9000 }), tabA, 1000);
    await store.addToPage(ofPage('1', { nextRetryAt: 9000 }), 1000);
    await store.wake(pageFence, 'order', 1000, 4000, () => 4000);
    expect(page.list()).toMatchObject([{ nextRetryAt: 5000 }]);
    await store.setBack(pageFence, 1000, 3000);
    expect(page.list()).toMatchObject([{ nextRetryAt: 2000 }]);
    expect(await disk.row(1)).toEqual(onDisk);
  });
});

describe('a row of the page moves to the disk', () => {
  const move = ({ store }: World, given: Row, known?: ReadonlySet<string>, fence = tabA) =>
    store.add({ ...given, owner: fence.owner } as Row, fence, 2000, known);

  test('with its owner there, and is in the page no longer', async () => {
    const world = createStore();
    const given = await world.store.addToPage(ofPage('1'), 1000);
    expect(await move(world, given)).toEqual({ ...given, seq: 1, owner: 'a' });
    expect(world.page.list()).toEqual([]);
    expect(await world.store.owners()).toEqual([{ ...tabA, signedAt: 2000 }]);
    await world.store.discard('1', 2000);
    expect(await move(world, given)).toBe(undefined);
  });

  test('without an owner, if it has none', async () => {
    const world = createStore();
    const { seq } = await world.store.addToPage(ofPage('1'), 1000);
    const dead: Change = {
      kind: 'dead',
      reason: 'refused',
      isBlocking: false,
      attempts: 1,
      isInDoubt: false,
      error: undefined,
    };
    const claimed = await claim(world, seq, pageFence);
    const { row: ended } = (await world.store.recordEnd(claimed, pageFence, dead, 1000)) ?? {};
    expect(await move(world, ended as Row)).toMatchObject({
      seq: 1,
      state: 'dead',
      owner: undefined,
    });
  });

  test('to that of an earlier page, if that has sent it before', async () => {
    const world = createStore();
    const given = await world.store.addToPage(ofPage('1'), 1000);
    const { seq } = (await world.disk.add(row('1', { variables: 'of before' })), { seq: 1 });
    expect(await move(world, given)).toMatchObject({ seq, variables: 'of before' });
    expect(world.page.list()).toEqual([]);
  });

  test.each<[string, Partial<NewRow>, Partial<NewRow>, boolean]>([
    ['while another one of its scope is sent from the page', scoped, scoped, false],
    ['while one of another scope is sent from the page', scoped, { scope: 'b', blocks: 'b' }, true],
    ['while others without a scope are sent from the page', {}, {}, true],
    ['while it refers to one that is in the page', { parents: ['other'] }, {}, false],
    ['where it refers to others', { parents: ['third'] }, {}, true],
  ])('or not: %s', async (_, own, others, isMoved) => {
    const world = createStore();
    const other = await world.store.addToPage(ofPage('other', others), 1000);
    await claim(world, other.seq, pageFence);
    const given = await world.store.addToPage(ofPage('1', own), 1000);
    const moved = await move(world, given);
    expect(moved !== undefined).toBe(isMoved);
    expect(world.page.list()).toHaveLength(isMoved ? 1 : 2);
  });

  test('not while it is sent itself, nor for an owner that is of another tab by then', async () => {
    const world = createStore();
    const given = await world.store.addToPage(ofPage('1'), 1000);
    await world.store.add(row('2'), tabA, 1000);
    expect(await move(world, given, undefined, { owner: 'a', token: 'a0' })).toBe('lost');
    await claim(world, given.seq, pageFence);
    expect(await move(world, given)).toBe(undefined);
    expect(world.page.list()).toHaveLength(1);
  });

  test('and goes where the disk was cleared in a way that its page does not know', async () => {
    const world = createStore();
    const { store } = world;
    await store.clear('one');
    expect(await store.clears()).toEqual(['one']);
    const [first, second] = [
      await store.addToPage(ofPage('1'), 1000),
      await store.addToPage(ofPage('2'), 1000),
    ];
    expect(await move(world, first, new Set(['one']))).toMatchObject({ id: '1' });
    expect(await move(world, second)).toBe('cleared');
    expect(world.page.list()).toEqual([]);
    expect(await store.find('2')).toBe(undefined);
  });

  test('of the clears, the last ten are known', async () => {
    const { store } = createStore();
    expect(await store.clears()).toEqual([]);
    for (let nth = 1; nth <= 11; nth += 1) await store.clear(`${nth}`);
    expect(await store.clears()).toEqual(['2', '3', '4', '5', '6', '7', '8', '9', '10', '11']);
  });
});

describe('a write', () => {
  const again: Change = {
    kind: 'again',
    nextRetryAt: 5000,
    decidedAt: 1000,
    attempts: 1,
    isInDoubt: false,
    error: undefined,
  };
  type Write = (world: World, seq: number, fence: Fence) => Promise<unknown>;
  const writes: readonly (readonly [name: string, onDisk: string, inPage: string, write: Write])[] =
    [
      ['of a claim', 'relaxed', 'page', (world, seq, fence) => world.store.claim(seq, fence, 1000)],
      [
        'of a request with a key',
        'relaxed',
        'page',
        async (world, seq, fence) =>
          world.store.recordRequest(await claim(world, seq, fence), fence, { attempts: 1 }),
      ],
      [
        'of a request without a key',
        'strict',
        'page',
        async (world, seq, fence) =>
          world.store.recordRequest(await claim(world, seq, fence), fence, { isUnkeyed: true }),
      ],
      [
        'of an end',
        'strict',
        'page',
        async (world, seq, fence) =>
          world.store.recordEnd(await claim(world, seq, fence), fence, again, 1000),
      ],
      ['of times', 'relaxed', 'page', ({ store }, _, fence) => store.setBack(fence, 0, 1000)],
      ['of a sign', 'relaxed', 'page', ({ store }, _, fence) => store.sign(fence, 1000)],
      [
        'of what follows',
        'relaxed',
        'page',
        async ({ store }) => store.follow((await store.find('1')) as Row, 1000),
      ],
      [
        'of a user who sends again',
        'strict',
        'strict',
        ({ store }, _, f) => store.revive('1', f, 1),
      ],
      ['of a user who discards', 'strict', 'strict', ({ store }) => store.discard('1', 1000)],
      ['of a result that is read', 'relaxed', 'relaxed', ({ store }) => store.acknowledge('1')],
      ['of results that are old', 'relaxed', 'relaxed', ({ store }) => store.sweep(1000)],
      ['of a clear', 'strict', 'strict', ({ store }) => store.clear('one')],
      ['of nothing, to read clears', 'relaxed', 'relaxed', ({ store }) => store.clears()],
      ['of a new owner', 'relaxed', 'relaxed', ({ store }) => store.adopt(tabA, 'a1', 1000)],
    ];

  test.each(writes)('%s is %s on the disk, and %s for a row of the page', async (...given) => {
    const [, onDisk, inPage, write] = given;
    const [disk, page] = [createStore(), createStore()];
    const { seq } = (await disk.store.add(row('1'), tabA, 1000)) as Row;
    await write(disk, seq, tabA);
    await write(page, (await page.store.addToPage(ofPage('1'), 1000)).seq, pageFence);
    expect(disk.durabilities[0]).toBe('strict');
    expect(page.durabilities[0]).toBe('page');
    expect([disk.durabilities.at(-1), page.durabilities.at(-1)]).toEqual([onDisk, inPage]);
  });
});

test('all rows come, a hundred at a time', async () => {
  const { store } = createStore();
  for (let nth = 0; nth < 250; nth += 1) await store.add(row(`${nth}`), tabA, 1000);
  const list = vi.spyOn(store, 'list');
  const ids: string[] = [];
  for await (const { id } of store.all('pending')) ids.push(id);
  expect(ids).toEqual(Array.from({ length: 250 }, (_, nth) => `${nth}`));
  expect(list.mock.calls.map(([, from, limit]) => [from, limit])).toEqual([
    [0, 100],
    [100, 100],
    [200, 100],
  ]);
  ids.length = 0;
  for await (const { id } of store.all('dead')) ids.push(id);
  expect(ids).toEqual([]);
});

test('more results than a page of them are forgotten at once', async () => {
  const { store, disk } = createStore();
  for (let nth = 0; nth < 150; nth += 1)
    await disk.add({ ...row(`${nth}`), ...stateless, state: 'done', doneAt: nth, result: 1 });
  expect(await store.sweep(149 + keepResultMs)).toBe(true);
  expect(await disk.count()).toBe(1);
  expect(await store.sweep(150 + keepResultMs)).toBe(false);
});

describe('rows that refer to the answer of another', () => {
  const follower = { ...row('9'), seq: 9 } as Row;
  const createLinked = (more: Partial<RowLinks> = {}) => {
    const follow = vi.fn<RowLinks['follow']>(async () => [follower]);
    return { ...createStore({ ...noLinks, follow, ...more }), follow };
  };
  const ended = { attempts: 1, isInDoubt: false, error: undefined };
  const dead: Change = { ...ended, kind: 'dead', reason: 'refused', isBlocking: false };
  const again: Change = { ...ended, kind: 'again', nextRetryAt: 5000, decidedAt: 1000 };
  const done: Change = { kind: 'done', result: 7, data: 7, isKept: true };

  test.each<[string, Change, { readonly data?: unknown } | undefined]>([
    ['a result', done, done],
    ['a dead letter', dead, undefined],
  ])('follow %s', async (_, change, answer) => {
    const world = createLinked();
    await world.store.add(row('1'), tabA, 1000);
    const claimed = await claim(world, 1, tabA);
    world.follow.mockClear();
    const settled = await world.store.recordEnd(claimed, tabA, change, 1000);
    expect(settled?.followers).toEqual([follower]);
    expect(world.follow.mock.calls.map(([, ...given]) => given)).toEqual([
      [settled?.row, 'a', 1000, answer],
    ]);
  });

  test.each<[string, Change]>([
    ['another attempt', again],
    ['a result that is not kept', { ...done, isKept: false }],
    ['a result that is read, and not needed', { ...done, isRead: true }],
  ])('do not follow %s', async (_, change) => {
    const world = createLinked();
    await world.store.add(row('1'), tabA, 1000);
    const claimed = await claim(world, 1, tabA);
    world.follow.mockClear();
    const settled = await world.store.recordEnd(claimed, tabA, change, 1000);
    expect(settled).not.toHaveProperty('followers');
    expect(world.follow).not.toHaveBeenCalled();
  });

  test('are told of with the next of its scope', () => {
    const one = { ...row('1'), seq: 1 } as Row;
    expect(alsoChanged({ row: one, next: follower, followers: [one] })).toEqual([follower, one]);
    expect(alsoChanged({ row: one, next: follower })).toEqual([follower]);
    expect(alsoChanged({ row: one, next: undefined, followers: [one] })).toEqual([one]);
    expect(alsoChanged({ row: one, next: undefined })).toEqual([]);
  });

  test('are not kept as they are where that answer has come meanwhile', async () => {
    const isOutdated = vi.fn<RowLinks['isOutdated']>(async () => true);
    const { store } = createLinked({ isOutdated });
    expect(await store.add(row('1'), tabA, 1000, undefined, false)).toBe('outdated');
    expect(await store.find('1')).toBe(undefined);
    expect(await store.add(row('1'), tabA, 1000)).toMatchObject({ id: '1' });
    expect(isOutdated).toHaveBeenCalledTimes(1);
    isOutdated.mockResolvedValue(false);
    expect(await store.add(row('2'), tabA, 1000, undefined, false)).toMatchObject({ id: '2' });
  });

  test('need its result after it was read; what is not done has none', async () => {
    const keepAnswer = vi.fn<RowLinks['keepAnswer']>(
      (known) => ({ ...known, isRead: true }) as Row,
    );
    const { store, disk } = createLinked({ keepAnswer });
    const result = { ...stateless, state: 'done', doneAt: 1000, result: 1 } as const;
    await disk.add({ ...row('1'), ...result });
    await store.acknowledge('1');
    expect(await store.find('1')).toMatchObject({ state: 'done', isRead: true });
    await store.add(row('2'), tabA, 1000);
    await store.discard('2', 1000);
    expect(await store.find('2')).toBe(undefined);
    expect(keepAnswer).toHaveBeenCalledTimes(1);
  });

  test('are brought up to date after a change of the row alone', async () => {
    const { store } = createLinked();
    const first = (await store.add(row('1', scoped), tabA, 1000)) as Row;
    expect(await store.follow(first, 2000)).toEqual({
      row: first,
      next: first,
      followers: [follower],
    });
  });
});

test('a lane is a handler and, once that is known, an origin', () => {
  const lane = laneOf('order', 'https://a.example');
  expect(splitLane(lane)).toEqual(['order', 'https://a.example']);
  expect(originOfLane(lane)).toBe('https://a.example');
  expect([laneOf('order'), originOfLane('order')]).toEqual(['order', undefined]);
});

test('only two reasons are that an answer is missing', () => {
  const reasons = ['parent-dead', 'answer-missing', 'refused', undefined] as const;
  expect(reasons.map(lacksAnswer)).toEqual([true, true, false, false]);
});

test('a row for another database has neither a place nor an owner', () => {
  expect(unplace({ ...row('1'), seq: 7 })).toEqual({ ...row('1'), owner: undefined });
  expect('seq' in unplace({ ...row('1'), seq: 7 })).toBe(false);
});

test.each<[string, Partial<Row>, object]>([
  [
    'nothing is known',
    {},
    { id: 'unreadable 7', handler: '', lane: '', state: 'dead', scope: undefined },
  ],
  [
    'it held up a scope',
    { id: '1', handler: 'order', blocks: 'cart' },
    { id: '1', handler: 'order', lane: 'order', state: 'dead', scope: 'cart', blocks: undefined },
  ],
])(
  'a row that cannot be read is a dead letter, which holds nothing up, where %s',
  (_, known, left) => {
    expect(setAside(7, known, 5000)).toEqual({
      ...untried,
      ...stateless,
      seq: 7,
      version: 1,
      variables: undefined,
      createdAt: 5000,
      isGone: true,
      deadReason: 'unreadable',
      isInDoubt: true,
      lastError: { name: 'Error', message: 'It cannot be read any more.' },
      ...left,
    });
  },
);

test('a result that cannot be read stays a result', () => {
  const left = setAside(7, { id: '1', doneAt: 4000 }, 5000);
  expect(left).toMatchObject({ id: '1', state: 'done', doneAt: 4000, isGone: true });
  expect(left).toMatchObject({ deadReason: undefined, isInDoubt: false });
});

test('a row that was not tried, and one without a state, have nothing from before', () => {
  const { attempts, claims, timeouts, conflicts, redrives, ...rest } = untried;
  expect([attempts, claims, timeouts, conflicts, redrives]).toEqual([0, 0, 0, 0, 0]);
  expect(rest).toEqual({
    lastAttemptAt: undefined,
    lastError: undefined,
    isInDoubt: false,
    isUnkeyed: false,
    isRestored: false,
    isRedriven: false,
    steps: undefined,
    isGone: false,
  });
  const names = ['owner', 'blocks', 'nextRetryAt', 'notBefore', 'waitsFor', 'deadReason'];
  expect(Object.entries(stateless)).toEqual(
    [...names, 'doneAt', 'result', 'isRead'].map((name) => [name, undefined]),
  );
});

describe('rows that refer to others', () => {
  test('are known by all keys of those', () => {
    expect(keysOf({ id: '1', formerIds: ['0'] })).toEqual(['1', '0']);
    expect(keysOf({ id: '1' })).toEqual(['1']);
    expect(refersTo({ parents: ['0'] }, { id: '1', formerIds: ['0'] })).toBe(true);
    expect(refersTo({ parents: ['2'] }, { id: '1', formerIds: ['0'] })).toBe(false);
    expect(refersTo({}, { id: '1' })).toBe(false);
  });

  test('wait for a tab that can fill them in, where this one cannot; nothing follows', async () => {
    const { disk } = createStore();
    const waiting = row('1', { parents: ['0'] });
    expect(await noLinks.hold(disk, waiting)).toEqual({ ...waiting, nextRetryAt: undefined });
    expect(await noLinks.hold(disk, row('1'))).toBe(undefined);
    expect(await noLinks.isOutdated(disk, waiting)).toBe(false);
    expect(await noLinks.follow(disk, { ...waiting, seq: 1 }, 'a', 1000)).toEqual([]);
    expect(noLinks.keepAnswer({ ...waiting, seq: 1 })).toBe(undefined);
  });

  test('results are forgotten after ten minutes, so many at once', async () => {
    const { disk } = createStore();
    for (const [at, doneAt] of [1000, 1001, 1002, 2000].entries())
      await disk.add({ ...row(`${at}`), ...stateless, state: 'done', doneAt, result: 1 });
    const nowMs = 1003 + keepResultMs;
    expect(keepResultMs).toBe(600_000);
    expect(await noLinks.sweep(disk, nowMs, 2)).toBe(2);
    expect(await noLinks.sweep(disk, nowMs, 2)).toBe(1);
    expect(await noLinks.sweep(disk, 2000 + keepResultMs, 2)).toBe(0);
    expect(await disk.count('doneAt')).toBe(1);
  });
});

describe('the times of a row', () => {
  const planned = { ...row('1'), seq: 1, nextRetryAt: 5000, lastAttemptAt: 3000 } as Row;

  test.each<[string, Partial<Row>, number, object]>([
    [
      'that has an owner',
      { notBefore: 4000 },
      -1000,
      { nextRetryAt: 4000, notBefore: 3000, lastAttemptAt: 2000 },
    ],
    [
      'that was never tried',
      { lastAttemptAt: undefined },
      500,
      { nextRetryAt: 5500, lastAttemptAt: undefined, notBefore: undefined },
    ],
    ['that waits for others', { nextRetryAt: undefined }, 500, { nextRetryAt: 500 }],
    ['that no tab sends', { owner: undefined }, -1000, { nextRetryAt: 5000, lastAttemptAt: 3000 }],
  ])('are moved together: of one %s', (_, more, byMs, moved) => {
    expect(shift({ ...planned, ...more } as Row, byMs)).toMatchObject(moved);
  });

  test.each<[string, Partial<Row>, number, object]>([
    ['that has begun', {}, 3000, planned],
    ['that begins in the future', {}, 2999, { ...planned, nextRetryAt: 2999 }],
    [
      'that the server has asked for, and begins in the future',
      { notBefore: 4000 },
      1000,
      { ...planned, nextRetryAt: 3000, notBefore: 2000, lastAttemptAt: 1000 },
    ],
    [
      'that begins with its submission',
      { lastAttemptAt: undefined, createdAt: 4000 },
      3999,
      { ...planned, lastAttemptAt: undefined, createdAt: 4000, nextRetryAt: 3999 },
    ],
    [
      'that is that for others',
      { nextRetryAt: undefined },
      1000,
      { ...planned, nextRetryAt: undefined },
    ],
  ])('a wait %s', (_, more, nowMs, moved) => {
    expect(replan({ ...planned, ...more } as Row, nowMs)).toEqual(moved);
  });
});

describe('the end of an attempt', () => {
  const sending = {
    ...row('1', scoped),
    seq: 1,
    state: 'sending',
    isUnkeyed: true,
    timeouts: 2,
    conflicts: 3,
    steps: ['before'],
    parents: ['0'],
    thing: 'cart 1',
    lastError: { name: 'Error', message: 'before' },
  } as unknown as SendingRow;
  const again = {
    kind: 'again',
    nextRetryAt: 9000,
    decidedAt: 4000,
    attempts: 1,
    isInDoubt: true,
    error: undefined,
  } as const satisfies Change;
  const { lastError } = sending;

  test.each<[string, Change, number, object]>([
    [
      'is another one',
      again,
      4000,
      {
        state: 'pending',
        owner: 'a',
        blocks: 'cart',
        nextRetryAt: 9000,
        notBefore: undefined,
        lane: 'order',
        attempts: 1,
        isInDoubt: true,
        isUnkeyed: false,
        timeouts: 2,
        conflicts: 0,
        lastError,
        steps: ['before'],
        lastAttemptAt: 4000,
      },
    ],
    [
      'is another one, in another lane, with all that is known',
      {
        ...again,
        lane: 'other',
        notBefore: 8000,
        timeouts: 3,
        conflicts: 1,
        steps: ['now'],
        isUntouched: true,
        error: { name: 'Error', message: 'now' },
      },
      4000,
      {
        lane: 'other',
        notBefore: 8000,
        timeouts: 3,
        conflicts: 1,
        steps: ['now'],
        isUnkeyed: true,
        lastError: { name: 'Error', message: 'now' },
      },
    ],
    [
      'is another one, which is decided by a clock that was set back since',
      { ...again, notBefore: 8000 },
      1000,
      { nextRetryAt: 6000, notBefore: 5000, lastAttemptAt: 1000 },
    ],
    [
      'is a dead letter that holds its scope up',
      {
        kind: 'dead',
        reason: 'refused',
        isBlocking: true,
        attempts: 1,
        isInDoubt: false,
        error: undefined,
      },
      4000,
      {
        state: 'dead',
        deadReason: 'refused',
        blocks: 'cart',
        owner: undefined,
        nextRetryAt: undefined,
        isUnkeyed: true,
        lastAttemptAt: 4000,
      },
    ],
    [
      'is a dead letter that holds nothing up',
      {
        kind: 'dead',
        reason: 'superseded',
        isBlocking: false,
        attempts: 1,
        isInDoubt: false,
        error: undefined,
      },
      4000,
      { state: 'dead', deadReason: 'superseded', blocks: undefined },
    ],
    [
      'is the wait for another version',
      { kind: 'too-new' },
      4000,
      {
        state: 'pending',
        waitsFor: 'other-version',
        blocks: 'cart',
        owner: undefined,
        nextRetryAt: undefined,
        attempts: 0,
      },
    ],
    [
      'is a result that is kept, and nothing more of it',
      { kind: 'done', result: 7, isKept: true, isRead: true },
      4000,
      {
        state: 'done',
        doneAt: 4000,
        result: 7,
        isRead: true,
        owner: undefined,
        blocks: undefined,
        isInDoubt: false,
        lastError: undefined,
        steps: undefined,
        parents: undefined,
        thing: undefined,
      },
    ],
  ])('%s', (_, change, nowMs, ended) => {
    expect(applyChange(sending, change, nowMs)).toMatchObject(ended);
  });

  test('is a result of which nothing is kept', () => {
    expect(applyChange(sending, { kind: 'done', result: 7, isKept: false }, 4000)).toBe(undefined);
  });
});
