import { expect, test } from 'vitest';
import type { Attempt } from '../../src/outbox/delivery/page.ts';
import type { Running } from '../../src/outbox/delivery/due.ts';
import { Worker } from '../../src/outbox/delivery/worker.ts';
import { createMemoryBackend } from './memory-backend.ts';
import { RowStore } from '../../src/outbox/store/row-store.ts';
import type { Change } from '../../src/outbox/store/transitions.ts';
import type { Fence } from '../../src/outbox/store/schema.ts';
import { laneOf, type NewRow, type Row, untried } from '../../src/outbox/store/row.ts';
import { openNetwork } from '../core/origin/open-network.ts';
import { createSteadyClock } from '../../src/core/lib/clock.ts';
import { createVirtualClock, epochMs, type VirtualClock } from '../core/origin/virtual-clock.ts';
import { replace } from './replace.ts';
import { settle } from './rig.ts';

const fence: Fence = { owner: 'a', token: 'a1' };
const done: Change = { kind: 'done', result: undefined, isKept: false };
const again = ({ attempts }: Row, waitMs: number, nowMs: number): Change => ({
  kind: 'again',
  nextRetryAt: nowMs + waitMs,
  decidedAt: nowMs,
  attempts: attempts + 1,
  isInDoubt: false,
  error: undefined,
});

type WaitingRow = Extract<NewRow, { state: 'pending'; owner: string }>;

interface Rig {
  readonly clock: VirtualClock;
  readonly store: RowStore;
  readonly worker: Worker;
  /** Attempts as they began: which row, and when, in milliseconds since the beginning. */
  readonly log: readonly (readonly [id: string, atMs: number])[];
  readonly errors: readonly unknown[];
  readonly network: { isOffline: boolean; change: () => void };
  /** How attempts end. @default they go on */
  answer: ((row: Row) => Change | undefined) | undefined;
  readonly end: (id: string, change: Change) => Promise<void>;
  readonly add: (id: string, more?: Partial<WaitingRow>) => Promise<void>;
  readonly pass: (ms: number) => Promise<void>;
}

