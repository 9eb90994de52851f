import { expect, test } from 'vitest';
import { createMemoryBackend } from '../../src/outbox/store/backends.ts';
import { createOwnership, type Ownership } from '../../src/outbox/delivery/ownership.ts';
import { createRowStore } from '../../src/outbox/store/create-row-store.ts';
import type { RowStore } from '../../src/outbox/store/row-store.ts';
import type { Fence, NewRow } from '../../src/outbox/store/schema.ts';
import { createLocks } from '../origin/locks.ts';
import { createVirtualClock } from '../origin/virtual-clock.ts';
import { settle } from './rig.ts';

const row: NewRow = {
  id: '',
  schema: 1,
  handler: 'order',
  lane: 'order',
  version: 1,
  variables: undefined,
  createdAt: 0,
  submitter: '',
  state: 'pending',
  owner: '',
  attempts: 0,
  isInDoubt: false,
  nextRetryAt: 0,
};

/** Tabs of one browser that share a store, and its locks if it has any. */
function createTabs({ hasLocks }: { readonly hasLocks: boolean }) {
  const clock = createVirtualClock();
  const store = createRowStore(createMemoryBackend());
  const browser = createLocks(setImmediate);
  const gained: string[] = [];
  const errors: unknown[] = [];
  let rows = 0;

  const open = (tab: string, of: RowStore = store): Ownership =>
    createOwnership({
      clock,
      store: of,
      lock: hasLocks ? browser.open(tab).lock : undefined,
      name: 'db',
      onGain: () => void gained.push(tab),
      onError: (error) => void errors.push(error),
    });
  const add = (tab: Ownership): Promise<Fence> =>
    tab.use(async (fence, leaseUntil) => {
      const { owner } = fence;
      rows += 1;
      await store.add({ ...row, id: `${rows}`, owner, liveOwner: owner }, fence, leaseUntil);
      return fence;
    });
  /** Who has locks and who waits for them, as `holder, waiter`. */
  const locks = (): string[] => browser.queues().map((queue) => queue.join(', '));
  return { clock, store, open, add, locks, gained, errors };
}

const finish = async (store: RowStore, seq: number, fence: Fence): Promise<void> => {
  const claimed = await store.claim(seq, fence, 1);
  if (claimed === 'lost' || !claimed.row) throw new Error('not claimed');
  await store.settle(claimed.row, fence, { kind: 'done', result: 1, isKept: false }, 1);
};

test('a tab without rows holds no lock and asks for none; with its first row it holds one', async () => {
  const { open, add, locks } = createTabs({ hasLocks: true });
  const a = open('a');
  await a.look();
  expect(locks()).toEqual([]);
  const fence = await add(a);
  expect(await add(a)).toEqual(fence);
  await settle();
  expect(locks()).toEqual(['a']);
  expect(a.held()).toEqual([fence]);
});

test('the others wait for its lock; one of them takes over when it dies, the rest go on waiting', async () => {
  const { store, open, add, locks, gained } = createTabs({ hasLocks: true });
  const [a, b, c] = [open('a'), open('b'), open('c')] as const;
  const first = await add(a);
  await b.look();
  await b.look();
  await c.look();
  await settle();
  expect(locks()).toEqual(['a, b, c']);
  a.dispose();
  await settle();
  expect(locks()).toEqual(['b, c']);
  expect(gained).toEqual(['b']);
  const [taken] = b.held();
  expect(taken?.owner).toBe(first.owner);
  expect(taken?.token).not.toBe(first.token);
  expect(await store.owners()).toEqual([taken]);
});

test('an owner with nothing left is given up, and nobody waits for it any more', async () => {
  const { store, open, add, locks } = createTabs({ hasLocks: true });
  const [a, b] = [open('a'), open('b')] as const;
  const fence = await add(a);
  await b.look();
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
  const { store, open, add, locks } = createTabs({ hasLocks: true });
  const a = open('a');
  const before = await add(a);
  await finish(store, 1, before);
  const tidying = a.tidy();
  const after = await add(a);
  expect(await tidying).toEqual([before]);
  expect(after.owner).not.toBe(before.owner);
  expect(await store.owners()).toEqual([after]);
  expect(a.held()).toEqual([after]);
  await settle();
  expect(locks()).toEqual(['a']);
});

