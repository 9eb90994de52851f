import { describe, expect, test } from 'vitest';
import { createMemoryBackend } from './memory-backend.ts';
import { Ownership, type OwnershipContext } from '../../src/outbox/delivery/ownership.ts';
import { RowStore } from '../../src/outbox/store/row-store.ts';
import type { Fence } from '../../src/outbox/store/schema.ts';
import { untried } from '../../src/outbox/store/row.ts';
import { createLocks } from '../core/origin/locks.ts';
import { createVirtualClock } from '../core/origin/virtual-clock.ts';
import { replace } from './replace.ts';
import { settle } from './rig.ts';

const row = {
  ...untried,
  id: '',
  handler: 'order',
  lane: 'order',
  version: 1,
  variables: undefined,
  createdAt: 0,
  state: 'pending',
  nextRetryAt: 0,
} as const;

/** What a browser's Web Locks do. */
type World = 'well' | 'missing' | 'never granted';

/** Tabs of one browser that share a store, and its locks. */
function createTabs(world: World = 'well') {
  const clock = createVirtualClock();
  const store = new RowStore(createMemoryBackend());
  const browser = createLocks(setImmediate);
  const gained: string[] = [];
  const errors: unknown[] = [];
  let rows = 0;

  const lockOf = (tab: string) =>
    ({
      well: browser.open(tab).lock,
      missing: undefined,
      'never granted': () => () => {},
    })[world];
  const open = (tab: string, more: Partial<OwnershipContext> = {}): Ownership =>
    new Ownership({
      clock,
      store,
      lock: lockOf(tab),
      name: 'db',
      tokens: new Set(),
      onGain: () => void gained.push(tab),
      onError: (error) => void errors.push(error),
      ...more,
    });
  const add = (tab: Ownership): Promise<Fence> =>
    tab.use(async (fence) => {
      const { owner } = fence;
      rows += 1;
      await store.add({ ...row, id: `${rows}`, owner }, fence, clock.now());
      return fence;
    });
  /** Who has locks and who waits for them, as `holder, waiter`. */
  const locks = (): string[] => browser.queues().map((queue) => queue.join(', '));
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 10_000) {
      clock.advance(10_000);
      await settle();
    }
  };
  return { clock, store, open, add, locks, gained, errors, pass };
}

/** A tab that is frozen, and neither signs nor gives up what it has. */
const frozen = (store: RowStore): { store: RowStore } => ({
  store: replace(store, { sign: () => new Promise(() => {}) }),
});

const finish = async (store: RowStore, seq: number, fence: Fence): Promise<void> => {
  const claimed = await store.claim(seq, fence, 1);
  if (claimed === 'lost' || !claimed.row) throw new Error('not claimed');
  await store.recordEnd(claimed.row, fence, { kind: 'done', result: 1, isKept: false }, 1);
};

test('a tab without rows holds no lock and asks for none; with its first row it holds one', async () => {
  const { open, add, locks } = createTabs();
  const a = open('a');
  await a.refresh();
  expect(locks()).toEqual([]);
  const fence = await add(a);
  expect(await add(a)).toEqual(fence);
  await settle();
  expect(locks()).toEqual(['a']);
  expect(a.held()).toEqual([fence]);
});

test('the others wait for its lock; one of them takes over when it dies, the rest go on waiting', async () => {
  const { clock, store, open, add, locks, gained } = createTabs();
  const [a, b, c] = [open('a'), open('b'), open('c')] as const;
  const first = await add(a);
  await b.refresh();
  await b.refresh();
  await c.refresh();
  await settle();
  expect(locks()).toEqual(['a, b, c']);
  void a.dispose();
  await settle();
  expect(locks()).toEqual(['b, c']);
  expect(gained).toEqual(['b']);
  const [taken] = b.held();
  expect(taken?.owner).toBe(first.owner);
  expect(taken?.token).not.toBe(first.token);
  expect(await store.owners()).toEqual([{ ...taken, signedAt: clock.now() }]);
});

test('an owner with nothing left is given up, and nobody waits for it any more', async () => {
  const { store, open, add, locks } = createTabs();
  const [a, b] = [open('a'), open('b')] as const;
  const fence = await add(a);
  await b.refresh();
  expect(await a.tidy()).toEqual([]);
  await finish(store, 1, fence);
  expect(await a.tidy()).toEqual([fence]);
  await settle();
  expect(locks()).toEqual([]);
  expect(a.held()).toEqual([]);
  expect(b.held()).toEqual([]);
  expect(await store.owners()).toEqual([]);
});