function rig(change: (store: RowStore) => RowStore = (store) => store, parallel = 2): Rig {
  const clock = createVirtualClock();
  const kept = new RowStore(createMemoryBackend());
  const store = change(kept);
  const log: [string, number][] = [];
  const errors: unknown[] = [];
  const ends = new Map<string, (change: Change) => void>();
  const listeners = new Set<() => void>();
  const network = {
    isOffline: false,
    change: () => {
      for (const listener of listeners) listener();
    },
  };
  const attempt = ({ entry: row }: Running) =>
    new Promise<Attempt>((resolve) => {
      log.push([row.id, clock.elapsed()]);
      const end = (ended: Change): void => resolve({ entry: row, change: ended });
      const ended = self.answer?.(row);
      if (ended) end(ended);
      else ends.set(row.id, end);
    });
  const worker: Worker = new Worker({
    clock,
    steady: createSteadyClock(clock),
    random: () => 0,
    store,
    network: {
      ...openNetwork,
      isOffline: () => network.isOffline,
      subscribe(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    parallel,
    attempt,
    clearing: () => undefined,
    onChange: () => {},
    onDue: (row) => worker.add(row),
    onEnd: () => {},
    onLost: () => {},
    onError: (error) => void errors.push(error),
    onIdle: () => {},
  });
  const self: Rig = {
    clock,
    store: kept,
    worker,
    log,
    errors,
    network,
    answer: undefined,
    async end(id, ended) {
      ends.get(id)?.(ended);
      await settle();
    },
    async add(id, more) {
      const now = clock.now();
      const times = { createdAt: now, nextRetryAt: now };
      const row = await kept.add({ ...blank, id, ...times, ...more }, fence, clock.now());
      if (typeof row === 'object') worker.add(row);
    },
    async pass(ms) {
      await settle();
      for (let left = ms; left > 0; left -= 1000) {
        clock.advance(Math.min(1000, left));
        await settle();
      }
    },
  };
  return self;
}

const blank = {
  handler: 'order',
  lane: 'order',
  version: 1,
  variables: undefined,
  state: 'pending',
  owner: 'a',
  ...untried,
} as const;

test('the oldest of those that are due go first, so many at once', async () => {
  const { worker, log, add, end } = rig();
  for (const id of ['1', '2', '3', '4']) await add(id);
  worker.drive(fence);
  await settle();
  expect(log.map(([id]) => id)).toEqual(['1', '2']);
  await end('2', done);
  expect(log.map(([id]) => id)).toEqual(['1', '2', '3']);
  await end('1', done);
  expect(log.map(([id]) => id)).toEqual(['1', '2', '3', '4']);
});

test('of two owners, the oldest of both goes first', async () => {
  const { worker, store, log, add, end } = rig(undefined, 1);
  const other: Fence = { owner: 'b', token: 'b1' };
  const now = epochMs;
  await add('1');
  await store.add(
    { ...blank, id: '2', createdAt: now, nextRetryAt: now, owner: 'b' },
    other,
    epochMs,
  );
  await add('3');
  worker.drive(other);
  worker.drive(fence);
  await settle();
  for (const id of ['1', '2', '3']) await end(id, done);
  expect(new Set(log.map(([id]) => id))).toEqual(new Set(['1', '2', '3']));
  expect(log.map(([id]) => id).indexOf('3')).toBe(2);
});

test('what fails goes again at its time, and not before', async () => {
  const self = rig();
  self.answer = (row) => (row.attempts < 2 ? again(row, 4000, self.clock.now()) : done);
  await self.add('1');
  self.worker.drive(fence);
  await self.pass(20_000);
  expect(self.log).toEqual([
    ['1', 0],
    ['1', 4000],
    ['1', 8000],
  ]);
  expect(self.clock.pending()).toBe(0);
});

test('a time beyond what a timer can hold is waited for, in steps of 5 s', async () => {
  const self = rig();
  const farMs = 2 ** 31 + 5000;
  await self.add('1', { nextRetryAt: epochMs + farMs });
  self.worker.drive(fence);
  await settle();
  const before = self.clock.fired();
  await self.pass(120_000);
  expect(self.clock.fired() - before).toBe(24);
  self.clock.sleep(farMs - 120_000 - 10_000);
  await self.pass(9000);
  expect(self.log).toEqual([]);
  await self.pass(1000 + 5000);
  expect(self.log).toHaveLength(1);
});

test('after a machine has slept, what became due goes within 5 s, and at once when somebody looks', async () => {
  const self = rig();
  await self.add('1', { nextRetryAt: epochMs + 3_600_000 });
  self.worker.drive(fence);
  await settle();
  self.clock.sleep(7_200_000);
  await settle();
  expect(self.log).toEqual([]);
  self.worker.refresh();
  await settle();
  expect(self.log).toEqual([['1', 7_200_000]]);
});

test('where the clock was set back, a row waits for what it was told, and no longer', async () => {
  const self = rig();
  self.answer = (row) => (row.attempts < 1 ? again(row, 60_000, self.clock.now()) : done);
  self.worker.drive(fence);
  await self.add('1');
  await settle();
  self.clock.jump(-3_600_000);
  await self.pass(100_000);
  expect(self.log.map(([id]) => id)).toEqual(['1', '1']);
  expect(self.log[1]?.[1]).toBe(-3_600_000 + 60_000);
});

test('what was submitted before the clock was set back, and is kept after it, goes at once, whatever else waits', async () => {
  const self = rig();
  self.answer = (row) => (row.id === 'waits' ? again(row, 60_000, self.clock.now()) : done);
  self.worker.drive(fence);
  await self.add('waits');
  await settle();
  self.clock.jump(-86_400_000);
  self.worker.refresh();
  await settle();
  await self.add('late', { nextRetryAt: epochMs, createdAt: epochMs });
  await settle();
  expect(self.log.map(([id]) => id)).toEqual(['waits', 'late']);
});

test('where the times of one owner cannot be moved after the clock was set back, those of another are moved once', async () => {
  const other: Fence = { owner: 'b', token: 'b1' };
  let fails = 1;
  const self = rig((store) =>
    replace(store, {
      setBack(of, ...args) {
        if (of.owner === 'b' && fails > 0) {
          fails -= 1;
          return Promise.reject(new Error('disk'));
        }
        return store.setBack(of, ...args);
      },
    }),
  );
  const told = { nextRetryAt: epochMs + 60_000, notBefore: epochMs + 60_000 };
  await self.add('1', told);
  await self.store.add(
    { ...blank, id: '2', createdAt: epochMs, ...told, owner: 'b' },
    other,
    epochMs,
  );
  self.worker.drive(fence);
  self.worker.drive(other);
  await self.pass(1000);
  self.clock.jump(-3_600_000);
  await self.pass(58_000);
  expect(self.log).toEqual([]);
  await self.pass(6000);
  expect(self.log.map(([id]) => id)).toEqual(['1', '2']);
});

test('an attempt whose end is known is not made again because times could not be moved', async () => {
  let fails = 2;
  const self = rig((store) =>
    replace(store, {
      setBack(...args) {
        fails -= 1;
        return fails >= 0 ? Promise.reject(new Error('disk')) : store.setBack(...args);
      },
    }),
  );
  self.worker.drive(fence);
  await self.add('1');
  await settle();
  self.clock.jump(-3_600_000);
  await self.end('1', done);
  await self.pass(20_000);
  expect(self.log.map(([id]) => id)).toEqual(['1']);
  expect(await self.store.find('1')).toBeUndefined();
});

test('where the clock was set forward, what is due goes', async () => {
  const self = rig();
  await self.add('1', { nextRetryAt: epochMs + 600_000 });
  self.worker.drive(fence);
  await settle();
  self.clock.jump(3_600_000);
  await self.pass(30_000);
  expect(self.log).toHaveLength(1);
});

test('a store that does not work is asked again every 5 s, also where the clock is set back', async () => {
  let reads = 0;
  let isBroken = true;
  const self = rig((store) =>
    replace(store, {
      due(...args) {
        reads += 1;
        return isBroken ? Promise.reject(new Error('disk')) : store.due(...args);
      },
    }),
  );
  await self.add('1');
  self.worker.drive(fence);
  await self.pass(20_000);
  expect(reads).toBe(5);
  expect(self.errors).toHaveLength(5);
  self.clock.jump(-3_600_000);
  isBroken = false;
  await self.pass(6000);
  expect(self.log.map(([id]) => id)).toEqual(['1']);
});

test('a claim that fails is made again later, and an end that cannot be written is written later', async () => {
  let claims = 0;
  let writes = 0;
  const self = rig((store) =>
    replace(store, {
      claim(...args) {
        claims += 1;
        return claims < 3 ? Promise.reject(new Error('claim')) : store.claim(...args);
      },
      recordEnd(...args) {
        writes += 1;
        return writes < 4 ? Promise.reject(new Error('settle')) : store.recordEnd(...args);
      },
    }),
  );
  self.answer = () => done;
  await self.add('1');
  self.worker.drive(fence);
  await self.pass(10_000);
  expect(self.log).toEqual([['1', 10_000]]);
  await self.pass(7000);
  expect(writes).toBe(4);
  expect(self.log).toHaveLength(1);
  expect(await self.store.find('1')).toBeUndefined();
});

test('a row that cannot be read keeps nobody else waiting, and is tried again ever later', async () => {
  const tried: number[] = [];
  const self = rig((store) =>
    replace(store, {
      claim(seq, ...args) {
        if (seq !== 1) return store.claim(seq, ...args);
        tried.push(self.clock.elapsed());
        return Promise.reject(new DOMException('Failed to read large value.', 'DataError'));
      },
    }),
  );
  self.answer = () => done;
  self.worker.drive(fence);
  for (const id of ['unreadable', '2', '3']) await self.add(id);
  await self.pass(80_000);
  expect(self.log).toEqual([
    ['2', 0],
    ['3', 0],
  ]);
  expect(tried).toEqual([0, 5000, 10_000, 20_000, 40_000, 80_000]);
});

test('an end that cannot be written at all is not made up: it goes again, as what may have been done', async () => {
  let isBroken = true;
  const self = rig((store) =>
    replace(store, {
      recordEnd: (...args) =>
        isBroken ? Promise.reject(new Error('settle')) : store.recordEnd(...args),
    }),
  );
  const seen: boolean[] = [];
  self.answer = ({ isInDoubt }) => {
    seen.push(isInDoubt);
    return done;
  };
  await self.add('1');
  self.worker.drive(fence);
  await self.pass(18_000);
  isBroken = false;
  await self.pass(10_000);
  expect(seen).toEqual([false, true]);
});

test('nothing goes while the device is offline, and it goes when that is over', async () => {
  const self = rig();
  self.network.isOffline = true;
  self.worker.drive(fence);
  await self.add('1');
  await self.pass(60_000);
  expect(self.log).toEqual([]);
  self.network.isOffline = false;
  self.network.change();
  await settle();
  expect(self.log).toHaveLength(1);
});

test('a success draws nearer what waits for its origin, and what has sent nothing yet, and no other', async () => {
  const self = rig();
  self.answer = () => done;
  const times = { nextRetryAt: epochMs + 300_000 };
  await self.add('unknown', times);
  await self.add('there', { ...times, lane: laneOf('order', 'https://a.example') });
  await self.add('elsewhere', { ...times, lane: laneOf('order', 'https://b.example') });
  self.worker.drive(fence);
  await settle();
  self.worker.wake('https://a.example');
  await self.pass(10_000);
  expect(self.log).toEqual([
    ['unknown', 0],
    ['there', 0],
  ]);
});

test('what another tab has taken over is not sent any more', async () => {
  const self = rig();
  await self.add('1');
  await self.store.adopt({ owner: 'a', token: 'b' }, fence.token, epochMs);
  self.worker.drive(fence);
  await self.pass(60_000);
  expect(self.log).toEqual([]);
  expect(self.clock.pending()).toBe(0);
});

test('what is urged for an owner that is another’s leaves no trace', async () => {
  const self = rig();
  self.worker.add({ seq: 1, owner: 'b', nextRetryAt: 0 }, true);
  await self.pass(1000);
  expect(self.log).toEqual([]);
  expect(self.clock.pending()).toBe(0);
});

test('what becomes due while a page of others is under way is read after them, and no timer spins', async () => {
  const self = rig();
  for (let id = 1; id <= 150; id += 1) await self.add(`${id}`);
  await self.add('late', { nextRetryAt: epochMs + 1000 });
  self.worker.drive(fence);
  await settle();
  expect(self.log).toHaveLength(2);
  const before = self.clock.fired();
  await self.pass(5000);
  expect(self.clock.fired() - before).toBeLessThan(3);
  self.answer = () => done;
  await self.end('1', done);
  await self.end('2', done);
  await self.pass(5000);
  expect(self.log.map(([id]) => id)).toEqual([
    ...Array.from({ length: 150 }, (_, index) => `${index + 1}`),
    'late',
  ]);
});

test('after its end it sends nothing, and leaves no timer', async () => {
  const self = rig();
  self.worker.drive(fence);
  await self.add('1', { nextRetryAt: epochMs + 1000 });
  await settle();
  self.worker.dispose();
  expect(self.clock.pending()).toBe(0);
  self.network.change();
  await self.pass(10_000);
  expect(self.log).toEqual([]);
});

test('what waits for its next attempt goes as soon as the device is online again', async () => {
  const self = rig();
  await self.add('1', { nextRetryAt: self.clock.now() + 60_000 });
  self.worker.drive(fence);
  self.network.isOffline = true;
  self.network.change();
  await self.pass(5000);
  self.network.isOffline = false;
  self.network.change();
  await self.pass(1000);
  expect(self.log).toEqual([['1', 5000]]);
});