test('an owner that still has rows stays that of new rows', async () => {
  const { open, add } = createTabs({ hasLocks: true });
  const a = open('a');
  const fence = await add(a);
  expect(await a.tidy()).toEqual([]);
  expect(await add(a)).toEqual(fence);
});

test('a page that is put away holds and asks for nothing, takes nothing, and has its rows again when it is back', async () => {
  const { store, open, add, locks, gained } = createTabs({ hasLocks: true });
  const [a, b] = [open('a'), open('b')] as const;
  await add(b);
  const mine = await add(a);
  await a.look();
  await settle();
  a.leave();
  await settle();
  expect(locks()).toEqual(['b']);
  expect(a.held()).toEqual([]);
  await a.look();
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
  const { store, open, add, locks, gained } = createTabs({ hasLocks: true });
  const a = open('a');
  let isAdopting = (): void => {};
  const started = new Promise<void>((resolve) => (isAdopting = resolve));
  const slow: RowStore = {
    ...store,
    async adopt(...args) {
      isAdopting();
      await settle();
      return store.adopt(...args);
    },
  };
  const b = open('b', slow);
  await add(a);
  await b.look();
  a.dispose();
  await started;
  b.leave();
  await settle();
  await settle();
  expect(b.held()).toEqual([]);
  expect(locks()).toEqual([]);
  expect(gained).toEqual([]);
});

test('where taking over fails, the lock goes to the next, and it is tried again later', async () => {
  const { clock, store, open, add, locks, gained, errors } = createTabs({ hasLocks: true });
  let isBroken = true;
  const broken: RowStore = {
    ...store,
    adopt: (...args) => (isBroken ? Promise.reject(new Error('disk')) : store.adopt(...args)),
  };
  const [a, b] = [open('a'), open('b', broken)] as const;
  await add(a);
  await b.look();
  a.dispose();
  await settle();
  expect(errors).toEqual([new Error('disk')]);
  expect(locks()).toEqual([]);
  isBroken = false;
  clock.advance(20_000);
  await settle();
  expect(gained).toEqual(['b']);
  expect(locks()).toEqual(['b']);
  expect(clock.pending()).toBe(0);
});

test('after its end it takes nothing more, and new rows are refused', async () => {
  const { store, open, add, locks, clock } = createTabs({ hasLocks: true });
  const a = open('a');
  await add(a);
  a.dispose();
  await a.look();
  await expect(add(a)).rejects.toMatchObject({ name: 'DatabaseError', reason: 'lost' });
  expect(locks()).toEqual([]);
  expect(await store.list(undefined, 0, 9)).toHaveLength(1);
  expect(clock.pending()).toBe(0);
});

test('without locks, what is given up in good order is taken by whoever looks next', async () => {
  const { open, add, gained } = createTabs({ hasLocks: false });
  const [a, b] = [open('a'), open('b')] as const;
  await add(a);
  a.dispose();
  await settle();
  await b.look();
  expect(gained).toEqual(['b']);
  expect(b.held()).toHaveLength(1);
});

/** Lets time pass in steps, as timers that follow from others need it. */
async function pass(clock: ReturnType<typeof createVirtualClock>, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    clock.advance(10_000);
    await settle();
  }
}

test('without locks, one that crashes is dead 100 s after its last sign, and one tab alone takes over', async () => {
  const { clock, store, open, add, gained } = createTabs({ hasLocks: false });
  const a = open('a', { ...store, renew: () => new Promise(() => {}) });
  const [b, c] = [open('b'), open('c')] as const;
  await add(a);
  await b.look();
  await c.look();
  await pass(clock, 100_000);
  expect(gained).toEqual([]);
  await pass(clock, 20_000);
  expect(gained).toHaveLength(1);
  const before = await store.owners();
  await pass(clock, 300_000);
  expect(gained).toHaveLength(1);
  expect((await store.owners())[0]?.token).toBe(before[0]?.token);
});

