import { expect, test, vi } from 'vitest';
import { Pauses } from '../../../../src/core/operation/parts/pauses.ts';

const paused = (drop = vi.fn<() => void>()) => ({
  pause: { reason: 'queued', retryAt: undefined } as const,
  go() {},
  drop,
  renew() {},
  expire() {},
});

test('two requests that wait at once are one pause: from the first to the last', () => {
  const pauses = new Pauses();
  const [one, other] = [paused(), paused()];
  expect(pauses.add(one, 1000)).toBe(true);
  expect(pauses.add(other, 1500)).toBe(true);
  expect(pauses.list).toEqual([one, other]);
  expect(pauses.remove(one, 2000)).toBe(false);
  expect(pauses.pausedMs).toBe(0);
  expect(pauses.remove(other, 4000)).toBe(true);
  expect([pauses.pausedMs, pauses.list]).toEqual([3000, []]);
});

test('one that is told another reason waits on', () => {
  const pauses = new Pauses();
  const one = paused();
  pauses.add(one, 1000);
  expect(pauses.add(one, 2000)).toBe(false);
  expect(pauses.remove(one, 3000)).toBe(true);
  expect(pauses.pausedMs).toBe(2000);
});

test('time that was counted is not counted again', () => {
  const pauses = new Pauses();
  pauses.count(1000, 3000);
  pauses.count(2000, 4000);
  pauses.count(500, 4000);
  expect(pauses.pausedMs).toBe(3000);
});

test('all that waits is dropped', () => {
  const pauses = new Pauses();
  const drop = vi.fn<() => void>();
  pauses.add(paused(drop), 0);
  pauses.add(paused(drop), 0);
  pauses.each('drop');
  expect(drop).toHaveBeenCalledTimes(2);
});