test('a row that is added while its owner is given up has another owner, which the others can see', async () => {
  const { store, open, add, locks } = createTabs();
  const a = open('a');
  const before = await add(a);
  await finish(store, 1, before);
  const tidying = a.tidy();
  const after = await add(a);
  expect(await tidying).toEqual([before]);
  expect(after.owner).not.toBe(before.owner);
  expect(await store.owners()).toMatchObject([after]);
  expect(a.held()).toEqual([after]);
  await settle();
  expect(locks()).toEqual(['a']);
});

test('an owner that still has rows stays that of new rows', async () => {
  const { open, add } = createTabs();
  const a = open('a');
  const fence = await add(a);
  expect(await a.tidy()).toEqual([]);
  expect(await add(a)).toEqual(fence);
});

test('a page that is put away holds and asks for nothing, takes nothing, and has its rows again when it is back', async () => {
  const { store, open, add, locks, gained } = createTabs();
  const [a, b] = [open('a'), open('b')] as const;
  await add(b);
  const mine = await add(a);
  await a.refresh();
  await settle();
  void a.leave();
  await settle();
  expect(locks()).toEqual(['b']);
  expect(a.held()).toEqual([]);
  await a.refresh();
  expect(locks()).toEqual(['b']);
  // What is submitted while it is left is kept, and owned by nobody.
  const late = await add(a);
  expect(a.has(late)).toBe(false);
  expect(locks()).toEqual(['b']);
  await a.comeBack();
  await settle();
  expect(locks()).toEqual(['b, a', 'a', 'a']);
  expect(gained).toEqual(['a', 'a']);
  expect(a.held().map(({ owner }) => owner)).toEqual([mine.owner, late.owner]);
  expect((await store.owners()).map(({ owner }) => owner)).toContain(late.owner);
});

test('a page that is put away just as it takes over has not', async () => {
  const { store, open, add, locks, gained } = createTabs();
  const a = open('a');
  let isAdopting = (): void => {};
  const started = new Promise<void>((resolve) => (isAdopting = resolve));
  const slow = replace(store, {
    async adopt(...args) {
      isAdopting();
      await settle();
      return store.adopt(...args);
    },
  });
  const b = open('b', { store: slow });
  await add(a);
  await b.refresh();
  void a.dispose();
  await started;
  void b.leave();
  await settle();
  await settle();
  expect(b.held()).toEqual([]);
  expect(locks()).toEqual([]);
  expect(gained).toEqual([]);
});

test('where taking over fails, the lock goes to the next, and it is tried again later', async () => {
  const { clock, store, open, add, locks, gained, errors } = createTabs();
  let isBroken = true;
  const broken = replace(store, {
    adopt: (...args) => (isBroken ? Promise.reject(new Error('disk')) : store.adopt(...args)),
  });
  const [a, b] = [open('a'), open('b', { store: broken })] as const;
  await add(a);
  await b.refresh();
  void a.dispose();
  await settle();
  expect(errors).toEqual([new Error('disk')]);
  expect(locks()).toEqual([]);
  isBroken = false;
  clock.advance(20_000);
  await settle();
  expect(gained).toEqual(['b']);
  expect(locks()).toEqual(['b']);
});

test('after its end it takes nothing more, and new rows are refused', async () => {
  const { store, open, add, locks, clock } = createTabs();
  const a = open('a');
  await add(a);
  void a.dispose();
  await a.refresh();
  await expect(add(a)).rejects.toMatchObject({ name: 'DatabaseError', reason: 'lost' });
  expect(locks()).toEqual([]);
  expect(await store.list(undefined, 0, 9)).toHaveLength(1);
  expect(clock.pending()).toBe(0);
});

describe.each<World>(['well', 'missing', 'never granted'])('where locks are %s', (world) => {
  test('what a tab that dies has given up is taken at once', async () => {
    const { open, add, gained } = createTabs(world);
    const [a, b] = [open('a'), open('b')] as const;
    await add(a);
    void a.dispose();
    await settle();
    await b.refresh();
    await settle();
    expect(gained).toEqual(['b']);
    expect(b.held()).toHaveLength(1);
  });

  test('what a dead or frozen tab has is taken by one tab alone within two minutes, and stays there', async () => {
    const { store, open, add, gained, pass } = createTabs(world);
    const a = open('a', frozen(store));
    const [b, c] = [open('b'), open('c')] as const;
    const { owner } = await add(a);
    await b.refresh();
    await c.refresh();
    await pass(120_000);
    const takers = [b, c].filter((tab) => tab.isHeld(owner));
    expect(takers).toHaveLength(1);
    const [record] = await store.owners();
    expect(takers[0]?.held()).toMatchObject([{ owner, token: record?.token }]);
    const before = gained.length;
    await pass(300_000);
    expect(gained).toHaveLength(before);
  });

  test('a page that opens long after the last sign does not wait', async () => {
    const { clock, store, open, add, gained } = createTabs(world);
    await add(open('a', frozen(store)));
    clock.advance(100_001);
    const b = open('b');
    await b.refresh();
    expect(gained).toEqual(['b']);
  });

  test('a frozen tab that wakes gives up what another has taken', async () => {
    const { store, open, add, pass } = createTabs(world);
    let isFrozen = true;
    const a = open('a', {
      store: replace(store, {
        sign: (...args) => (isFrozen ? Promise.reject(new Error('frozen')) : store.sign(...args)),
      }),
    });
    const b = open('b');
    const fence = await add(a);
    await b.refresh();
    await pass(120_000);
    expect(b.isHeld(fence.owner)).toBe(true);
    isFrozen = false;
    await pass(20_000);
    expect(a.has(fence)).toBe(false);
    expect(await store.claim(1, fence, 1)).toBe('lost');
  });
});