test('without locks, both may look at once, and one has it', async () => {
  const { store, open, add, gained } = createTabs({ hasLocks: false });
  const [a, b, c] = [open('a'), open('b'), open('c')] as const;
  await add(a);
  a.leave();
  await settle();
  await Promise.all([b.look(), c.look()]);
  expect(gained).toHaveLength(1);
  expect([...b.held(), ...c.held()]).toEqual(
    (await store.owners()).map(({ owner, token }) => ({ owner, token })),
  );
});

test('without locks, a hidden tab whose timers ring once a minute keeps its rows', async () => {
  const { clock, store, open, add, gained } = createTabs({ hasLocks: false });
  let throttledUntil = 0;
  const throttled = {
    ...clock,
    setTimeout(callback: () => void) {
      throttledUntil = Math.max(throttledUntil, clock.now()) + 60_000;
      return clock.setTimeout(callback, throttledUntil - clock.now());
    },
  };
  const a = createOwnership({
    clock: throttled,
    store,
    lock: undefined,
    name: 'db',
    onGain: () => {},
    onError: () => {},
  });
  const b = open('b');
  const fence = await add(a);
  await b.look();
  await pass(clock, 1_200_000);
  expect(gained).toEqual([]);
  expect(a.held()).toEqual([fence]);
});

test('without locks, a lease that lies too far ahead is that of a clock that was set back', async () => {
  const { clock, open, add, gained } = createTabs({ hasLocks: false });
  const [a, b] = [open('a'), open('b')] as const;
  await add(a);
  clock.jump(-5000);
  await b.look();
  // So little may be the difference of two clocks.
  expect(gained).toEqual([]);
  clock.jump(-5001);
  await b.look();
  expect(gained).toEqual(['b']);
});

test('without locks, a machine that has slept for hours has one owner of everything afterwards', async () => {
  const { clock, store, open, add, gained } = createTabs({ hasLocks: false });
  const [a, b] = [open('a'), open('b')] as const;
  await add(a);
  await b.look();
  clock.sleep(7_200_000);
  await pass(clock, 60_000);
  expect(a.held().length + b.held().length).toBe(1);
  expect(gained.length).toBeLessThan(2);
  const [record] = await store.owners();
  expect([...a.held(), ...b.held()]).toMatchObject([{ token: record?.token }]);
});

test('without locks, a lease goes on being prolonged after the store has failed', async () => {
  const { clock, store, open, add, errors } = createTabs({ hasLocks: false });
  let isBroken = true;
  const a = open('a', {
    ...store,
    renew: (...args) => (isBroken ? Promise.reject(new Error('disk')) : store.renew(...args)),
  });
  await add(a);
  await pass(clock, 20_000);
  expect(errors).toEqual([new Error('disk')]);
  isBroken = false;
  await pass(clock, 40_000);
  expect((await store.owners())[0]?.leaseUntil).toBe(clock.now() + 90_000);
});

test('without locks, rows that another tab had for a while go on under the token that is on the disk', async () => {
  const { clock, store, open, add } = createTabs({ hasLocks: false });
  const a = open('a');
  const first = await add(a);
  const b = open('b');
  // The machine has slept: b takes over before a has given a sign, and later a takes its own back.
  clock.sleep(120_000);
  await b.look();
  expect(b.held()).toMatchObject([{ owner: first.owner }]);
  a.lose(first);
  clock.sleep(120_000);
  await a.look();
  const fence = await add(a);
  expect(a.has(fence)).toBe(true);
  await finish(store, 1, a.held()[0] ?? first);
  expect(await store.find('2')).toMatchObject({ owner: fence.owner });
});
