import { expect, test } from 'vitest';
import { Latency } from '../../../src/core/origin/health/latency.ts';

/** The slowest answer that is fast, to 100 ms. */
function limitOf(latency: Latency, endpoint: string): number {
  for (let ms = 0; ms < 100_000; ms += 100) {
    if (!latency.isFast(endpoint, ms + 1)) {
      latency.isFast(endpoint, 0);
      return ms;
    }
  }
  return Infinity;
}

test('where nothing was asked while all was well nothing is slow; what was not, beside what was, after a second', () => {
  const latency = new Latency();
  expect(limitOf(latency, 'a')).toBe(Infinity);
  latency.learn('b', 50);
  expect(limitOf(latency, 'a')).toBe(1000);
});

test('an endpoint is slow after twice its usual time, and never within 300 ms', () => {
  const latency = new Latency();
  for (let times = 0; times < 20; times++) {
    latency.learn('a', 50);
    latency.learn('b', 1000);
  }
  expect(limitOf(latency, 'b')).toBe(2000);
  latency.learn('c', 310);
  for (let times = 0; times < 100; times++) latency.learn('c', 50);
  expect(limitOf(latency, 'c')).toBe(300);
});

test('one answer that took very long hardly makes that usual: an outage often begins with those', () => {
  const latency = new Latency();
  for (let times = 0; times < 20; times++) latency.learn('a', 1000);
  latency.learn('a', 20_000);
  expect(limitOf(latency, 'a')).toBe(2600);
});

test('after ten slow answers in a row they are the usual: the network is another one', () => {
  const latency = new Latency();
  for (let times = 0; times < 20; times++) latency.learn('a', 400);
  const fast = Array.from({ length: 12 }, () => latency.isFast('a', 2000));
  expect(fast).toEqual([...Array.from({ length: 9 }, () => false), true, true, true]);
});

test('answers of which two in three are slow are the usual after 26: they are learned, not waited out', () => {
  const latency = new Latency();
  for (let times = 0; times < 20; times++) latency.learn('a', 50);
  const fast = Array.from({ length: 30 }, (_, at) => latency.isFast('a', at % 3 === 0 ? 50 : 2000));
  expect(fast.lastIndexOf(false)).toBe(25);
});

test('what was usual is not known any more when the network has changed', () => {
  const latency = new Latency();
  for (let times = 0; times < 20; times++) latency.learn('a', 400);
  latency.forget();
  expect(limitOf(latency, 'a')).toBe(Infinity);
});

test.each([
  ['a', 300, 1000],
  ['a', 301, 602],
  ['b', 301, 1000],
])(
  'of what took its first time, %s is usual up to a limit: after %d ms, %d ms',
  (endpoint, ms, limit) => {
    const latency = new Latency();
    latency.learn('a', ms);
    expect([latency.isFast(endpoint, limit), latency.isFast(endpoint, limit + 1)]).toEqual([
      true,
      false,
    ]);
  },
);

/** So many slow answers, one after the other. */
const slow = (latency: Latency, count: number): boolean[] =>
  Array.from({ length: count }, () => latency.isFast('a', 2000));

test('once slow answers are the usual ones, nothing else is known any more', () => {
  const latency = new Latency();
  for (const endpoint of ['a', 'b', 'c']) latency.learn(endpoint, 400);
  expect(slow(latency, 10).at(-1)).toBe(true);
  expect([limitOf(latency, 'a'), limitOf(latency, 'b')]).toEqual([Infinity, Infinity]);
  latency.learn('c', 50);
  expect([latency.isFast('a', 4000), latency.isFast('b', 1001)]).toEqual([true, false]);
});

test('slow answers of another network do not count', () => {
  const latency = new Latency();
  latency.learn('a', 400);
  slow(latency, 9);
  latency.forget();
  latency.learn('b', 50);
  expect(slow(latency, 9)).toEqual(Array.from({ length: 9 }, () => false));
  expect([latency.isFast('a', 1000), latency.isFast('a', 1001)]).toEqual([true, false]);
});

test('ids in names do not fill the memory', () => {
  const latency = new Latency();
  for (let id = 0; id < 1000; id++) latency.learn(`${id}`, 5000);
  expect(latency.usual.size).toBe(100);
  expect(limitOf(latency, '0')).toBe(1000);
  expect(limitOf(latency, '999')).toBe(10_000);
});