test('a lock that is granted after another tab has taken over takes nothing from that tab', async () => {
  const { store, open, add, locks, gained, pass } = createTabs();
  const a = open('a', frozen(store));
  const [b, c] = [open('b'), open('c')] as const;
  await add(a);
  await c.refresh();
  await pass(40_000);
  await b.refresh();
  // c is the first to wait for the lock, and b the first to find the silence.
  void c.leave();
  await pass(120_000);
  expect(gained).toEqual(['b']);
  await c.comeBack();
  void a.dispose();
  await settle();
  await settle();
  expect(gained).toEqual(['b']);
  expect(locks()).toEqual(['b, c']);
});

describe.each<World>(['missing', 'never granted'])('where locks are %s', (world) => {
  test('both may look at once, and one has it', async () => {
    const { store, open, add, gained } = createTabs(world);
    const [a, b, c] = [open('a'), open('b'), open('c')] as const;
    await add(a);
    void a.leave();
    await settle();
    await Promise.all([b.refresh(), c.refresh()]);
    expect(gained).toHaveLength(1);
    expect([...b.held(), ...c.held()]).toMatchObject(
      (await store.owners()).map(({ owner, token }) => ({ owner, token })),
    );
  });

  test('a hidden tab whose timers ring once a minute keeps its rows', async () => {
    const { clock, open, add, gained, pass } = createTabs(world);
    let throttledUntil = 0;
    const throttled = {
      ...clock,
      setTimeout(callback: () => void) {
        throttledUntil = Math.max(throttledUntil, clock.now()) + 60_000;
        return clock.setTimeout(callback, throttledUntil - clock.now());
      },
    };
    const a = open('a', { clock: throttled });
    const b = open('b');
    const fence = await add(a);
    await b.refresh();
    await pass(1_200_000);
    expect(gained).toEqual([]);
    expect(a.held()).toEqual([fence]);
  });

  test.each([-3_600_000, -5000, 5000, 3_600_000])(
    'a clock that is set by %i ms takes nothing from a tab that lives',
    async (byMs) => {
      const { clock, open, add, gained, pass } = createTabs(world);
      const [a, b] = [open('a'), open('b')] as const;
      await add(a);
      await b.refresh();
      clock.jump(byMs);
      await b.refresh();
      await pass(300_000);
      expect(gained).toEqual([]);
      expect(a.held()).toHaveLength(1);
    },
  );

  test('a machine that has slept for hours has the same owner of everything afterwards', async () => {
    const { clock, open, add, gained, pass } = createTabs(world);
    const [a, b] = [open('a'), open('b')] as const;
    const fence = await add(a);
    await b.refresh();
    clock.sleep(7_200_000);
    await pass(300_000);
    expect(gained).toEqual([]);
    expect(a.has(fence)).toBe(true);
  });

  test('a tab goes on signing after the store has failed', async () => {
    const { clock, store, open, add, errors, pass } = createTabs(world);
    let isBroken = true;
    const a = open('a', {
      store: replace(store, {
        sign: (...args) => (isBroken ? Promise.reject(new Error('disk')) : store.sign(...args)),
      }),
    });
    await add(a);
    await pass(20_000);
    expect(errors).toEqual([new Error('disk')]);
    isBroken = false;
    await pass(20_000);
    expect((await store.owners())[0]?.signedAt).toBe(clock.now());
  });
});

test('what an earlier connection of the same page has left is taken without waiting for its silence', async () => {
  const { store, open, add, gained } = createTabs('never granted');
  const tokens = new Set<string>();
  const before = open('before', { ...frozen(store), tokens });
  await add(before);
  void before.dispose();
  const after = open('after', { tokens });
  await after.refresh();
  expect(gained).toEqual(['after']);
});
