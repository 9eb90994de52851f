import { expect, test } from 'vitest';
import { type Ask, canaryOf, nextOf, type Waiter } from '../../src/origin/waiting.ts';

const now = 1_000_000;

const waiter = (endpoint: string, agoMs: number, ask: Partial<Ask> = {}): Waiter => ({
  ask: {
    endpoint,
    risk: 0,
    isNew: true,
    priority: 'user-visible',
    isFailFast: false,
    holdMs: 60_000,
    onHold: () => {},
    ...ask,
  },
  askedAt: now - agoMs,
  expiresAt: now + 60_000,
  take: () => {},
});

/** The order in which they go when nothing comes in between. */
const order = (waiters: readonly Waiter[]): readonly string[] => {
  const next = nextOf(waiters, now);
  return next ? [next.ask.endpoint, ...order(waiters.filter((other) => other !== next))] : [];
};

const canary = (waiters: readonly Waiter[], failed: Record<string, number> = {}): string =>
  canaryOf(waiters, new Map(Object.entries(failed)), now)?.ask.endpoint ?? 'none';

test('of the last ten seconds the newest goes first, and of what is older the oldest', () => {
  const waiters = [40_000, 30_000, 10_000, 9999, 5000, 0].map((ms) => waiter(`${ms}`, ms));
  expect(order(waiters)).toEqual(['0', '5000', '9999', '40000', '30000', '10000']);
  expect(order(waiters.toReversed())).toEqual(['0', '5000', '9999', '40000', '30000', '10000']);
});

test('what a person sees goes before what works in the background, however new that is', () => {
  const waiters = [
    waiter('new in the background', 0, { priority: 'background' }),
    waiter('old in the background', 50_000, { priority: 'background' }),
    waiter('old', 50_000),
    waiter('new', 1000),
  ];
  expect(order(waiters)).toEqual(['new', 'old', 'new in the background', 'old in the background']);
});

test('what a person waits for goes before all they see, however old it is', () => {
  const waiters = [waiter('new', 0), waiter('old', 50_000, { priority: 'user-blocking' })];
  expect(order(waiters)).toEqual(['old', 'new']);
});

test('of those asked for at once the last goes first while new, and the first when old', () => {
  expect(order([waiter('a', 10), waiter('b', 10), waiter('c', 10)])).toEqual(['c', 'b', 'a']);
  const old = [waiter('a', 20_000), waiter('b', 20_000), waiter('c', 20_000)];
  expect(order(old)).toEqual(['a', 'b', 'c']);
});

test('what was asked for in the future, by a clock that was set back, is new', () => {
  expect(order([waiter('a', 100), waiter('b', -3_600_000)])).toEqual(['b', 'a']);
});

test('nobody waits: nobody goes', () => {
  expect(nextOf([], now)).toBeUndefined();
  expect(canary([])).toBe('none');
});

test('the canary is the one that only reads, then the one that may be sent twice', () => {
  const write = waiter('write', 0, { risk: 2 });
  const repeat = waiter('repeat', 100, { risk: 1 });
  const read = waiter('read', 50_000, { priority: 'background' });
  expect(canary([write, repeat, read])).toBe('read');
  expect(canary([write, repeat])).toBe('repeat');
  expect(canary([write])).toBe('write');
});

test('however often a read has failed as the canary, a write is none in its place', () => {
  expect(canary([waiter('write', 0, { risk: 2 }), waiter('read', 0)], { read: 1000 })).toBe('read');
});

test('canaries go round the endpoints', () => {
  const waiters = [waiter('a', 3), waiter('b', 2), waiter('c', 1)];
  const failed: Record<string, number> = {};
  const turns = Array.from({ length: 6 }, () => {
    const endpoint = canary(waiters, failed);
    failed[endpoint] = (failed[endpoint] ?? 0) + 1;
    return endpoint;
  });
  expect(turns).toEqual(['c', 'b', 'a', 'c', 'b', 'a']);
});

test('a queue of ten thousand is no trouble', () => {
  const waiters = Array.from({ length: 10_000 }, (_, index) => waiter(`${index}`, index));
  expect(canary(waiters)).toBe('0');
});
